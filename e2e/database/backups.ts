// What benchmarks do with Backups and Restores: make one, and wait for its end.
import type { BackupSpec, BackupStatus } from "../../api/backup.ts";
import type { RestoreStatus } from "../../api/restore.ts";
import { apiVersion } from "../../api/version.ts";
import { eventually } from "../../tools/eventually.ts";
import { Refusal } from "../../tools/progress.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import type { Database } from "./database.ts";

/** An hour, which is enough for 10 GB on a slow disk. */
const longestMs = 3_600_000;

/** Resolves once it has succeeded; fails as soon as it has not. */
export async function backUp(namespace: Kubectl, name: string, database: Database, type: BackupSpec["type"]): Promise<BackupStatus> {
  await apply(namespace, "Backup", name, { sampleDBName: database.name, type });
  return await succeeded<BackupStatus>(namespace, "backup", name);
}

interface RestoreWish {
  readonly source: object;
  readonly target?: object;
  readonly overrides?: object;
}

/** Has SampleDB `name` made by a Restore of the same name, without waiting for anything. */
export async function applyRestore(namespace: Kubectl, name: string, { source, target, overrides }: RestoreWish): Promise<void> {
  const destination = { type: "New", sampleDBName: name, ...(overrides ? { overrides } : {}) };
  await apply(namespace, "Restore", name, { source, ...(target ? { target } : {}), destination });
}

export async function succeeded<Status extends BackupStatus | RestoreStatus>(
  namespace: Kubectl,
  kind: "backup" | "restore",
  name: string,
): Promise<Status> {
  return await eventually(`${kind} ${name} is over`, longestMs, async () => {
    const status = (await namespace.get(`${kind}s.sampledb.io`, name))?.["status"] as Status | undefined;
    const told = status?.conditions?.find(({ type }) => type === "Succeeded");
    if (told?.status === "False") throw new Refusal(`${kind} ${name}: ${told.reason}: ${told.message}`);
    return told?.status === "True" ? status : undefined;
  });
}

async function apply(namespace: Kubectl, kind: "Backup" | "Restore", name: string, spec: object): Promise<void> {
  await namespace.apply(JSON.stringify({ apiVersion, kind, metadata: { name }, spec }));
}
