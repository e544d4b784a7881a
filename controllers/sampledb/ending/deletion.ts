// The deletion of a SampleDB. With Retain and Delete it makes no object, because the namespace may be going, too.
import { type DeletionPolicy, deletionPolicyOf } from "../../../api/deletion-policy.ts";
import { reasons } from "../../../api/reasons.ts";
import { finished } from "../../../runtime/controller/finalizer.ts";
import { after, type Result } from "../../../runtime/controller/result.ts";
import { ignoreNotFound } from "../../../runtime/kube/errors.ts";
import { type Key, type KubeObject, keyOf } from "../../../runtime/kube/object.ts";
import type { Resource } from "../../../runtime/kube/resource.ts";
import { backupsOf, isGood } from "../../database/backups.ts";
import { namespaceGoes } from "../../database/namespace.ts";
import { belongsTo, identityOf, instanceSelector, selectorOf } from "../../desired/identity.ts";
import { namesOf } from "../../desired/names.ts";
import { isArchived } from "../../desired/store.ts";
import { configMaps, jobs, type PersistentVolumeClaim, persistentVolumeClaims, secrets } from "../../kinds/kubernetes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import { byDatabase } from "../../watches.ts";
import { mayHaveData, removeEmpty } from "../foundation/storage.ts";
import { isForeign, stop } from "../instances/instances.ts";
import type { Scope } from "../scope.ts";
import { tellNamespaceEnd } from "./namespace-end.ts";
import { type Ending, snapshot } from "./snapshot.ts";

/** The watch reports when a Pod is gone. This is for the objects that are not watched. */
const lookAgainSeconds = 5;

/**
 * As `deletionPolicy` says. With Retain and Delete it stops the replicas, then the primary, so that the primary's volume has every commit: a
 * new SampleDB of the name starts with it. Then the kept objects stay, or go. Kubernetes' garbage collector removes the owned objects.
 */
export async function deletion(scope: Scope): Promise<Ending> {
  const { db, observed, deps, client } = scope;
  const policy = await policyNow(scope);
  if (policy === "Retain") {
    for (const claim of allClaims(observed)) await deps.volumes.tell(client, claim, "keep"); // before any claim can go
    await tellNamespaceEnd(scope);
  }
  const ending = policy === "Snapshot" ? await snapshot(scope) : { result: await stopAndLeave(scope, policy), errors: [] };
  if (ending.result.kind === "finished") {
    deps.authority.forget(identityOf(db));
    deps.passwords.forget(db);
  }
  return ending;
}

/** Where no last Backup can be made, because there is no data or no room for objects, the volumes stay as with Retain. */
async function policyNow(scope: Scope): Promise<DeletionPolicy> {
  const { db, observed } = scope;
  const policy = deletionPolicyOf(db.spec);
  if (policy !== "Snapshot") return policy;
  const hasData = observed.initialized || db.status?.deletion?.phase === "Releasing";
  if (!isArchived(db) || !hasData || isOverwritten(db) || isTaken(scope) || (await namespaceGoes(scope.client, scope.key.namespace)))
    return "Retain";
  return "Snapshot";
}

/** A restore in place may have overwritten a volume, and no primary can serve. Everything from before is in its Backup and in the archive. */
function isOverwritten({ status }: SampleDB): boolean {
  return status?.restore?.podName !== undefined;
}

/** Another's Pods run on the claims of this name, and are not this SampleDB's to stop: so nothing is destroyed either. */
function isTaken({ db, observed: { statefulSet } }: Scope): boolean {
  return statefulSet !== undefined && isForeign(statefulSet, db);
}

async function stopAndLeave(scope: Scope, policy: DeletionPolicy): Promise<Result | typeof finished> {
  const { observed } = scope;
  // While the StatefulSet asks for Pods, it can make new ones, and claims for them, at any moment.
  const wanted = observed.statefulSet?.metadata.deletionTimestamp ? 0 : (observed.range?.count ?? 0);
  if (!isTaken(scope) && (observed.instances.length > 0 || wanted > 0)) {
    await stop(scope);
    return after(lookAgainSeconds);
  }
  if (policy === "Delete" && !isTaken(scope)) await destroy(scope);
  else await leave(scope);
  return finished;
}

/** Removes all kept objects, but a repository in which Backups lie: those outlive the SampleDB. The authority's key is in another namespace, where no person would look for it: so it must not be left. */
async function destroy({ db, key, observed, client, objects, deps }: Scope): Promise<void> {
  const names = namesOf(db);
  // An object under one of our names that the operator did not make blocked this SampleDB. It must not be deleted with it.
  const remove = async <T extends KubeObject>(resource: Resource<T>, where: Key) => {
    const found = await client.find(resource, where);
    if (found && belongsTo(db, found)) await client.delete(resource, where, { uid: found.metadata.uid }).catch(ignoreNotFound);
  };
  const here = (name: string) => ({ namespace: key.namespace, name });
  for (const job of deps.cache.watched(jobs).listBy(byDatabase, `${key.namespace}/${key.name}`)) await objects.remove(jobs, keyOf(job), db);
  // The repository of good Backups outlives this: whoever made those has not said that they may go.
  const lying = backupsOf(deps.cache, key).filter(
    (backup) => isGood(backup) && backup.status?.repository?.volumeClaimName === names.repository,
  );
  const lastCopy = lying.length > 0 ? observed.repository.claim : undefined;
  if (lastCopy) await deps.volumes.tell(client, lastCopy, "keep");
  for (const claim of allClaims(observed).filter((each) => each !== lastCopy)) {
    await deps.volumes.tell(client, claim, "release");
    await client.delete(persistentVolumeClaims, keyOf(claim), { uid: claim.metadata.uid }).catch(ignoreNotFound);
  }
  for (const name of [names.dynamicConfig, names.leader, names.failover, names.sync]) await remove(configMaps, here(name));
  if (!lastCopy) await remove(configMaps, here(names.repository)); // it knows how many archives there were
  for (const name of [...keptSecrets(db), names.rotation, names.repository]) await remove(secrets, here(name));
  await remove(secrets, deps.authority.keySecret(identityOf(db)));
  if (!lastCopy) return;
  const note = `claim ${names.repository} stays, because these Backups lie in it: ${lying.map(({ metadata }) => metadata.name).join(", ")}. When they are not wanted: kubectl delete them, and then the claim`;
  deps.events.record(db, { type: "Normal", reason: reasons.retained, action: "Delete", note });
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
