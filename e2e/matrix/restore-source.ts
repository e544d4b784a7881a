// The database that the Restores of a part of the matrix read, with its ledger and its archive; and the name that all of them restore to.
import { expect } from "vitest";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import type { Kubectl, KubernetesObject } from "../cluster/kubectl.ts";
import { Archive } from "../database/archive.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Ledger, lastServer, nothingLost, type Report } from "../database/ledger.ts";
import { Runs } from "../database/runs.ts";
import { operator } from "../suites/deployed-operator.ts";

const minutes = 60_000;
const restorePoint = "settled";
const fingerprint = "SELECT count(*), md5(string_agg(text, ',' ORDER BY n)) FROM rows";
/** Everything that is made for a database. */
const kinds = [
  ...["pods", "jobs", "configmaps", "secrets", "persistentvolumeclaims", "services", "statefulsets", "deployments", "serviceaccounts"],
  ...["roles", "rolebindings", "poddisruptionbudgets", "sampledbs.sampledb.io", "backups.sampledb.io"],
].join();

export interface Places {
  /** Of the source and its ledger. */
  readonly source: readonly string[];
  /** Of everything that is restored. */
  readonly copy: string;
}

export class RestoreSource {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly runs: Runs;
  readonly #namespace: Kubectl;
  readonly #places: Places;
  #rows = "";
  #there: string[] = [];
  #begun: Report | undefined;

  private constructor(namespace: Kubectl, database: Database, ledger: Ledger, places: Places) {
    this.database = database;
    this.ledger = ledger;
    this.archive = new Archive(namespace, database);
    this.runs = new Runs(namespace, database.name, 8 * minutes);
    this.#namespace = namespace;
    this.#places = places;
  }

  /** With a Backup, two segments of rows after it, and a restore point behind them. */
  static async start(namespace: Kubectl, backup: object, places: Places): Promise<RestoreSource> {
    const spec = { replicas: 2, synchronousReplication: "Required", deletionPolicy: "Delete", affinity: onNodes(places.source) } as const;
    const database = await Database.apply(namespace, sampleDB({ name: "orders", backup, ...spec }));
    const [node = ""] = places.source;
    const ledger = await Ledger.start(namespace, { database: "orders", node, deadlineMs: 5 * minutes });
    await database.waitReady(5 * minutes);
    const source = new RestoreSource(namespace, database, ledger, places);
    await source.#fill();
    return source;
  }

  async #fill(): Promise<void> {
    await this.database.sql("CREATE TABLE rows AS SELECT n, md5(n::text) AS text FROM generate_series(1, 30000) AS n");
    await this.runs.backUp("first", "Full");
    await this.database.sql("INSERT INTO rows SELECT n, md5(n::text) FROM generate_series(30001, 180000) AS n");
    this.#rows = await this.database.sql(fingerprint);
    await this.database.sql(`SELECT pg_create_restore_point('${restorePoint}')`, { superuser: true });
    await this.database.sql("INSERT INTO rows VALUES (0, 'too late')");
    await this.archive.complete({ begin: 1, deadlineMs: 3 * minutes });
    await eventually("no Job runs", 2 * minutes, async () => (await this.#namespace.list("jobs")).length === 0);
    this.#there = await this.#objects();
  }

  /** A Restore to the restore point: what is written since then makes it no longer. */
  async restore(name: string): Promise<void> {
    this.#begun = await this.ledger.report();
    const spec = { source: { backupName: "first" }, target: { type: "RestorePoint", restorePoint } };
    // While the matrix runs, the source writes on: the archive grows, and with it what a restore that may meet all of it needs.
    const storage = { size: "2Gi" };
    await this.runs.beginRestore(name, "copy", spec, { replicas: 1, storage, affinity: onNodes([this.#places.copy]) });
  }

  /** What was restored has every row, each once. */
  async isCopied(): Promise<void> {
    const copy = new Database(this.#namespace, "copy");
    await copy.waitReady(4 * minutes);
    expect(await copy.sql(fingerprint)).toBe(this.#rows);
  }

  /** Nothing was made under the name, or it is gone. */
  async nothingIsLeft(): Promise<void> {
    await eventuallySucceeds("nothing of it is left", 2 * minutes, async () => expect(await this.runs.left("copy")).toEqual([]));
  }

  /** It takes writes, no acknowledged row is missing, and the archive has every segment. */
  async isWhole(): Promise<Report> {
    const report = await this.ledger.acknowledges({ rows: 10, deadlineMs: 2 * minutes });
    await this.database.waitReady();
    expect(await this.ledger.verify()).toMatchObject(nothingLost);
    await this.archive.complete({ begin: 1, deadlineMs: 3 * minutes });
    return report;
  }

  /** It is whole, and has never noticed anything of the Restore. */
  async isUntouched(): Promise<void> {
    const report = await this.isWhole();
    if (this.#begun) expect(lastServer(report)).toEqual(lastServer(this.#begun)); // no failover, and no restart
  }

  /** As a person does who does not need it any more. Only what was there before the first Restore is there then. */
  async removeCopy(): Promise<void> {
    await this.#namespace.run("delete", "restores.sampledb.io", "--all", "--timeout=180s", "--request-timeout=0");
    const all = await this.#namespace.list("backups.sampledb.io");
    const ofCopy = all.filter(({ spec }) => spec.sampleDBName === "copy").map(({ metadata }) => `backup/${metadata.name}`);
    for (const backup of ofCopy) await this.#namespace.run("patch", backup, "--type=merge", `--patch={"spec":{"deletionPolicy":"Retain"}}`);
    for (const one of [...ofCopy, "sampledb/copy"])
      await this.#namespace.run("delete", one, "--ignore-not-found", "--timeout=180s", "--request-timeout=0");
    await eventuallySucceeds("only what was there before is there", 3 * minutes, async () =>
      expect(await this.#objects()).toEqual(this.#there),
    );
  }

  /** With the keys that the operator keeps in its own namespace. */
  async #objects(): Promise<string[]> {
    const nameOf = ({ metadata }: KubernetesObject) => metadata.generateName ?? metadata.name;
    const there = [...(await this.#namespace.list(kinds)), ...(await operator.system.list("secrets"))];
    return there.map((object) => `${object["kind"]} ${nameOf(object)}`).sort();
  }
}

function onNodes(values: readonly string[]) {
  const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "In" as const, values: [...values] }];
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } } };
}
