// A restore in place, on the side of the SampleDB: everything is secured, the instances stop, the Restore's own controller overwrites one
// volume, and the database goes on from it (docs/designs/0012-restores-in-place.md).
import { restoreInPlaceAnnotation } from "../../../api/annotations.ts";
import type { SecuringPhase } from "../../../api/deletion-policy.ts";
import { reasons } from "../../../api/reasons.ts";
import type { RestorePhase } from "../../../api/restore-phase.ts";
import { after, type Result } from "../../../runtime/controller/result.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { ignoreNotFound } from "../../../runtime/kube/errors.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { hasEnded } from "../../database/ended.ts";
import { type RestoreClaim, restoreClaim, restoreClaimOf } from "../../database/in-place.ts";
import { claimName, namesOf, ordinalOf } from "../../desired/names.ts";
import { safetyBackup } from "../../desired/snapshot.ts";
import { findJob } from "../../jobs/runner.ts";
import { type PersistentVolumeClaim, persistentVolumeClaims } from "../../kinds/kubernetes.ts";
import { type Restore, restores } from "../../kinds/sampledb-io.ts";
import { presentArchive } from "../archive/new-archive.ts";
import { settleOrder } from "../orders/settle-order.ts";
import type { Findings, SampleDBStep, Scope } from "../scope.ts";
import { hindranceOf } from "../securing/hindrance.ts";
import { isAwake, lookAgainSeconds, lookAtSecuring, type Secured, secure } from "../securing/securing.ts";
import { dropCheck } from "../securing/securing-jobs.ts";
import { securingPhase } from "../securing/securing-phase.ts";
import { chooseInstance } from "./chosen-instance.ts";
import { startRestored } from "./hand-over.ts";
import { type RestoreInputs, restorePhase } from "./restore-phase.ts";

/** After a phase was stored: no watch reports that write. */
const goOnSeconds = 1;
/** The restored instance starts within seconds, and claims go within seconds. */
const patienceSeconds = 120;

type Told = NonNullable<Findings["restore"]>;

export const restoring: SampleDBStep = async (scope) => {
  const { db, findings } = scope;
  const claim = restoreClaimOf(db);
  if (!claim) return done;
  const restore = restoreOf(scope, claim);
  const secured = lookAtSecuring(scope, { backup: safetyBackup(db, claim.uid), since: restore?.metadata.creationTimestamp ?? "" });
  const stored = storedOf(scope, claim);
  const facts = stored?.podName === undefined ? {} : factsOf(stored);
  const phase = restorePhase(inputsOf(scope, restore, secured, stored));
  const backupName = (stored?.podName === undefined ? undefined : stored.backupName) ?? secured.cause.backup.metadata.name;
  // Chosen when everything has stopped: until then a failover may change who the primary is.
  const chosen = phase === "Restoring" && stored?.podName === undefined ? choose(scope) : facts;
  findings.restore = { restoreName: claim.name, restoreUID: claim.uid, phase, backupName, ...chosen };
  // Every phase from the first overwritten byte on is stored before it is acted on.
  if (!isSecuring(phase) && stored?.phase !== phase) return doneUntil(goOnSeconds);
  if (phase !== "Lifting" && db.metadata.annotations?.[restoreInPlaceAnnotation] !== restoreClaim(claim))
    await settleOrder(scope, restoreInPlaceAnnotation, restoreClaim(claim)); // somebody has removed it
  const result = await goOn(scope, secured, findings.restore);
  tellHindrance(scope, secured, findings.restore, stored);
  return { kind: "done", result };
};

/** Mends only where that is not in the way: a claim that is being replaced must not be made anew too early. */
export function whileRestored(step: SampleDBStep): SampleDBStep {
  const named: SampleDBStep = async (scope) => {
    const phase = scope.findings.restore?.phase ?? "";
    return isAwake(phase) || phase === "Restoring" || phase === "Starting" ? await step(scope) : done;
  };
  return Object.defineProperty(named, "name", { value: step.name });
}

function restoreOf({ deps, key }: Scope, { name, uid }: RestoreClaim): Restore | undefined {
  const found = deps.cache.watched(restores).get({ namespace: key.namespace, name });
  return found?.metadata.uid === uid ? found : undefined;
}

/** What was stored of this Restore, or of an earlier one that has left the data overwritten. */
function storedOf({ db }: Scope, { uid }: RestoreClaim): Told | undefined {
  const told = db.status?.restore;
  return told?.restoreUID === uid || told?.phase === "Overwritten" ? told : undefined;
}

function factsOf({ podName, formerPrimaryPodName, formerStanza }: Told): Partial<Told> {
  return {
    ...(podName === undefined ? {} : { podName }),
    ...(formerPrimaryPodName === undefined ? {} : { formerPrimaryPodName }),
    ...(formerStanza === undefined ? {} : { formerStanza }),
  };
}

function choose(scope: Scope): Partial<Told> {
  const { stanza } = presentArchive(scope) ?? {};
  return { ...chooseInstance(scope), ...(stanza === undefined ? {} : { formerStanza: stanza }) };
}

function inputsOf(scope: Scope, restore: Restore | undefined, secured: Secured, stored: Told | undefined): RestoreInputs {
  const { primary } = scope.observed;
  return {
    stored: stored && isSecuring(stored.phase) ? undefined : stored?.phase,
    secured: securingPhase(secured.inputs),
    restore: standingOf(restore, stored === undefined || stored.backupName === secured.cause.backup.metadata.name),
    alone: stored?.podName === stored?.formerPrimaryPodName,
    leads: primary !== undefined && primary.podName === stored?.podName && primary.ready && primary.takesWrites,
    othersGone: stored !== undefined && goingClaims(scope, stored).length === 0,
  };
}

/** `wasWhole`: no earlier Restore has left the data overwritten. */
function standingOf(restore: Restore | undefined, wasWhole: boolean): RestoreInputs["restore"] {
  if (restore?.status?.systemIdentifier !== undefined) return "filled";
  if (restore && !hasEnded(restore)) return "open";
  return wasWhole && restore?.status?.dataUntouched ? "untouched" : "failed";
}

function isSecuring(phase: RestorePhase): phase is SecuringPhase {
  return isAwake(phase) || phase === "Stopping" || phase === "CheckingArchive";
}

async function goOn(scope: Scope, secured: Secured, told: Told): Promise<Result> {
  const { phase } = told;
  if (isSecuring(phase)) return await secure(scope, secured, phase);
  switch (phase) {
    case "Restoring":
      await dropCheck(scope); // its Pod names the volume of the former primary
      return after(lookAgainSeconds);
    case "Starting":
      return after((await startRestored(scope, told)) ? goOnSeconds : lookAgainSeconds);
    case "Replacing":
      return after((await replaceOthers(scope, told)) ? goOnSeconds : lookAgainSeconds);
    case "Reverting":
      for (const claim of goingClaims(scope, told)) await remove(scope, claim, "release");
      return after(lookAgainSeconds);
    case "Lifting":
      await settleOrder(scope, restoreInPlaceAnnotation, null);
      return after(goOnSeconds);
    default:
      return after(lookAgainSeconds);
  }
}

/** The claims that have to go: after a success those of all others, after a failure the overwritten one. */
function goingClaims({ db, observed }: Scope, { phase, podName }: Told): PersistentVolumeClaim[] {
  const own = claimName(db, ordinalOf(podName ?? ""));
  const all = [...observed.claims.values()];
  return all.filter(({ metadata }) => (phase === "Reverting" ? metadata.name === own : metadata.name !== own));
}

/** The volumes outlive their claims, and the status names them before any claim goes. True where something is to be stored first. */
async function replaceOthers(scope: Scope, told: Told): Promise<boolean> {
  const { db, findings } = scope;
  const claims = goingClaims(scope, told);
  const kept = new Set(db.status?.formerVolumes ?? []);
  const unnamed = claims.flatMap(({ spec }) => (spec?.volumeName && !kept.has(spec.volumeName) ? [spec.volumeName] : []));
  findings.formerVolumes = [...kept, ...unnamed];
  if (unnamed.length > 0) return true;
  for (const claim of claims) await remove(scope, claim, "keep");
  return false;
}

async function remove({ client, deps }: Scope, claim: PersistentVolumeClaim, fate: "keep" | "release"): Promise<void> {
  if (claim.metadata.deletionTimestamp) return;
  await deps.volumes.tell(client, claim, fate);
  await client.delete(persistentVolumeClaims, keyOf(claim), { uid: claim.metadata.uid }).catch(ignoreNotFound);
}

function tellHindrance(scope: Scope, secured: Secured, told: Told, stored: Told | undefined): void {
  const { db, deps, findings } = scope;
  const { phase, backupName } = told;
  if (phase === "Overwritten") {
    const message = `Restore ${told.restoreName} has failed after it had begun to overwrite the only volume; everything from before is in Backup ${backupName}`;
    const remedy = `make another Restore of type InPlace, from Backup ${backupName} or from any other`;
    findings.blockers.push({ reason: reasons.dataOverwritten, message, remedy });
    return;
  }
  const since = stored?.phase === phase ? db.status?.restore?.sinceTime : undefined;
  const words = isSecuring(phase) ? hindranceOf({ phase, ...secured, errors: [] }, since, deps.now()) : late(phase, since, deps.now());
  if (words === undefined || (phase === "Restoring" && hasJob(scope, told))) return;
  const { namespace } = db.metadata;
  const [kind, name] = phase === "Restoring" ? ["Restore", told.restoreName] : ["Pod", told.podName];
  const remedy = isSecuring(phase)
    ? `mend it, and the restore goes on by itself; or take it back: kubectl delete restore ${told.restoreName} --namespace=${namespace}`
    : `look at ${kind} ${name}: kubectl describe ${kind?.toLowerCase()} ${name} --namespace=${namespace}`;
  findings.blockers.push({ reason: reasons.restoreWaits, message: `${phase}: ${words}; nothing is removed meanwhile`, remedy });
}

/** A Job takes its time, and its Restore tells how far it is. */
function hasJob(scope: Scope, { restoreName: name, restoreUID: uid }: Told): boolean {
  const { db, deps, key } = scope;
  const restore = restoreOf(scope, { name, uid });
  return restore !== undefined && findJob(deps.cache, restore, { namespace: key.namespace, name: namesOf(db).restore }) !== undefined;
}

/** What each of these phases waits for. */
const lateWords: Partial<Record<RestorePhase, string>> = {
  Restoring: "the Job that overwrites the volume is not made yet, and its Restore says why",
  Starting: "the restored instance does not lead yet",
  Replacing: "claims of the other instances do not go, because a Pod still names them; if its node is gone for good, delete the Node",
  Reverting: "the claim of the overwritten volume does not go, because a Pod still names it; if its node is gone for good, delete the Node",
};

function late(phase: RestorePhase, since: string | undefined, now: Date): string | undefined {
  const seconds = since === undefined ? 0 : (now.getTime() - Date.parse(since)) / 1000;
  return seconds > patienceSeconds ? lateWords[phase] : undefined;
}
