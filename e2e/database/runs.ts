// Backups and Restores as suites, benchmarks and the demo make them: applied, waited for, and what a Restore has left under a name.
import type { BackupSpec, BackupStatus } from "../../api/backup.ts";
import { labelNames } from "../../api/labels.ts";
import type { RestoreStatus } from "../../api/restore.ts";
import { apiVersion } from "../../api/version.ts";
import { eventuallySucceeds } from "../../tools/eventually.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { Database } from "./database.ts";

type Kind = "Backup" | "Restore";
type StatusOf<K extends Kind> = K extends "Backup" ? BackupStatus : RestoreStatus;
export type Over<K extends Kind> = StatusOf<K> & { readonly succeeded: boolean; readonly reason: string; readonly message: string };

export class Runs {
  readonly #kubectl: Kubectl;
  readonly #source: string;
  readonly #deadlineMs: number;

  /** `source`: the SampleDB that is backed up. `deadlineMs`: until when one has to be over. */
  constructor(kubectl: Kubectl, source: string, deadlineMs = 300_000) {
    this.#kubectl = kubectl;
    this.#source = source;
    this.#deadlineMs = deadlineMs;
  }

  async make(kind: Kind, name: string, spec: object): Promise<void> {
    await this.#kubectl.apply(JSON.stringify({ apiVersion, kind, metadata: { name }, spec }));
  }

  async status<K extends Kind>(kind: K, name: string): Promise<StatusOf<K> | undefined> {
    return (await this.#kubectl.get(`${kind.toLowerCase()}s.sampledb.io`, name))?.["status"] as StatusOf<K> | undefined;
  }

  /** How far it is, as it says itself. */
  async reason(kind: Kind, name: string): Promise<string | undefined> {
    return (await this.status(kind, name))?.conditions?.find(({ type }) => type === "Succeeded")?.reason;
  }

  /** Its status once it has ended, well or not. */
  async over<K extends Kind>(kind: K, name: string, deadlineMs = this.#deadlineMs): Promise<Over<K>> {
    return await eventuallySucceeds(`${kind} ${name} is over`, deadlineMs, async () => {
      const status = await this.status(kind, name);
      const told = status?.conditions?.find(({ type }) => type === "Succeeded");
      if (!status || !told || told.status === "Unknown") throw new Error(JSON.stringify(told));
      return { ...status, succeeded: told.status === "True", reason: told.reason, message: told.message };
    });
  }

  async succeeds<K extends Kind>(kind: K, name: string, deadlineMs?: number): Promise<Over<K>> {
    const end = await this.over(kind, name, deadlineMs);
    if (!end.succeeded) throw new Error(`${kind} ${name} says ${end.reason}: ${end.message}`);
    return end;
  }

  async backUp(name: string, type: BackupSpec["type"]): Promise<Over<"Backup">> {
    await this.make("Backup", name, { sampleDBName: this.#source, type });
    return await this.succeeds("Backup", name);
  }

  async beginRestore(name: string, to: string, spec: object, overrides: object = { replicas: 1 }): Promise<void> {
    await this.make("Restore", name, { destination: { type: "New", sampleDBName: to, overrides }, ...spec });
  }

  /** A Restore of the name of its SampleDB, to its end. */
  async restore(name: string, spec: object, overrides?: object): Promise<{ restored: Database; status: Over<"Restore"> }> {
    await this.beginRestore(name, name, spec, overrides);
    return { restored: new Database(this.#kubectl, name), status: await this.succeeds("Restore", name) };
  }

  /** Everything that there is under the name of a SampleDB, with the Pods. */
  async left(database: string): Promise<string[]> {
    const kinds = "pods,jobs,configmaps,secrets,persistentvolumeclaims,services,statefulsets,deployments,serviceaccounts";
    const labelled = await this.#kubectl.list(kinds, `--selector=${labelNames.database}=${database}`);
    const made = await this.#kubectl.get("sampledbs.sampledb.io", database);
    return [...labelled, ...(made ? [made] : [])].map((object) => `${object["kind"]} ${object["metadata"].name}`).sort();
  }
}
