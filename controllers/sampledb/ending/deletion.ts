// What happens before a SampleDB goes. Nothing is made here: its namespace may be going as well.
import { reasons } from "../../../api/reasons.ts";
import { finished } from "../../../runtime/controller/finalizer.ts";
import { after, type Result } from "../../../runtime/controller/result.ts";
import { ignoreNotFound } from "../../../runtime/kube/errors.ts";
import { type Key, type KubeObject, keyOf } from "../../../runtime/kube/object.ts";
import type { Resource } from "../../../runtime/kube/resource.ts";
import { belongsTo, identityOf, instanceSelector, selectorOf } from "../../desired/identity.ts";
import { namesOf } from "../../desired/names.ts";
import { configMaps, jobs, persistentVolumeClaims, secrets } from "../../kinds/kubernetes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import { byDatabase } from "../../watches.ts";
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
  const { db, observed, deps, client } = scope;
  if (db.spec.deletionPolicy !== "Delete") {
    for (const claim of observed.claims.values()) await deps.volumes.tell(client, claim, "keep"); // before the first claim can go
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
  deps.authority.forget(identityOf(db));
  deps.passwords.forget(db);
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
  for (const job of deps.cache.watched(jobs).listBy(byDatabase, `${key.namespace}/${key.name}`)) await objects.remove(jobs, keyOf(job), db);
  for (const claim of observed.claims.values()) {
    await deps.volumes.tell(client, claim, "release");
    await client.delete(persistentVolumeClaims, keyOf(claim), { uid: claim.metadata.uid }).catch(ignoreNotFound);
  }
  for (const name of [names.dynamicConfig, names.leader, names.failover, names.sync]) await remove(configMaps, here(name));
  for (const name of [...keptSecrets(db), names.rotation]) await remove(secrets, here(name));
  await remove(secrets, deps.authority.keySecret(identityOf(db)));
}

function keptSecrets(db: SampleDB): string[] {
  const { superuserSecret, replicationSecret, applicationSecret, certificateSecret } = namesOf(db);
  return [superuserSecret, replicationSecret, applicationSecret, certificateSecret];
}

async function leave(scope: Scope): Promise<void> {
  const { db, observed, deps } = scope;
  for (const claim of observed.claims.values()) if (!mayHaveData(claim)) await removeEmpty(scope, claim);
  const claims = [...observed.claims.values()].filter(mayHaveData).map(({ metadata }) => metadata.name);
  const selector = selectorOf(instanceSelector(db)); // by component too: a repository of backups wears the name as well
  const note = `volumes (${claims.join(", ") || "none"}), passwords and certificates stay: a new SampleDB of this name takes them up. When they are not wanted: kubectl delete pvc,configmap --selector=${selector}, and the Secrets ${keptSecrets(db).join(", ")}`;
  deps.events.record(db, { type: "Normal", reason: reasons.retained, action: "Delete", note });
}
