// The deletion with `Snapshot`: one step towards the next phase, or a wait that is told. Nothing is removed before the last Backup is good
// and the archive has everything that the primary wrote (docs/designs/0011-snapshot-on-delete.md).
import { deletionPolicyOf } from "../../../api/deletion-policy.ts";
import { reasons } from "../../../api/reasons.ts";
import { finished } from "../../../runtime/controller/finalizer.ts";
import { after, earliest, type Result } from "../../../runtime/controller/result.ts";
import type { StepError } from "../../../runtime/controller/steps.ts";
import { ignoreNotFound } from "../../../runtime/kube/errors.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { lastPrimary } from "../../database/view.ts";
import { belongsTo } from "../../desired/identity.ts";
import { claimName, finalBackupName, namesOf } from "../../desired/names.ts";
import { finalBackup } from "../../desired/snapshot.ts";
import { configMaps, persistentVolumeClaims } from "../../kinds/kubernetes.ts";
import { type SampleDB, sampledbs } from "../../kinds/sampledb-io.ts";
import type { Blocker } from "../../telling/blockers.ts";
import type { Scope } from "../scope.ts";
import { hindranceOf } from "../securing/hindrance.ts";
import { isAwake, lookAtSecuring, mend, secure } from "../securing/securing.ts";
import { dropCheck } from "../securing/securing-jobs.ts";
import { snapshotPhase } from "./snapshot-phase.ts";

/** After the release was claimed in the status: no watch reports that write. */
const goOnSeconds = 1;

export interface Ending {
  readonly result: Result | typeof finished;
  readonly errors: readonly StepError[];
}

/** Kubernetes' garbage collector removes the StatefulSet of an object with this finalizer at once. */
const foreground = "foregroundDeletion";

export async function snapshot(scope: Scope): Promise<Ending> {
  const { db, findings } = scope;
  if (db.metadata.finalizers?.includes(foreground)) return await endInBackground(scope);
  const secured = lookAtSecuring(scope, { backup: finalBackup(db), since: db.metadata.deletionTimestamp ?? "" });
  const stored = db.status?.deletion;
  const phase = snapshotPhase({ claimed: stored?.phase === "Releasing", ...secured.inputs });
  findings.deletion = { phase, backupName: finalBackupName(db) };
  const mended = isAwake(phase) ? await mend(scope) : undefined;
  const errors = mended?.errors ?? [];
  if (phase === "Releasing") return { result: await releaseOnceStored(scope), errors };
  const result = await secure(scope, secured, phase);
  const words = hindranceOf({ phase, ...secured, errors }, stored?.phase === phase ? stored.sinceTime : undefined, scope.deps.now());
  if (words !== undefined) findings.blockers.push(snapshotWaits(db, `${phase}: ${words}`));
  return { result: mended ? earliest([result, mended.result]) : result, errors };
}

function snapshotWaits({ metadata: { namespace, name } }: SampleDB, words: string): Blocker {
  const retain = `kubectl patch sampledb ${name} --namespace=${namespace} --type=merge --patch='{"spec":{"deletionPolicy":"Retain"}}'`;
  return {
    reason: reasons.snapshotWaits,
    message: `${words}; nothing is removed meanwhile`,
    remedy: `mend it, and the deletion goes on by itself; or delete without a last Backup: ${retain} keeps the volumes, and Delete in place of Retain destroys them`,
  };
}

/** First the status says so, onto the version that was read. The next reconcile acts on what is stored. */
async function releaseOnceStored(scope: Scope): Promise<Result | typeof finished> {
  const { db, client } = scope;
  if (db.status?.deletion?.phase !== "Releasing") return after(goOnSeconds);
  // From the API server: a person may have changed the policy a moment ago.
  const live = await client.find(sampledbs, keyOf(db));
  const isStillWanted =
    live !== undefined &&
    live.metadata.uid === db.metadata.uid &&
    deletionPolicyOf(live.spec) === "Snapshot" &&
    live.status?.deletion?.phase === "Releasing";
  return isStillWanted ? await release(scope) : after(goOnSeconds);
}

/** The same deletion, only that the SampleDB goes before its objects do. */
async function endInBackground({ db, client }: Scope): Promise<Ending> {
  const { uid, resourceVersion, finalizers = [] } = db.metadata;
  const patch = { metadata: { uid, resourceVersion, finalizers: finalizers.filter((name) => name !== foreground) } };
  await client.mergePatch(sampledbs, keyOf(db), patch).catch(ignoreNotFound);
  return { result: after(goOnSeconds), errors: [] };
}

/**
 * Removes the data. The last primary's claim goes after the others, and Patroni's objects after all claims: whatever is left in between is
 * a whole database of `Retain`.
 */
async function release(scope: Scope): Promise<Result | typeof finished> {
  const { db, key, observed, client, deps } = scope;
  await dropCheck(scope); // Kubernetes keeps a claim for as long as any Pod names it, also one that has ended
  const claims = [...observed.claims.values()];
  const last = claimName(db, lastPrimary(db, observed) ?? 0);
  const others = claims.filter(({ metadata }) => metadata.name !== last);
  for (const claim of others.length > 0 ? others : claims) {
    if (claim.metadata.deletionTimestamp) continue;
    await deps.volumes.tell(client, claim, "release");
    await client.delete(persistentVolumeClaims, keyOf(claim), { uid: claim.metadata.uid }).catch(ignoreNotFound);
  }
  if (claims.length > 0) return after(goOnSeconds);
  const names = namesOf(db);
  for (const name of [names.leader, names.failover, names.sync, names.dynamicConfig]) {
    const found = await client.find(configMaps, { namespace: key.namespace, name });
    if (found && belongsTo(db, found)) await client.delete(configMaps, keyOf(found), { uid: found.metadata.uid }).catch(ignoreNotFound);
  }
  const note = `Backup ${finalBackupName(db)} and the archive have everything; the volumes are gone, and passwords, repository and Backups stay. A Restore from that Backup to the name ${db.metadata.name} brings it back (docs/deleting.md)`;
  deps.events.record(db, { type: "Normal", reason: reasons.snapshotted, action: "Delete", note });
  return finished;
}
