// A Restore into the SampleDB that is there. Its SampleDB's own controller secures everything, stops the instances and starts them again; here
// it is claimed, and one of its volumes is overwritten (docs/designs/0012-restores-in-place.md).
import { restoreInPlaceAnnotation } from "../../api/annotations.ts";
import { conditionTypes } from "../../api/conditions.ts";
import { securingPhases } from "../../api/deletion-policy.ts";
import { reasons } from "../../api/reasons.ts";
import { controllerOf, isControlledBy, keyOf } from "../../runtime/kube/object.ts";
import { isGood } from "../database/backups.ts";
import { hasEnded } from "../database/ended.ts";
import { restoreClaim, restoreClaimOf } from "../database/in-place.ts";
import { targetObjection } from "../database/restore-window.ts";
import { heldUp, unfit } from "../database/unfit.ts";
import { namesOf, safetyBackupName } from "../desired/names.ts";
import { secrets } from "../kinds/kubernetes.ts";
import { backups, type SampleDB, sampledbs } from "../kinds/sampledb-io.ts";
import { conditionOf } from "../telling/events.ts";
import { createOwn, firstBackup } from "./hand-over.ts";
import { beginInPlace, followInPlace } from "./run.ts";
import type { Scope } from "./scope.ts";
import { type Found, findSource, refusedFor } from "./source.ts";
import { failed, type RestoreState, waiting } from "./state.ts";
import { notItsTurn } from "./turn.ts";

export async function goOnInPlace(scope: Scope): Promise<RestoreState> {
  const { restore, destination: db, run } = scope;
  if (restore.status?.systemIdentifier !== undefined) return await proven(scope);
  if (!db || !isClaimed(db, scope)) return await claim(scope);
  const told = db.status?.restore;
  if (told?.restoreUID !== restore.metadata.uid || told?.phase !== "Restoring") return securing(scope, db);
  if (run) return outcome(scope, db, await followInPlace(scope, run, db));
  const source = allowedSource(scope);
  if (restore.status?.overwriteTime === undefined) return outcome(scope, db, await mayOverwrite(scope, db, source));
  if (source.kind !== "found") return outcome(scope, db, source);
  return await beginInPlace(scope, source, db, told?.podName ?? "");
}

/** Asked once more, because the claim was made minutes ago. What is stored then allows the Job. */
async function mayOverwrite(scope: Scope, db: SampleDB, source: Found | RestoreState): Promise<RestoreState> {
  if (scope.restore.metadata.deletionTimestamp) return untouched(failed(reasons.restoreLost, "it was deleted"));
  const problem = heldUp(db);
  if (problem !== undefined) return untouched(failed(reasons.destinationUnfit, problem));
  if (source.kind !== "found") return untouched(source);
  return (await notItsTurn(scope, source)) ?? { kind: "overwriting" };
}

const untouched = (state: RestoreState): RestoreState => (state.kind === "failed" ? { ...state, untouched: true } : state);

function isClaimed(db: SampleDB, { restore }: Scope): boolean {
  return restoreClaimOf(db)?.uid === restore.metadata.uid;
}

/** One write, onto the version that everything was checked on: of two Restores at most one gets the SampleDB. */
async function claim(scope: Scope): Promise<RestoreState> {
  const { restore, key, client } = scope;
  const name = restore.spec.destination.sampleDBName;
  const db = await client.find(sampledbs, { namespace: key.namespace, name }); // read live: the cache may be behind this Restore's own claim
  if (db && isClaimed(db, scope)) return securing(scope, db);
  if (restore.status?.safetyBackupName !== undefined)
    return lost(scope, db ? `annotation ${restoreInPlaceAnnotation} of SampleDB ${name} was removed` : `SampleDB ${name} was deleted`);
  const problem = unfit(scope, db);
  if (problem !== undefined || !db) return untouched(failed(reasons.destinationUnfit, problem ?? ""));
  const source = allowedSource(scope);
  if (source.kind !== "found") return untouched(source);
  const waits = (await notOver(scope, db)) ?? (await notItsTurn(scope, source));
  if (waits) return waits;
  const { uid, resourceVersion } = db.metadata;
  const annotations = { [restoreInPlaceAnnotation]: restoreClaim({ name: restore.metadata.name, uid: restore.metadata.uid ?? "" }) };
  await client.mergePatch(sampledbs, keyOf(db), { metadata: { uid, resourceVersion, annotations } });
  return securing(scope, db);
}

/** An earlier Restore lifts the SampleDB before its own end, and until then its objects have the names of this one's. */
async function notOver({ restore, rivals, client, key }: Scope, db: SampleDB): Promise<RestoreState | undefined> {
  const until = (what: string) => waiting(reasons.destinationTaken, `${what}: it begins when that is over`);
  const earlier = rivals.find((rival) => rival.status?.startTime !== undefined && !hasEnded(rival));
  if (earlier) return until(`Restore ${earlier.metadata.name} into SampleDB ${db.metadata.name} has not ended`);
  const left = await client.find(secrets, { namespace: key.namespace, name: namesOf(db).restore });
  if (!left || isControlledBy(left, restore)) return undefined;
  return until(`Secret ${left.metadata.name} of Restore ${controllerOf(left)?.name} is still there`);
}

function lost({ restore }: Scope, message: string): RestoreState {
  return failed(reasons.restoreLost, message, { untouched: restore.status?.overwriteTime === undefined });
}

/** Looks for the source without this Restore's own safety Backup: that is newer than the Restore, so the person did not mean it. */
function allowedSource(scope: Scope): Found | RestoreState {
  const { restore, deps } = scope;
  const earlier = scope.backups.filter(({ metadata }) => metadata.name !== restore.status?.safetyBackupName);
  const source = findSource({ ...scope, backups: earlier });
  if (source.kind === "unread") throw new Error("a Restore in place has a Backup as its source");
  if (source.kind !== "found") return source;
  const objection = targetObjection(restore.spec, { ...scope, backups: earlier }, deps.now());
  if (objection) return refusedFor(objection);
  // Of all others the Job finds the right one itself, by the target.
  const newest = restore.spec.target.type === "Immediate" ? earlier.filter(isGood).at(-1)?.status?.label : undefined;
  return { ...source, source: { ...source.source, label: source.source.label ?? newest ?? null } };
}

function securing({ restore }: Scope, db: SampleDB): RestoreState {
  const earlier = db.status?.restore?.phase === "Overwritten" ? db.status.restore.backupName : undefined;
  return { kind: "securing", message: toldBy(db), safetyBackupName: earlier ?? safetyBackupName(db, restore.metadata.uid ?? "") };
}

function toldBy({ metadata: { name }, status }: SampleDB): string {
  const ready = conditionOf(status, conditionTypes.ready);
  return ready?.reason === reasons.restoringInPlace ? `SampleDB ${name}: ${ready.message}` : `SampleDB ${name} is being stopped for it`;
}

/** A failure, with what becomes of the data. */
function outcome({ restore }: Scope, db: SampleDB, state: RestoreState): RestoreState {
  if (state.kind !== "failed") return state;
  const { podName, formerPrimaryPodName, backupName } = db.status?.restore ?? {};
  // Where an earlier Restore has overwritten the data, a failure of this one leaves it so.
  const wasWhole = backupName === safetyBackupName(db, restore.metadata.uid ?? "");
  if (wasWhole && state.untouched) return { ...state, message: `${state.message}. Nothing was overwritten: the database starts again` };
  const message =
    podName === formerPrimaryPodName
      ? `${state.message}. The only volume is overwritten: make another Restore of type InPlace, from Backup ${backupName} or any other`
      : `${state.message}. Instance ${formerPrimaryPodName} starts again with the data from before, and ${podName} is made anew`;
  return { ...state, untouched: false, message };
}

/** The data is whole. It is proven when the SampleDB is lifted from this Restore, and serves. */
async function proven(scope: Scope): Promise<RestoreState> {
  const { restore, destination: db } = scope;
  const { startTime = "" } = restore.status ?? {};
  if (!db || Date.parse(db.metadata.creationTimestamp ?? "") > Date.parse(startTime))
    return lost(scope, `SampleDB ${restore.spec.destination.sampleDBName} was deleted`);
  // The next Restore may have the SampleDB already.
  if (isClaimed(db, scope) || db.status?.restore?.restoreUID === restore.metadata.uid)
    return { kind: "starting", firstBackupName: undefined, message: toldBy(db) };
  const serves = conditionOf(db.status, conditionTypes.primaryAvailable);
  if (serves?.status !== "True") {
    const message = `SampleDB ${db.metadata.name} has the restored data; it is not proven before it serves: ${serves?.message}`;
    return { kind: "starting", firstBackupName: undefined, message };
  }
  const first = firstBackup(restore.metadata.uid ?? "", db);
  await createOwn(scope, backups, first);
  return { kind: "succeeded", firstBackupName: first.metadata.name };
}

function isSecuring(phase: string | undefined): boolean {
  return (securingPhases as readonly (string | undefined)[]).includes(phase);
}

/**
 * Whether a Restore that is being deleted may go. While everything is only being secured, the SampleDB is taken back. The write fails where the
 * phase has changed meanwhile. Later the Restore stays until the SampleDB is lifted: a SampleDB whose Restore is gone must take its volume for
 * overwritten. Before the first byte the Restore says that there is none; after it, it goes on to its end: half a volume is of use to nobody.
 */
export async function letGo(scope: Scope): Promise<boolean> {
  const { restore, destination: db, client } = scope;
  if (!db || !isClaimed(db, scope)) return true;
  const told = db.status?.restore;
  if (told?.phase === "Overwritten") return true;
  if (told?.restoreUID === restore.metadata.uid && !isSecuring(told?.phase)) return false;
  const { uid, resourceVersion } = db.metadata;
  const annotations = { [restoreInPlaceAnnotation]: null };
  await client.mergePatch(sampledbs, keyOf(db), { metadata: { uid, resourceVersion, annotations } });
  return true;
}
