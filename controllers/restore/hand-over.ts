// Hands the data over: Patroni's objects, the claim, the SampleDB and its first Backup. Each write can be repeated; nothing is undone here.
import { restoredByAnnotation } from "../../api/annotations.ts";
import { conditionTypes } from "../../api/conditions.ts";
import { reasons } from "../../api/reasons.ts";
import { Occupied } from "../../runtime/controller/objects.ts";
import { AlreadyExists } from "../../runtime/kube/errors.ts";
import { isControlledBy, type KubeObject, keyOf } from "../../runtime/kube/object.ts";
import type { Resource } from "../../runtime/kube/resource.ts";
import { claimName } from "../desired/names.ts";
import { restoredDatabase, restoredState } from "../desired/restore.ts";
import { configMaps, persistentVolumeClaims } from "../kinds/kubernetes.ts";
import { type Backup, backups, type SampleDB, sampledbs } from "../kinds/sampledb-io.ts";
import { conditionOf } from "../telling/events.ts";
import type { Scope } from "./scope.ts";
import { destinationOf, type Found } from "./source.ts";
import { failed, type RestoreState } from "./state.ts";

export async function handOver(scope: Scope, { spec }: Found, systemIdentifier: string): Promise<RestoreState> {
  const { restore, client } = scope;
  const db = destinationOf(restore, spec);
  for (const state of restoredState(restore, db, systemIdentifier)) await createOwn(scope, configMaps, state);
  const claim = await client.find(persistentVolumeClaims, { namespace: scope.key.namespace, name: claimName(db, 0) });
  if (!claim) return failed(reasons.restoreLost, `claim ${claimName(db, 0)} with the restored data was deleted`);
  if (isControlledBy(claim, restore)) {
    const { resourceVersion } = claim.metadata;
    await client.mergePatch(persistentVolumeClaims, keyOf(claim), { metadata: { resourceVersion, ownerReferences: null } });
  }
  const made = await createOwn(scope, sampledbs, restoredDatabase(restore.metadata.uid ?? "", db));
  const first = spec.backup ? firstBackup(restore.metadata.uid ?? "", made) : undefined;
  if (first) await createOwn(scope, backups, first);
  return standing(made, first?.metadata.name);
}

/** All is made, and the status says so: nothing is made a second time, and nothing of the source is needed any more. */
export async function followStart({ restore, client, key }: Scope, firstBackupName: string): Promise<RestoreState> {
  const name = restore.spec.destination.sampleDBName;
  const made = await client.find(sampledbs, { namespace: key.namespace, name }); // read live: the cache may be behind the hand-over
  return made && made.metadata.annotations?.[restoredByAnnotation] === restore.metadata.uid
    ? standing(made, firstBackupName)
    : failed(reasons.restoreLost, `SampleDB ${name} was deleted before it served`);
}

function standing({ metadata: { name }, status }: SampleDB, firstBackupName: string | undefined): RestoreState {
  const serves =
    conditionOf(status, conditionTypes.primaryAvailable)?.status === "True" &&
    conditionOf(status, conditionTypes.initialized)?.status === "True";
  if (serves) return { kind: "succeeded", firstBackupName };
  const ready = conditionOf(status, conditionTypes.ready);
  const message = ready ? `SampleDB ${name}: ${ready.reason}: ${ready.message}` : "the SampleDB is made";
  return { kind: "starting", firstBackupName, message };
}

/** Creates it, or takes the one that this Restore created before. */
export async function createOwn<T extends KubeObject>({ client, restore }: Scope, resource: Resource<T>, object: T): Promise<T> {
  try {
    return await client.create(resource, object);
  } catch (error) {
    if (!(error instanceof AlreadyExists)) throw error;
    const there = await client.get(resource, keyOf(object));
    if (there.metadata.annotations?.[restoredByAnnotation] === restore.metadata.uid) return there;
    throw new Occupied(
      `${object.kind} ${object.metadata.name} is there already and was not made by this Restore: delete it, and the Restore goes on`,
      { cause: error },
    );
  }
}

/** An archive without a backup restores nothing, so the new one gets a full backup at once. Retention removes it when there are newer ones. */
export function firstBackup(restoredBy: string, { apiVersion, metadata: { namespace = "", name } }: SampleDB): Backup {
  const metadata = { namespace, name: `${name}-restored-${restoredBy.slice(0, 8)}`, annotations: { [restoredByAnnotation]: restoredBy } };
  return { apiVersion, kind: "Backup", metadata, spec: { sampleDBName: name, type: "Full", deletionPolicy: "Delete" } };
}
