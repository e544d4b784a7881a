// The Job of a Restore: begun, followed, and undone where it failed.
import { restoredByAnnotation, restoreFoundAnnotation } from "../../api/annotations.ts";
import { reasons } from "../../api/reasons.ts";
import { Occupied } from "../../runtime/controller/objects.ts";
import { AlreadyExists, Forbidden, Invalid, ignoreNotFound } from "../../runtime/kube/errors.ts";
import { isControlledBy, type Key, keyOf } from "../../runtime/kube/object.ts";
import { certificateName } from "../database/certificates.ts";
import { belongsTo, identityOf } from "../desired/identity.ts";
import { claimName, namesOf, ordinalOf } from "../desired/names.ts";
import { ownImage } from "../desired/own-image.ts";
import {
  longestRestoreSeconds,
  type RestoreSource,
  restoreConfig,
  restoredClaim,
  restoredDatabase,
  restoreJob,
  restoreSecret,
} from "../desired/restore.ts";
import { majorIn } from "../desired/store.ts";
import { certificateLifetimeMs, followRun, type RunStanding, releaseRun } from "../jobs/run.ts";
import type { FoundJob } from "../jobs/runner.ts";
import { configMaps, jobs, persistentVolumeClaims, secrets } from "../kinds/kubernetes.ts";
import { type SampleDB, sampledbs } from "../kinds/sampledb-io.ts";
import { phases } from "../repository/run-progress.ts";
import { takenBy } from "./destination.ts";
import { parseRestoreEnd } from "./run-end.ts";
import type { Scope } from "./scope.ts";
import type { Found } from "./source.ts";
import { destinationOf } from "./source.ts";
import { failed, type RestoreState } from "./state.ts";

/** Within these the first Job, and its first Pod, are made. */
const firstJobMs = 30_000;
const firstPodMs = 10_000;

/** Everything that the Job's Pod mounts comes first. The claim is the first of all: whoever makes it has the name. */
export async function begin(scope: Scope, { source, spec }: Found): Promise<RestoreState> {
  const { restore, client, deps } = scope;
  const db = destinationOf(restore, spec);
  const database = identityOf(db);
  const problem = (await refusal(scope, db)) ?? (await takeName(scope, db));
  if (problem) return problem;
  const { authorities } = await deps.authority.ensure(database, client, []);
  await deps.passwords.ensure(db, client, { authorities, hasData: false });
  return await makeJob(scope, db, source, 0);
}

/** Onto the volume of this instance, which is stopped. A Job that somebody has deleted is made anew: its program goes on where it was. */
export async function beginInPlace(scope: Scope, { source }: Found, db: SampleDB, podName: string): Promise<RestoreState> {
  return await makeJob(scope, db, source, ordinalOf(podName));
}

async function makeJob(scope: Scope, db: SampleDB, source: RestoreSource, ordinal: number): Promise<RestoreState> {
  const { restore, objects, deps } = scope;
  const database = identityOf(db);
  const certificate = await deps.authority.certificateForBackup(database, certificateLifetimeMs(longestRestoreSeconds));
  if (!certificate) throw new Error(`the authority of ${database.name} has no key`);
  await writeCertificate(scope, db, { bundle: certificate.authorities, ...certificate });
  await objects.apply(configMaps, restoreConfig(restore, db, source, certificateName(database, "operator")));
  await objects.apply(jobs, restoreJob(restore, db, source, { image: ownImage(deps.images, majorIn(source.stanza)), ordinal }));
  return { kind: "running", ...phases.Preparing };
}

/** Asked before hours of copying: the API server has rules of its own, and so may the cluster's administrators. */
async function refusal({ client, restore }: Scope, db: SampleDB): Promise<RestoreState | undefined> {
  try {
    await client.tryCreate(sampledbs, restoredDatabase(restore.metadata.uid ?? "", db));
    return undefined;
  } catch (error) {
    if (!(error instanceof Invalid || error instanceof Forbidden)) throw error;
    return failed(reasons.sourceBad, `the SampleDB that would be made is refused: ${error.message}`);
  }
}

async function takeName({ restore, client }: Scope, db: SampleDB): Promise<RestoreState | undefined> {
  const found: string[] = [];
  for (const name of secretNames(db)) if (await client.find(secrets, keyIn(db, name))) found.push(name);
  try {
    await client.create(persistentVolumeClaims, restoredClaim(restore, db, found));
  } catch (error) {
    if (!(error instanceof AlreadyExists)) throw error;
    const there = await client.get(persistentVolumeClaims, keyIn(db, claimName(db, 0)));
    if (!isControlledBy(there, restore)) return takenBy(there, db.metadata.name);
  }
  return undefined;
}

async function writeCertificate({ restore, client }: Scope, db: SampleDB, served: Parameters<typeof restoreSecret>[2]): Promise<void> {
  const secret = restoreSecret(restore, db, served);
  const before = await client.find(secrets, keyOf(secret));
  if (before && !isControlledBy(before, restore))
    throw new Occupied(`Secret ${before.metadata.name} is there already and was not made for this Restore`);
  if (!before) await client.create(secrets, secret);
}

export async function follow(scope: Scope, run: FoundJob): Promise<RestoreState> {
  const { deps, key, restore } = scope;
  const database = { ...key, name: restore.spec.destination.sampleDBName, uid: restore.metadata.uid ?? "" };
  return stateOf(await followRun(scope, deps, run, database));
}

export async function followInPlace(scope: Scope, run: FoundJob, db: SampleDB): Promise<RestoreState> {
  const { deps, restore } = scope;
  const stands = await followRun(scope, deps, run, identityOf(db));
  const state = stateOf(stands);
  // Never of a Pod that was lost: on a node that only the API server can't reach, a container may have begun to overwrite.
  const isUntouched = stands.kind === "stuck" && neverRan(run, restore.status?.overwriteTime);
  return state.kind === "failed" && isUntouched ? { ...state, untouched: true } : state;
}

function stateOf(stands: RunStanding): RestoreState {
  if (stands.kind === "running") return stands;
  if (stands.kind !== "ended") return failed(reasons.restoreLost, stands.message);
  const end = parseRestoreEnd(stands.words);
  if (!end) return failed(reasons.restoreLost, `its Pod ended without a word: ${stands.words}`);
  return end.outcome === "succeeded" ? { kind: "filled", end } : failed(end.reason, end.message, end);
}

/** Only of the first Pod of the first Job: what an earlier one has done, nobody knows. */
function neverRan({ job, pod }: FoundJob, begun: string | undefined): boolean {
  const at = (time: string | undefined) => Date.parse(time ?? "");
  const { creationTimestamp } = job.metadata;
  const isFirst = pod ? at(pod.metadata.creationTimestamp) - at(creationTimestamp) < firstPodMs : !job.status?.failed;
  const containers = [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])];
  const isFirstJob = at(creationTimestamp) - at(begun) < firstJobMs;
  return isFirstJob && isFirst && !containers.some(({ state, lastState }) => state?.running || state?.terminated || lastState?.terminated);
}

/** Removes the Job with its ConfigMap and its certificate. */
export async function release(scope: Scope): Promise<void> {
  const { namespace } = scope.key;
  const { restore } = namesOf({ metadata: { namespace, name: scope.restore.spec.destination.sampleDBName } });
  await releaseRun(scope, scope.deps, { key: { namespace, name: restore }, owner: scope.restore, run: scope.run });
}

/** Removes everything that this Restore made under the destination's name. The claim goes last: it says what was there before. */
export async function undo(scope: Scope): Promise<void> {
  const { restore, client, deps } = scope;
  const database = { metadata: { namespace: scope.key.namespace, name: restore.spec.destination.sampleDBName } };
  const claim = await client.find(persistentVolumeClaims, keyIn(database, claimName(database, 0)));
  if (!claim || !isControlledBy(claim, restore)) return;
  const found = new Set((claim.metadata.annotations?.[restoreFoundAnnotation] ?? "").split(","));
  const names = namesOf(database);
  for (const name of secretNames(database).filter((name) => !found.has(name))) {
    const secret = await client.find(secrets, keyIn(database, name));
    if (secret && belongsTo(database, secret))
      await client.delete(secrets, keyOf(secret), { uid: secret.metadata.uid }).catch(ignoreNotFound);
  }
  if (!found.has(names.certificateSecret)) {
    const identity = { ...database.metadata, uid: restore.metadata.uid ?? "" };
    await client.delete(secrets, deps.authority.keySecret(identity)).catch(ignoreNotFound);
    deps.authority.forget(identity);
  }
  for (const name of [names.dynamicConfig, names.leader]) {
    const state = await client.find(configMaps, keyIn(database, name));
    if (state && state.metadata.annotations?.[restoredByAnnotation] === restore.metadata.uid)
      await client.delete(configMaps, keyOf(state), { uid: state.metadata.uid }).catch(ignoreNotFound);
  }
  const { uid } = claim.metadata;
  await client.delete(persistentVolumeClaims, keyOf(claim), { uid }).catch(ignoreNotFound);
}

/** The Secrets of a database that a Restore makes where they are missing. */
function secretNames(db: Pick<SampleDB, "metadata">): string[] {
  const { superuserSecret, replicationSecret, applicationSecret, certificateSecret } = namesOf(db);
  return [superuserSecret, replicationSecret, applicationSecret, certificateSecret];
}

function keyIn({ metadata: { namespace = "" } }: Pick<SampleDB, "metadata">, name: string): Key {
  return { namespace, name };
}
