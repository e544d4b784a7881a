// The Job of a Backup: begun, followed, and released. One Job name for each repository is the lock, so at most one run works on it.
import { taskAnnotation } from "../../api/annotations.ts";
import { reasons } from "../../api/reasons.ts";
import { ignoreNotFound } from "../../runtime/kube/errors.ts";
import { isControlledBy, keyOf } from "../../runtime/kube/object.ts";
import { certificateName } from "../database/certificates.ts";
import { lostNode } from "../database/instance.ts";
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
import { type Archived, majorIn, pgBackRestFile, stanzaIn } from "../desired/store.ts";
import { outcomeOf } from "../jobs/outcome.ts";
import { type FoundJob, removeJob } from "../jobs/runner.ts";
import { configMaps, jobs, secrets } from "../kinds/kubernetes.ts";
import { phases, type RunProgress } from "../repository/run-progress.ts";
import { parseRunEnd } from "./run-end.ts";
import { jobContext, type Scope } from "./scope.ts";
import { type BackupState, failed, waiting } from "./state.ts";

/** The program's own deadline is the Job's. The certificate outlives it by a little. */
const certificateLifetimeMs = (longestRunSeconds + 600) * 1000;
/** Less than by how much a certificate outlives its run. */
const freshMs = 300_000;
/** A Pod that can't start for this long waits for a person. */
const longestStuckSeconds = 600;
/** A node may be back after a moment. Together with what Kubernetes takes to notice, less than two minutes. */
const lostSeconds = 40;
const askAgainSeconds = 10;

/** What a Job is to do, as far as the caller chooses it. */
export type Task = { readonly task: "backup" } | { readonly task: "adopt" } | { readonly task: "expire"; readonly label: string };

/** Makes the Job. The certificate and the ConfigMap come first: the Pod mounts them. */
export async function begin(scope: Scope, db: Archived, task: Task): Promise<BackupState> {
  const { backup, objects, deps, repository } = scope;
  const certificate = await deps.authority.certificateForBackup(identityOf(db), certificateLifetimeMs);
  if (!certificate) return waiting(reasons.databaseDown, `the certificates of SampleDB ${db.metadata.name} are not known yet`);
  const stanza = stanzaIn(repository?.data?.[pgBackRestFile] ?? "");
  const common = { stanza, uid: backup.metadata.uid ?? "", operator: certificateName(identityOf(db), "operator") };
  const run: Run =
    task.task === "backup"
      ? { ...common, ...task, type: pgBackRestType[backup.spec.type], instances: instancesOf(scope, db) }
      : { ...common, ...task };
  await writeCertificate(scope, db, { bundle: certificate.authorities, ...certificate });
  await objects.apply(configMaps, backupConfig(backup, db, run, repository?.data?.[pgBackRestFile] ?? ""));
  await objects.apply(jobs, backupJob(backup, db, run, ownImage(deps.images, majorIn(stanza))));
  return { kind: "running", reason: reasons.runPreparing, message: "its Pod is being made" };
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
 * A certificate that an earlier run left belongs to another Backup, or is old, and is replaced. One that this Backup's own beginning has just
 * left is used: an operator that is killed after each of its writes gets on.
 */
async function writeCertificate({ backup, client, deps }: Scope, db: Archived, served: Parameters<typeof backupSecret>[2]): Promise<void> {
  const secret = backupSecret(backup, db, served);
  const before = await client.find(secrets, keyOf(secret));
  if (before) {
    refuseForeign(before, db.metadata.name);
    const age = deps.now().getTime() - Date.parse(before.metadata.creationTimestamp ?? "");
    if (isControlledBy(before, backup) && age < freshMs) return;
    const { uid, resourceVersion } = before.metadata;
    await client.delete(secrets, keyOf(before), { uid, resourceVersion }).catch(ignoreNotFound);
  }
  await client.create(secrets, secret);
}

/** How the Job stands. `lost` where its Pod is gone without a word: then only the repository knows what became of the backup. */
export function follow(scope: Scope, { job, pod }: FoundJob): BackupState | "lost" | "expired" {
  const { deps, db } = scope;
  const now = deps.now();
  const lostId = `${job.metadata.uid}/lost`;
  const outcome = outcomeOf(job, pod, now);
  switch (outcome.kind) {
    case "running": {
      if (pod && lostNode(pod))
        return deps.patience.seconds(lostId) < lostSeconds ? preparing(`node ${pod.spec?.nodeName} of its Pod does not answer`) : "lost";
      deps.patience.end(lostId);
      return progressing(
        db && deps.progress.look(job.metadata.uid ?? "", deps.progressQuestion(identityOf(db), pod), askAgainSeconds)?.answer,
      );
    }
    case "stuck": {
      const seconds = (now.getTime() - Date.parse(job.metadata.creationTimestamp ?? "")) / 1000;
      const message = `its Pod does not start: ${outcome.problem.message || outcome.problem.reason}`;
      return seconds > longestStuckSeconds ? failed(reasons.backupStuck, message) : preparing(message);
    }
    case "stranded":
      return "lost";
    default: {
      const end = parseRunEnd(outcome.message);
      if (!end) return "lost";
      if (end.outcome === "expired") return "expired";
      return end.outcome === "succeeded" ? { kind: "succeeded", end } : failed(end.reason, end.message);
    }
  }
}

const preparing = (message: string): BackupState => ({ kind: "running", reason: reasons.runPreparing, message });

function progressing(progress: RunProgress | undefined): BackupState {
  return { kind: "running", ...phases[progress?.phase ?? "Preparing"], progress };
}

export function taskOf({ job }: FoundJob): string | undefined {
  return job.metadata.annotations?.[taskAnnotation];
}

/** Frees the lock. The Job goes last: if the operator stops in between, the Job that is left brings it back here. */
export async function release(scope: Scope, { job }: FoundJob): Promise<void> {
  const { backup, client, objects, deps } = scope;
  const database = { metadata: { ...scope.key, name: backup.spec.sampleDBName } };
  const key = { namespace: scope.key.namespace, name: namesOf(database).backup };
  const certificate = await client.find(secrets, key);
  if (certificate && isControlledBy(certificate, backup))
    await client.delete(secrets, key, { uid: certificate.metadata.uid }).catch(ignoreNotFound);
  await objects.remove(configMaps, key, backup);
  await removeJob(jobContext(scope), { key, owner: backup });
  deps.progress.forget(job.metadata.uid ?? "");
}
