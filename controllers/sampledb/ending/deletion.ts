// What happens before a SampleDB goes. Nothing is made here: its namespace may be going as well.
import { labelNames } from "../../../api/labels.ts";
import { reasons } from "../../../api/reasons.ts";
import { finished } from "../../../runtime/controller/finalizer.ts";
import { after, type Result } from "../../../runtime/controller/result.ts";
import { ignoreNotFound } from "../../../runtime/kube/errors.ts";
import { type Key, type KubeObject, keyOf } from "../../../runtime/kube/object.ts";
import type { Resource } from "../../../runtime/kube/resource.ts";
import { belongsTo } from "../../desired/identity.ts";
import { namesOf } from "../../desired/names.ts";
import { configMaps, jobs, persistentVolumeClaims, secrets } from "../../kinds/kubernetes.ts";
import { retention } from "../foundation/retention.ts";
import { mayHaveData, removeEmpty } from "../foundation/storage.ts";
import { applyRange, noteLastPrimary, rangeNow } from "../instances/instances.ts";
import type { Scope } from "../scope.ts";
import { tellNamespaceEnd } from "./namespace-end.ts";

/** Pods tell when they are gone; this is for what does not. */
const lookAgainSeconds = 5;

/**
 * The instances stop, replicas first and the primary last, so that the volume that is started first one day has everything. Then
 * what outlives a SampleDB stays, or goes where the user has said so; all else is the garbage collector's.
 */
export async function deletion(scope: Scope): Promise<Result | typeof finished> {
  const { db, observed, deps } = scope;
  if (db.spec.deletionPolicy !== "Delete") {
    await retention(scope); // before the first claim can go
    await tellNamespaceEnd(scope);
  }
  // As long as the StatefulSet wants Pods it makes them, and their claims, also behind our back.
  const wanted = observed.statefulSet?.metadata.deletionTimestamp ? 0 : (observed.range?.count ?? 0);
  if (observed.instances.length > 0 || wanted > 0) {
    await stop(scope);
    return after(lookAgainSeconds);
  }
  if (db.spec.deletionPolicy === "Delete") await destroy(scope);
  else await leave(scope);
  deps.credentials.forget(db);
  return finished;
}

async function stop(scope: Scope): Promise<void> {
  await noteLastPrimary(scope);
  if (scope.observed.statefulSet?.metadata.deletionTimestamp) return; // its Pods go with it
  await applyRange(scope, rangeNow(scope, "Hibernated")).catch(ignoreNotFound);
}

/** All of it, in an order in which nothing is left that nobody would look for. */
async function destroy({ db, key, observed, client, objects, deps }: Scope): Promise<void> {
  const names = namesOf(db);
  // What has one of our names and is not ours stood in the way of this SampleDB, and is not to go with it.
  const remove = async <T extends KubeObject>(resource: Resource<T>, where: Key) => {
    const found = await client.find(resource, where);
    if (found && belongsTo(db, found)) await client.delete(resource, where, { uid: found.metadata.uid }).catch(ignoreNotFound);
  };
  const here = (name: string) => ({ namespace: key.namespace, name });
  for (const name of [names.initJob, names.trialJob, names.rotation]) await objects.remove(jobs, here(name), db);
  for (const claim of observed.claims.values()) {
    await deps.volumes.release(client, claim);
    await client.delete(persistentVolumeClaims, keyOf(claim), { uid: claim.metadata.uid }).catch(ignoreNotFound);
  }
  for (const name of [names.dynamicConfig, names.leader, names.failover, names.sync]) await remove(configMaps, here(name));
  for (const name of [names.superuserSecret, names.replicationSecret, names.applicationSecret, names.rotation, names.certificateSecret])
    await remove(secrets, here(name));
  await remove(secrets, deps.credentials.authorityKey(db));
}

async function leave(scope: Scope): Promise<void> {
  const { db, observed, deps } = scope;
  for (const claim of observed.claims.values()) if (!mayHaveData(claim)) await removeEmpty(scope, claim);
  const claims = [...observed.claims.values()].filter(mayHaveData).map(({ metadata }) => metadata.name);
  const note = `volumes (${claims.join(", ") || "none"}), passwords and certificates stay: a new SampleDB of this name takes them up. Delete them by the label ${labelNames.database}=${db.metadata.name} when they are not wanted`;
  deps.events.record(db, { type: "Normal", reason: reasons.retained, action: "Delete", note });
}
