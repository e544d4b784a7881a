// A repository with a history, made once by a source that is gone by then, and restores from it: real PostgreSQL and real pgBackRest.
import type { ChildProcess } from "node:child_process";
import { readdirSync } from "node:fs";
import { S3Store } from "../../e2e/store/s3-store.ts";
import { Containers, type Ended, ended } from "./image-files.fixture.ts";
import { JobRuns, type Outcome, until } from "./job-run.fixture.ts";
import { historyScript } from "./restore-history.fixture.ts";

export const stanza = "uid-17-1";
const bucket = "backups";
const passphrase = "a pass = phrase";
const passwords = { superuser: "super'user\\", replication: "replication", application: "pä$$ word" };

/** Where the source's repositories are, as settings of a run: one on a volume, one encrypted, one in a bucket. */
const places = {
  volume: ["repo1-path=/tmp/store"],
  encrypted: ["repo1-path=/tmp/encrypted", "repo1-cipher-type=aes-256-cbc"],
} as const;

export interface Target {
  readonly type: "Latest" | "Time" | "LSN" | "TransactionID" | "RestorePoint" | "Immediate";
  readonly value?: string;
  readonly timeline?: number;
}

/** What the source's history has, in order. */
export interface History {
  readonly system: string;
  /** The first one, and a later one that only the repository on a volume has. */
  readonly labels: readonly [string, string];
  /** A moment, a place and a transaction after row 3 and before the table `orders` was dropped. */
  readonly time: string;
  readonly lsn: string;
  readonly transaction: string;
  /** Of the last row. The archive goes on for two seconds after that. */
  readonly lastCommit: string;
  readonly rows: number;
}

interface Asked {
  readonly target: Target;
  readonly label?: string;
  readonly uid?: string;
  readonly inPlace?: boolean;
  /** Settings of the repository. */
  readonly place?: readonly string[];
  /** Below `/tmp`, the directory of a repository on a volume. */
  readonly readOnly?: string;
  readonly volume: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Bytes that the volume has, where it has few. */
  readonly bytes?: number;
}

export class RestoreStage {
  readonly containers: Containers;
  readonly store: S3Store;
  readonly #runs: JobRuns;
  history!: History;

  private constructor(containers: Containers, store: S3Store, runs: JobRuns) {
    this.containers = containers;
    this.store = store;
    this.#runs = runs;
  }

  static async start(): Promise<RestoreStage> {
    const store = await S3Store.start();
    await store.makeBucket(bucket);
    const containers = await Containers.start([]);
    const stage = new RestoreStage(containers, store, await JobRuns.start(containers, "shop/new", ["new-restore"]));
    stage.containers.write("store-ca.crt", store.caCertificate);
    stage.containers.write("source.conf", stage.#sourceSettings().join("\n"));
    const told = await stage.shell(historyScript);
    stage.history = JSON.parse(told.split("\n").at(-1) as string);
    return stage;
  }

  async stop(): Promise<void> {
    await this.containers.stop();
    await this.store[Symbol.asyncDispose]();
  }

  get bucket(): string[] {
    const { endpoint, region } = this.store;
    const settings = [
      `s3-bucket=${bucket}`,
      `s3-endpoint=${endpoint}`,
      `s3-region=${region}`,
      "s3-uri-style=path",
      "storage-ca-file=/tmp/store-ca.crt",
    ];
    return ["type=s3", "path=/prefix", ...settings].map((each) => `repo1-${each}`);
  }

  #sourceSettings(): string[] {
    const { accessKeyId, secretAccessKey } = this.store;
    const others = [
      ...[...places.encrypted, `repo1-cipher-pass=${passphrase}`].map((each) => each.replace("repo1", "repo2")),
      ...[...this.bucket, `repo1-s3-key=${accessKeyId}`, `repo1-s3-key-secret=${secretAccessKey}`].map((each) =>
        each.replace("repo1", "repo3"),
      ),
    ];
    const options = [
      "repo1-bundle=y",
      "repo1-block=y",
      "compress-type=zst",
      "start-fast=y",
      "log-level-file=off",
      "lock-path=/tmp/source/locks",
    ];
    return [
      "[global]",
      ...places.volume,
      ...others,
      ...options,
      `[${stanza}]`,
      "pg1-path=/tmp/source/data",
      "pg1-socket-path=/tmp/source",
      "pg1-database=app",
      "",
    ];
  }

  async shell(script: string): Promise<string> {
    const { code, text } = await this.containers.run(["bash", "-euc", script]);
    if (code !== 0) throw new Error(`${script.slice(0, 200)} ended with ${code}: ${text}`);
    return text;
  }

  /** The files of a run, as the operator mounts them. */
  async #mount({ target, label, uid = "restore", inPlace = false, place = places.volume }: Asked): Promise<void> {
    const roles = { superuser: "postgres", replication: "replication", application: "app" };
    const asked = { stanza, label: label ?? null, target, uid, operator: "shop/new/operator", roles, database: "app", inPlace };
    const { accessKeyId, secretAccessKey } = this.store;
    const files = {
      "recover/repository/pgbackrest.conf": ["[global]", ...place, `[${stanza}]`, ""].join("\n"),
      "recover/repository/run.json": JSON.stringify(asked),
      "recover/encryption/passphrase": passphrase,
      "recover/store/accessKeyId": accessKeyId,
      "recover/store/secretAccessKey": secretAccessKey,
      "clean/repository/run.json": JSON.stringify(asked),
    };
    this.#runs.forgetMessage();
    for (const [name, text] of Object.entries(files)) this.containers.write(name, text);
    for (const [role, password] of Object.entries(passwords)) this.containers.write(`clean/passwords/${role}/password`, `${password}\n`);
    for (const each of ["recover", "clean"]) await this.#runs.certify("restore", `${each}/tls`);
  }

  /** Begins a run as the Job of a Restore does: with its first container. */
  async begin(asked: Asked): Promise<ChildProcess> {
    await this.#mount(asked);
    await this.shell(`mkdir -p /tmp/volumes/${asked.volume}`);
    return this.container("recover", asked);
  }

  /** One of the Job's two containers. It sees of the mounted files, and of memory, what is its own. */
  container(part: "recover" | "clean", { volume, readOnly = "store", env = {}, bytes }: Omit<Asked, "target">): ChildProcess {
    return this.containers.spawn(["run-restore", part], {
      readOnly: [readOnly],
      unnamed: true,
      ...(bytes === undefined ? {} : { small: { path: `volumes/${volume}`, bytes } }),
      env: {
        MOUNTED: `/tmp/${part}`,
        MEMORY: part === "recover" ? "/tmp/memory" : "/nowhere",
        WORK: `/tmp/${part}-work`,
        VOLUME: `/tmp/volumes/${volume}`,
        ...this.#runs.env,
        SECONDS_TO_FETCH: "0",
        SECONDS_BETWEEN_LOOKS: "0.1",
        SECONDS_FOR_THE_LOCK: "0",
        ...env,
      },
    });
  }

  /** What the Job tells that looks into the repository before a restore. */
  async look(asked: Omit<Asked, "volume">): Promise<Outcome> {
    await this.#mount({ ...asked, volume: "" });
    const env = { MOUNTED: "/tmp/recover", MEMORY: "/tmp/memory", ...this.#runs.env };
    return this.outcome(
      await ended(this.containers.spawn(["look-into-repository"], { readOnly: [asked.readOnly ?? "store"], unnamed: true, env })),
    );
  }

  /** Runs it to its end, the second container only after a success of the first; resolves to the last termination message. */
  async restore(asked: Asked): Promise<Outcome> {
    const recovered = await this.recover(asked);
    return recovered.outcome === "succeeded" ? await this.clean(asked) : recovered;
  }

  async recover(asked: Asked): Promise<Outcome> {
    return this.outcome(await ended(await this.begin(asked)));
  }

  async clean(asked: Omit<Asked, "target">): Promise<Outcome> {
    return this.outcome(await ended(this.container("clean", asked)));
  }

  outcome(end: Ended): Outcome {
    for (const secret of [passphrase, this.store.secretAccessKey, ...Object.values(passwords)])
      if (secret !== "replication" && end.text.includes(secret)) throw new Error(`a secret is told: ${end.text}`);
    return this.#runs.outcome(end);
  }

  /** Starts the restored directory as a plain server, asks it as its superuser, and stops it. */
  async ask(volume: string, ...questions: readonly string[]): Promise<string[]> {
    const data = `/tmp/volumes/${volume}/data`;
    const options = `-c listen_addresses= -c unix_socket_directories=/tmp/volumes/${volume} -c max_prepared_transactions=5 -c track_commit_timestamp=on -c fsync=off`;
    const asked = questions.map((each) => `-c "${each}"`).join(" ");
    const text = await this.shell(`pg_ctl -D ${data} -w -s -l /tmp/plain.log -o "${options}" start
      trap 'pg_ctl -D ${data} -s -m immediate stop' EXIT
      psql -h /tmp/volumes/${volume} -U postgres -d app -XAtqv ON_ERROR_STOP=1 ${asked}`);
    return text.split("\n");
  }

  /** The files of a volume, without its data. */
  files(volume: string): string[] {
    return readdirSync(this.containers.path("volumes", volume)).sort();
  }

  /** The segments of the repository on a volume, by name: the path of each below `/tmp`. */
  segments(): Map<string, string> {
    const names = readdirSync(this.containers.path("store/archive", stanza, "17-1"), { recursive: true, encoding: "utf8" });
    const found = names.flatMap((name) =>
      /\/([0-9A-F]{24})-/.exec(name) ? [[name.split("/")[1]?.slice(0, 24) ?? "", name] as const] : [],
    );
    return new Map(found.sort());
  }

  /** A copy of the repository on a volume, changed by a script that runs in the directory of its archive. */
  async damaged(name: string, script: string): Promise<{ place: string[]; readOnly: string }> {
    await this.shell(`cp -a /tmp/store /tmp/${name}; cd /tmp/${name}/archive/${stanza}/17-1; ${script}`);
    return { place: [`repo1-path=/tmp/${name}`], readOnly: name };
  }

  /** What a run that is under way tells this client. */
  async progress(role: string): Promise<{ status: number; body: string }> {
    return await this.#runs.progress(role);
  }

  readonly until = until;
}
