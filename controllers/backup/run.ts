// The Job of a Backup: begun, followed, and released. One Job name for each repository is the lock, so at most one run works on it.
import { taskAnnotation } from "../../api/annotations.ts";
import { reasons } from "../../api/reasons.ts";
import { AlreadyExists, ignoreNotFound } from "../../runtime/kube/errors.ts";
import { isControlledBy, keyOf } from "../../runtime/kube/object.ts";
import { certificateName } from "../database/certificates.ts";
import { refuseForeign } from "../database/secrets.ts";
import {
  backupConfig,
  backupJob,
  backupSecret,
  hostOf,
  longestRunSeconds,
  pgBackRestType,
  type Run,
  type RunInstance,
} from "../desired/backup.ts";
import { identityOf } from "../desired/identity.ts";
import { namesOf } from "../desired/names.ts";
import { ownImage } from "../desired/own-image.ts";
import { type Archived, isStanza, majorIn, pgBackRestFile, stanzaIn, uidIn } from "../desired/store.ts";
import { waitingBecause } from "../jobs/refused.ts";
import { certificateLifetimeMs, followRun, releaseRun } from "../jobs/run.ts";
import type { FoundJob } from "../jobs/runner.ts";
import { configMaps, jobs, secrets } from "../kinds/kubernetes.ts";
import type { Backup } from "../kinds/sampledb-io.ts";
import { packSpec } from "../repository/packed-spec.ts";
import { parseRunEnd } from "./run-end.ts";
import type { Scope } from "./scope.ts";
import { type BackupState, failed, waiting } from "./state.ts";

/** Less than by how much a certificate outlives its run. */
const freshMs = 300_000;

/** What a Job is to do, as far as the caller chooses it. */
export type Task =
  | { readonly task: "backup" | "adopt" }
  /** `dependents`: Backups that build on it and go with it. */
  | { readonly task: "expire"; readonly dependents: readonly Backup[] };

/** Makes the Job, or says why it can't be made. Then nothing is left: other Backups use the same names. */
export async function begin(scope: Scope, db: Archived, task: Task): Promise<BackupState> {
  const state = await make(scope, db, task).catch(async (error: unknown) => {
    const refused = waitingBecause(error);
    await release(scope, undefined);
    return refused;
  });
  if (state.kind === "waiting") scope.deps.permits.giveBack(scope.backup.metadata.uid ?? "");
  return state;
}

/** The certificate and the ConfigMap come first: the Pod mounts them. */
async function make(scope: Scope, db: Archived, task: Task): Promise<BackupState> {
  const { backup, objects, deps, repository } = scope;
  const certificate = await deps.authority.certificateForBackup(identityOf(db), certificateLifetimeMs(longestRunSeconds));
  if (!certificate) return waiting(reasons.databaseDown, `the certificates of SampleDB ${db.metadata.name} are not known yet`);
  const current = repository?.data?.[pgBackRestFile] ?? "";
  const configuration = task.task === "backup" ? current : configurationFor(backup, db, current);
  const stanza = stanzaIn(configuration);
  const common = { stanza, uid: backup.metadata.uid ?? "", operator: certificateName(identityOf(db), "operator") };
  const run = { ...common, ...askedOf(scope, db, task, stanzaIn(current)) };
  if (!(await writeCertificate(scope, db, { bundle: certificate.authorities, ...certificate })))
    return waiting(reasons.backupWaits, "it waits for the end of another run, which has just begun");
  await objects.apply(configMaps, backupConfig(backup, db, run, configuration));
  await objects.apply(jobs, backupJob(backup, db, run, ownImage(deps.images, majorIn(stanza))));
  return { kind: "running", reason: reasons.runPreparing, message: "its Pod is being made" };
}

type Asked<Of = Run> = Of extends Run ? Omit<Of, "stanza" | "uid" | "operator"> : never;

function askedOf(scope: Scope, db: Archived, task: Task, currentStanza: string): Asked {
  const { spec, status } = scope.backup;
  switch (task.task) {
    case "backup":
      return { task: "backup", type: pgBackRestType[spec.type], instances: instancesOf(scope, db), spec: packSpec(db.spec) };
    case "adopt":
      return { task: "adopt" };
    case "expire": {
      const dependents = task.dependents.flatMap((each) => each.status?.label ?? []);
      return { task: "expire", label: status?.label, dependents, currentStanza };
    }
  }
}

/** The repository's configuration for the archive in which this Backup lies: an earlier one, where the archive began anew since then. */
function configurationFor({ status }: Backup, db: Archived, current: string): string {
  const stanza = status?.repository?.stanza ?? "";
  if (!isStanza(stanza)) return current;
  const folder = current.replaceAll(db.metadata.uid ?? "", uidIn(stanza)); // in a bucket, each SampleDB has its own
  return folder.replace(/\[[^\]]+\]\s*$/, `[${stanza}]\n`);
}

/** Only living ones: pgBackRest waits for minutes for one that does not answer. The primary comes first. */
function instancesOf({ observed: { instances, primary } }: Scope, db: Archived): RunInstance[] {
  const fit = instances.filter(({ ordinal, ready, streaming, going }) => ordinal !== primary?.ordinal && ready && streaming && !going);
  const [replica] = fit.filter(({ problem }) => problem === undefined);
  return [
    ...(primary ? [{ host: hostOf(db, primary.ordinal), primary: true }] : []),
    ...(replica ? [{ host: hostOf(db, replica.ordinal), primary: false }] : []),
  ];
}

/**
 * False where another Backup's run begins at the same moment: its Job, which is the lock, may not be in the cache yet, and its Pod needs its
 * certificate. An old one was left by a run that is over, and is replaced. One that this Backup's own beginning has just left is used: an
 * operator that is killed after each of its writes gets on.
 */
async function writeCertificate(
  { backup, client, deps }: Scope,
  db: Archived,
  served: Parameters<typeof backupSecret>[2],
): Promise<boolean> {
  const secret = backupSecret(backup, db, served);
  const before = await client.find(secrets, keyOf(secret));
  if (before) {
    refuseForeign(before, db.metadata.name);
    const age = deps.now().getTime() - Date.parse(before.metadata.creationTimestamp ?? "");
    if (age < freshMs) return isControlledBy(before, backup);
    const { uid, resourceVersion } = before.metadata;
    await client.delete(secrets, keyOf(before), { uid, resourceVersion }).catch(ignoreNotFound);
  }
  return await client.create(secrets, secret).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AlreadyExists) return false;
      throw error;
    },
  );
}

/** How the Job stands. `lost` where its Pod is gone without a word, or was told to end: then only the repository knows what became of the backup. */
export async function follow(scope: Scope, run: FoundJob): Promise<BackupState | "lost" | "expired"> {
  const { deps, db } = scope;
  const stands = await followRun(scope, deps, run, db && identityOf(db));
  if (stands.kind === "running") return stands;
  if (stands.kind === "stuck") return failed(reasons.backupStuck, stands.message);
  const end = stands.kind === "ended" ? parseRunEnd(stands.words) : undefined;
  if (!end) return "lost";
  if (end.outcome === "expired") return "expired";
  return end.outcome === "succeeded" ? { kind: "succeeded", end } : failed(end.reason, end.message);
}

export function taskOf({ job }: FoundJob): string | undefined {
  return job.metadata.annotations?.[taskAnnotation];
}

/** Frees the lock. */
export async function release(scope: Scope, run: FoundJob | undefined): Promise<void> {
  const { namespace } = scope.key;
  const { backup } = namesOf({ metadata: { namespace, name: scope.backup.spec.sampleDBName } });
  await releaseRun(scope, scope.deps, { key: { namespace, name: backup }, owner: scope.backup, run });
}
