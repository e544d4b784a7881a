// The deletion of a SampleDB. It makes no object, because the namespace may be going, too.
import { reasons } from "../../../api/reasons.ts";
import type { Cache } from "../../../runtime/cache/cache.ts";
import { finished } from "../../../runtime/controller/finalizer.ts";
import { after, type Result } from "../../../runtime/controller/result.ts";
import { ignoreNotFound } from "../../../runtime/kube/errors.ts";
import { type Key, type KubeObject, keyOf } from "../../../runtime/kube/object.ts";
import type { Resource } from "../../../runtime/kube/resource.ts";
import { backupsOf, isGood } from "../../database/backups.ts";
import { belongsTo, identityOf, instanceSelector, selectorOf } from "../../desired/identity.ts";
import { namesOf } from "../../desired/names.ts";
import { configMaps, jobs, type PersistentVolumeClaim, persistentVolumeClaims, secrets } from "../../kinds/kubernetes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import { byDatabase } from "../../watches.ts";
import { mayHaveData, removeEmpty } from "../foundation/storage.ts";
import { applyRange, isForeign, noteLastPrimary, rangeNow } from "../instances/instances.ts";
import type { Scope } from "../scope.ts";
import { tellNamespaceEnd } from "./namespace-end.ts";

/** The watch reports when a Pod is gone. This is for the objects that are not watched. */
const lookAgainSeconds = 5;

/**
 * Stops the replicas, then the primary, so that the primary's volume has every commit: a new SampleDB of the name starts with it. Then the
 * kept objects stay, or go where `deletionPolicy` is Delete. Kubernetes' garbage collector removes the owned objects.
 */
export async function deletion(scope: Scope): Promise<Result | typeof finished> {
  const { db, observed, deps, client } = scope;
  if (db.spec.deletionPolicy !== "Delete") {
    for (const claim of allClaims(observed)) await deps.volumes.tell(client, claim, "keep"); // before any claim can go
    await tellNamespaceEnd(scope);
  }
  // While the StatefulSet asks for Pods, it can make new ones, and claims for them, at any moment.
  const wanted = observed.statefulSet?.metadata.deletionTimestamp ? 0 : (observed.range?.count ?? 0);
  // Its Pods run on the claims of this name, and are not this SampleDB's to stop: so nothing is destroyed either.
  const isTaken = observed.statefulSet !== undefined && isForeign(observed.statefulSet, db);
  if (!isTaken && (observed.instances.length > 0 || wanted > 0)) {
    await stop(scope);
    return after(lookAgainSeconds);
  }
  if (db.spec.deletionPolicy === "Delete" && !isTaken) await destroy(scope);
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

/** Removes all kept objects. The authority's key is in another namespace, where no person would look for it: so it must not be left. */
async function destroy({ db, key, observed, client, objects, deps }: Scope): Promise<void> {
  const names = namesOf(db);
  // An object under one of our names that the operator did not make blocked this SampleDB. It must not be deleted with it.
  const remove = async <T extends KubeObject>(resource: Resource<T>, where: Key) => {
    const found = await client.find(resource, where);
    if (found && belongsTo(db, found)) await client.delete(resource, where, { uid: found.metadata.uid }).catch(ignoreNotFound);
  };
  const here = (name: string) => ({ namespace: key.namespace, name });
  for (const job of deps.cache.watched(jobs).listBy(byDatabase, `${key.namespace}/${key.name}`)) await objects.remove(jobs, keyOf(job), db);
  // Only the repository of good Backups outlives this: whoever made those has not said that they may go.
  const lastCopy = hasBackups(deps.cache, key, names.repository) ? observed.repository.claim : undefined;
  if (lastCopy) await deps.volumes.tell(client, lastCopy, "keep");
  for (const claim of allClaims(observed).filter((each) => each !== lastCopy)) {
    await deps.volumes.tell(client, claim, "release");
    await client.delete(persistentVolumeClaims, keyOf(claim), { uid: claim.metadata.uid }).catch(ignoreNotFound);
  }
  for (const name of [names.dynamicConfig, names.leader, names.failover, names.sync]) await remove(configMaps, here(name));
  if (!lastCopy) await remove(configMaps, here(names.repository)); // it knows how many archives there were
  for (const name of [...keptSecrets(db), names.rotation, names.repository]) await remove(secrets, here(name));
  await remove(secrets, deps.authority.keySecret(identityOf(db)));
}

/** Whether good Backups lie on this claim. */
function hasBackups(cache: Cache, key: Key, claimName: string): boolean {
  return backupsOf(cache, key).some((backup) => isGood(backup) && backup.status?.repository?.volumeClaimName === claimName);
}

function keptSecrets(db: SampleDB): string[] {
  const { superuserSecret, replicationSecret, applicationSecret, certificateSecret, repository } = namesOf(db);
  return [superuserSecret, replicationSecret, applicationSecret, certificateSecret, ...(db.spec.backup ? [repository] : [])];
}

function allClaims({ claims, repository: { claim } }: Scope["observed"]): PersistentVolumeClaim[] {
  return [...claims.values(), ...(claim ? [claim] : [])];
}

async function leave(scope: Scope): Promise<void> {
  const { db, observed, deps } = scope;
  for (const claim of allClaims(observed)) if (!mayHaveData(claim)) await removeEmpty(scope, claim);
  const claims = allClaims(observed)
    .filter(mayHaveData)
    .map(({ metadata }) => metadata.name);
  const selector = selectorOf(instanceSelector(db)); // by component, too: the claim of a backup repository has the database's label as well
  const note = `volumes (${claims.join(", ") || "none"}), passwords and certificates stay: a new SampleDB of this name takes them up. When they are not wanted: kubectl delete pvc,configmap --selector=${selector}${db.spec.backup ? `, those called ${namesOf(db).repository}` : ""}, and the Secrets ${keptSecrets(db).join(", ")}`;
  deps.events.record(db, { type: "Normal", reason: reasons.retained, action: "Delete", note });
}
