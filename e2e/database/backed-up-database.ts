// A database of one instance with a repository on a volume: its Backups as objects and as pgBackRest lists them, and Restores of it.
import type { BackupStatus } from "../../api/backup.ts";
import type { RestoreStatus } from "../../api/restore.ts";
import { apiVersion } from "../../api/version.ts";
import { eventuallySucceeds } from "../../tools/eventually.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { Archive } from "./archive.ts";
import { Database, sampleDB } from "./database.ts";

const minutes = 60_000;

export class BackedUpDatabase {
  readonly database: Database;
  readonly archive: Archive;
  readonly #kubectl: Kubectl;

  private constructor(kubectl: Kubectl, database: Database) {
    this.#kubectl = kubectl;
    this.database = database;
    this.archive = new Archive(kubectl, database);
  }

  /** Resolves when it serves. */
  static async apply(kubectl: Kubectl, name: string, backup: object, more: Partial<Parameters<typeof sampleDB>[0]> = {}) {
    const database = await Database.apply(kubectl, sampleDB({ name, replicas: 1, backup, ...more }));
    await database.waitReady(4 * minutes);
    await database.sql("CREATE TABLE rows (n integer)");
    return new BackedUpDatabase(kubectl, database);
  }

  async write(rows: number): Promise<void> {
    await this.database.sql(`INSERT INTO rows SELECT * FROM generate_series(1, ${rows})`);
  }

  /** A full one that retention may remove. */
  async backUp(name: string): Promise<BackupStatus> {
    const spec = { sampleDBName: this.database.name, type: "Full", deletionPolicy: "Delete" };
    await this.#make("Backup", name, spec);
    return await this.#over<BackupStatus>("backup", name);
  }

  async statusOf(name: string): Promise<BackupStatus | undefined> {
    return (await this.#kubectl.get("backup", name))?.["status"];
  }

  /** The names of the objects. */
  async backups(): Promise<string[]> {
    const all = await this.#kubectl.list("backups");
    return all
      .filter((backup) => backup["spec"].sampleDBName === this.database.name)
      .map(({ metadata }) => metadata.name)
      .sort();
  }

  /** The labels in the repository. */
  async labels(): Promise<string[]> {
    const stanza = await this.archive.stanza();
    const [told] = JSON.parse(await this.archive.pgbackrest("info", `--stanza=${stanza}`, "--output=json"));
    return told.backup.map(({ label }: { label: string }) => label);
  }

  /** The segments in the archive, in order. */
  async segments(): Promise<string[]> {
    return (await this.archive.files()).flatMap((file) => /([0-9A-F]{24})-[0-9a-f]{40}/.exec(file)?.[1] ?? []).sort();
  }

  /** Without a target, to the end of the archive. */
  async restore(name: string, source: object, target: object = { type: "Latest" }): Promise<void> {
    await this.#make("Restore", name, { source, target, destination: { type: "New", sampleDBName: name } });
  }

  /** The number of rows in a new database of this name, restored to the end of the archive. */
  async restoredRows(name: string, source: object): Promise<number> {
    await this.archive.complete();
    await this.restore(name, source);
    return await this.rowsOf(name);
  }

  /** The same, of a Restore that was begun before. */
  async rowsOf(name: string): Promise<number> {
    return Number(await (await this.restored(name)).sql("SELECT count(*) FROM rows"));
  }

  /** The database of a Restore that was begun before. */
  async restored(name: string): Promise<Database> {
    await this.#over<RestoreStatus>("restore", name);
    return new Database(this.#kubectl, name);
  }

  async #make(kind: "Backup" | "Restore", name: string, spec: object): Promise<void> {
    await this.#kubectl.apply(JSON.stringify({ apiVersion, kind, metadata: { name }, spec }));
  }

  async #over<Status extends BackupStatus | RestoreStatus>(kind: "backup" | "restore", name: string): Promise<Status> {
    return await eventuallySucceeds(`${kind} ${name} has succeeded`, 5 * minutes, async () => {
      const status = (await this.#kubectl.get(kind, name))?.["status"] as Status | undefined;
      const told = status?.conditions?.find(({ type }) => type === "Succeeded");
      if (told?.status !== "True") throw new Error(JSON.stringify(told));
      return status as Status;
    });
  }
}
