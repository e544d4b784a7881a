// What a suite asks of a database's archive: its files as pgBackRest lists them, and whether all of the log is there.

import { selectorOf } from "../../controllers/desired/identity.ts";
import { repositorySelector } from "../../controllers/desired/repository.ts";
import { eventuallySucceeds } from "../../tools/eventually.ts";
import type { Kubectl, KubernetesObject } from "../cluster/kubectl.ts";
import { missingNumbers, segmentNumbers, withoutHistory } from "./archive-list.ts";
import type { Database } from "./database.ts";

interface Push {
  /** pg_control in base64: a stanza is made from it. */
  readonly control: string;
  readonly names: readonly string[];
  /** A shell loop over the names around a command. */
  readonly each: (command: string) => string;
}

export class Archive {
  readonly #kubectl: Kubectl;
  readonly #database: Database;

  constructor(kubectl: Kubectl, database: Database) {
    this.#kubectl = kubectl;
    this.#database = database;
  }

  /** The repository's Pod that runs. */
  async pod(): Promise<string> {
    const selector = selectorOf(repositorySelector({ metadata: { name: this.#database.name } }));
    const pods = await this.#kubectl.list("pods", `--selector=${selector}`);
    const running = pods.find((pod: KubernetesObject) => pod["status"].phase === "Running" && !pod["metadata"].deletionTimestamp);
    if (!running) throw new Error(`the repository of ${this.#database.name} does not run`);
    return running["metadata"].name as string;
  }

  /** With the rights of the repository's Pod, which a database's Pod does not have. */
  async pgbackrest(...command: readonly string[]): Promise<string> {
    const settings = ["--config=/etc/sampledb/repository/pgbackrest.conf", "--config-include-path=/run/pgbackrest/conf.d"];
    return await this.#kubectl.run("exec", await this.pod(), "--", "pgbackrest", ...settings, "--log-level-console=error", ...command);
  }

  /** The files of one archive, by their paths. */
  async files(): Promise<string[]> {
    const { stanza } = await this.#clients();
    const listed = JSON.parse(await this.pgbackrest("repo-ls", `archive/${stanza}`, "--recurse", "--output=json"));
    return Object.keys(listed);
  }

  /**
   * Closes the present segment, and resolves once it is in the archive together with every one before it. So every commit from before this
   * call is there. `begin` is the first segment that the archive must have; without it, the first that it has.
   */
  async complete({ deadlineMs = 120_000, begin }: { readonly deadlineMs?: number; readonly begin?: number } = {}): Promise<void> {
    const closed = await this.#database.sql("SELECT pg_walfile_name(pg_switch_wal() - 1)", { superuser: true });
    const [wanted = 0] = segmentNumbers([closed]);
    await eventuallySucceeds(`${closed} of ${this.#database.name} is archived, and all before it`, deadlineMs, async () => {
      const files = await this.files();
      const last = segmentNumbers(files).at(-1) ?? 0;
      const missing = missingNumbers(files, begin);
      const unknown = withoutHistory(files);
      if (last < wanted || missing.length > 0 || unknown.length > 0)
        throw new Error(
          `the last of ${wanted} is ${last}, missing are ${missing.join() || "none"}, without a history ${unknown.join() || "none"}`,
        );
    });
  }

  /** The same segments, fetched from the archive and given to pgBackRest alone, in a stanza of their own; what the command prints. */
  async alone({ control, names, each }: Push): Promise<string> {
    const { stanza } = await this.#clients();
    const pgbackrest = "pgbackrest --config=/etc/sampledb/repository/pgbackrest.conf --config-include-path=/run/pgbackrest/conf.d";
    const options = "--log-level-console=error --log-level-file=off --lock-path=/run/pgbackrest/alone --pg1-path=/tmp/alone";
    const script = `
      rm -rf /tmp/alone && mkdir -p /tmp/alone/global && cd /tmp/alone && echo ${control} | base64 --decode > global/pg_control
      for name in ${names.join(" ")}; do ${pgbackrest} ${options} --stanza=${stanza} archive-get $name /tmp/alone/$name || exit 1; done
      ${pgbackrest} ${options} --stanza=alone stanza-create --no-online || exit 1
      ${each(`${pgbackrest} ${options} --stanza=alone archive-push /tmp/alone/$name`)}
      rm -rf /tmp/alone`;
    return await this.#kubectl.run("exec", await this.pod(), "--request-timeout=300s", "--", "sh", "-c", script);
  }

  async #clients(): Promise<{ readonly stanza: string }> {
    return JSON.parse((await this.#config())?.["data"]["clients.json"]);
  }

  async #config(): Promise<KubernetesObject | undefined> {
    return await this.#kubectl.get("configmap", `${this.#database.name}-repository`);
  }

  /** The name of the present archive, as a person reads it for an order. */
  async stanza(): Promise<string> {
    return (await this.#config())?.["metadata"].annotations["sampledb.io/stanza"];
  }

  /** The last segment that is let go. */
  async lastLetGo(): Promise<string> {
    const note: string | undefined = (await this.#config())?.["metadata"].annotations["sampledb.io/archive-let-go"];
    if (note === undefined) throw new Error("nothing is let go");
    return note.slice(note.indexOf("/") + 1);
  }

  /** The names of the files that wait on the primary. */
  async waiting(): Promise<string[]> {
    const names = "ls /var/lib/postgresql/data/pg_wal/archive_status | sed -n 's/\\.ready$//p'";
    return (await this.#database.shell(await this.#database.primary(), names)).split("\n").filter(Boolean);
  }

  /** Whether the primary has noted a failure. */
  async fails(): Promise<boolean> {
    return (await this.#database.shell(await this.#database.primary(), "ls /var/lib/postgresql")).includes("archive-failure.json");
  }
}
