// The deletion with `Snapshot`: one step towards the next phase, or a wait that is told. Nothing is removed before the last Backup is good
// and the archive has everything that the primary wrote (docs/designs/0011-snapshot-on-delete.md).
import { deletionPolicyOf } from "../../../api/deletion-policy.ts";
import { reasons } from "../../../api/reasons.ts";
import { finished } from "../../../runtime/controller/finalizer.ts";
import { after, earliest, type Result } from "../../../runtime/controller/result.ts";
import { runSteps, type StepError } from "../../../runtime/controller/steps.ts";
import { ignoreNotFound } from "../../../runtime/kube/errors.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { lastPrimary } from "../../database/view.ts";
import { belongsTo } from "../../desired/identity.ts";
import { claimName, finalBackupName, namesOf } from "../../desired/names.ts";
import { configMaps, persistentVolumeClaims } from "../../kinds/kubernetes.ts";
import { sampledbs } from "../../kinds/sampledb-io.ts";
import { applyInstances, stop } from "../instances/instances.ts";
import type { Scope } from "../scope.ts";
import { findFinal, judge, keepFinal } from "./final-backup.ts";
import { mending } from "./mending.ts";
import { hindranceTold } from "./snapshot-hindrance.ts";
import { dropCheck, lookAtCheck, lookAtCutOff, runCheck, runCutOff } from "./snapshot-jobs.ts";
import { snapshotPhase } from "./snapshot-phase.ts";

/** The watch reports most of it. */
const lookAgainSeconds = 5;
/** After the release was claimed in the status: no watch reports that write. */
const goOnSeconds = 1;

export interface Ending {
  readonly result: Result | typeof finished;
  readonly errors: readonly StepError[];
}

/** Kubernetes' garbage collector removes the StatefulSet of an object with this finalizer at once. */
const foreground = "foregroundDeletion";

export async function snapshot(scope: Scope): Promise<Ending> {
  const { db, observed, findings, client } = scope;
  if (db.metadata.finalizers?.includes(foreground)) return await endInBackground(scope);
  const final = findFinal(scope);
  const cutOff = lookAtCutOff(scope);
  const check = lookAtCheck(scope, final);
  const backup = judge(scope, final);
  const stored = db.status?.deletion;
  const phase = snapshotPhase({
    claimed: stored?.phase === "Releasing",
    running: observed.instances.length > 0 || (observed.range?.count ?? 0) > 0,
    serves: observed.primary?.ready === true && observed.primary.takesWrites,
    cutOff: cutOff.kind === "done",
    backup,
    check: check.kind,
  });
  findings.deletion = { phase, backupName: finalBackupName(db) };
  const isAwake = phase === "Waking" || phase === "CuttingOff" || phase === "BackingUp";
  const mended = isAwake && findings.invalid === undefined ? await runSteps(mending, scope) : undefined;
  const errors = mended?.errors ?? [];
  const result = await goOn();
  findings.blockers.push(...hindranceTold(scope, { phase, final, cutOff, check, errors }));
  return { result: result.kind === "finished" || !mended ? result : earliest([result, mended.result]), errors };

  async function goOn(): Promise<Result | typeof finished> {
    switch (phase) {
      case "Waking":
        await wake(scope);
        break;
      case "CuttingOff":
        await runCutOff(scope);
        break;
      case "BackingUp":
        return await keepFinal(scope, final, backup);
      case "Stopping":
        await dropCheck(scope); // it told of an earlier stop
        await stop(scope);
        break;
      case "CheckingArchive":
        await runCheck(scope, final);
        break;
      case "Releasing":
        // First the status says so, onto the version that was read. The next reconcile acts on what is stored.
        if (stored?.phase !== "Releasing") return after(goOnSeconds);
        return (await isStillWanted()) ? await release(scope) : after(goOnSeconds);
    }
    return after(lookAgainSeconds);
  }

  /** From the API server: a person may have changed the policy a moment ago. */
  async function isStillWanted(): Promise<boolean> {
    const live = await client.find(sampledbs, keyOf(db));
    if (!live || live.metadata.uid !== db.metadata.uid) return false;
    return deletionPolicyOf(live.spec) === "Snapshot" && live.status?.deletion?.phase === "Releasing";
  }
}

/** The last primary, alone, where nothing runs. Where instances run, they elect a primary by themselves. */
async function wake(scope: Scope): Promise<void> {
  const { db, observed } = scope;
  if (observed.instances.length > 0 || (observed.range?.count ?? 0) > 0) return;
  await applyInstances(scope, { start: lastPrimary(db, observed) ?? 0, count: 1 });
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
