// A new password for the application on a person's word: it is written down, PostgreSQL is told, and only then the Secret changes hands.
import { nextPasswordAnnotation, rotateAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { namesOf } from "../../desired/names.ts";
import { rotationJob } from "../../desired/rotation.ts";
import { hasEnded, hindranceOf, isStranded, jobFailed, jobSucceeded, ranOutOfTries, terminationMessage } from "../../jobs/outcome.ts";
import { type Job, jobs, type Pod, pods, type Secret } from "../../kinds/kubernetes.ts";
import { imageInUse, type SampleDBStep, type Scope } from "../scope.ts";
import { settleOrder } from "./settle-order.ts";

const lookAgainSeconds = 10;
/** What takes longer was made for a node or with an image that there is not. Done twice, it is the same. */
const patienceSeconds = 300;

const remedy = "none is needed: it goes on by itself when that is over";

/** Once begun it goes on without the order: PostgreSQL may know the new password already. */
export const rotation: SampleDBStep = async (scope) => {
  const { db, observed, findings, client, deps } = scope;
  const order = db.metadata.annotations?.[rotateAnnotation];
  if (order !== undefined && order !== "app") return await refuse(scope, order);
  if (order === undefined && !observed.rotationJob && !findings.passwordWaits) return done;
  const known = await deps.credentials.nextPassword(db, client);
  const job = observed.rotationJob;
  const hindrance = known && job ? undefined : await whyNot(scope, known); // asked only where a password or a Job may be made
  const next = known ?? (order && !hindrance ? await deps.credentials.writeNextPassword(db, client) : undefined);
  if (job && job.metadata.annotations?.[nextPasswordAnnotation] !== next?.metadata.uid) await remove(scope, job);
  else if (job && next) await follow(scope, job, next, order !== undefined);
  else if (hindrance)
    findings.blockers.push({ reason: reasons.passwordWaits, message: `the application's new password waits: ${hindrance}`, remedy });
  else if (next) await scope.objects.apply(jobs, rotationJob(db, next, imageInUse(scope)));
  return doneUntil(lookAgainSeconds);
};

/** Why PostgreSQL can't be told now. */
async function whyNot(scope: Scope, next: Secret | undefined): Promise<string | undefined> {
  if (scope.findings.initialization.kind !== "done") return "its role is not made yet";
  if (!scope.observed.primary?.ready) return "there is no primary to tell";
  const earlier = (await podsNow(scope)).find(
    (pod) => !hasEnded(pod) && pod.metadata.annotations?.[nextPasswordAnnotation] !== next?.metadata.uid,
  );
  // It would set its password after the new one was handed over.
  return earlier && `Pod ${earlier.metadata.name} of an earlier one has not ended`;
}

/** Of every Job there was, asked of the API server: a cache that is behind may not have the one that matters. */
async function podsNow({ db, key, client }: Scope): Promise<readonly Pod[]> {
  const labelSelector = `batch.kubernetes.io/job-name=${namesOf(db).rotation}`;
  return (await client.list(pods, { namespace: key.namespace, labelSelector })).items;
}

async function follow(scope: Scope, job: Job, next: Secret, isOrdered: boolean): Promise<void> {
  const { db, client, deps, observed, findings } = scope;
  const { name } = job.metadata;
  const pod = observed.jobPods.get(name);
  if (jobSucceeded(job)) {
    await deps.credentials.handOver(db, client, next);
    if (isOrdered) await settleOrder(scope, rotateAnnotation, null);
    await end(scope, job, next);
    const note = `the application's role has a new password, and so has Secret ${db.metadata.name}-app`;
    deps.events.record(db, { type: "Normal", reason: reasons.passwordRotated, action: "Rotate", note });
  } else if (isHopeless(scope, job, pod)) {
    await remove(scope, job); // its end brings us back, with a new one
  } else if (jobFailed(job) && !isOrdered) {
    await end(scope, job, next); // PostgreSQL has refused it, and nobody wants it any more
  } else if (jobFailed(job)) {
    findings.blockers.push({
      reason: reasons.passwordRefused,
      message: terminationMessage(pod) ?? `Job ${name} failed`,
      remedy: `mend what the message names and delete Job ${name}, to have it tried again; or take the annotation ${rotateAnnotation} off`,
    });
  } else {
    const hindrance = hindranceOf(observed, name);
    if (hindrance) findings.blockers.push({ reason: reasons.passwordWaits, ...hindrance });
  }
}

/** Another one may fare better. */
function isHopeless({ deps }: Scope, job: Job, pod: Pod | undefined): boolean {
  if (jobFailed(job)) return ranOutOfTries(job);
  const seconds = deps.durations.seconds(`${job.metadata.uid}/rotation`); // whether it has a Pod is counted by its uid alone
  return isStranded(job, pod, deps.now()) || seconds > patienceSeconds;
}

/** The password first: a Job that is left goes the next time, and a password that is left would be set anew. */
async function end(scope: Scope, job: Job, next: Secret): Promise<void> {
  await scope.deps.credentials.dropNextPassword(scope.db, scope.client, next);
  await remove(scope, job);
}

async function remove({ db, objects }: Scope, job: Job | undefined): Promise<void> {
  if (job) await objects.remove(jobs, keyOf(job), db);
}

async function refuse(scope: Scope, order: string) {
  const note = `${rotateAnnotation}=${order} is no order: only the password of app can be changed; the order is dropped`;
  scope.deps.events.record(scope.db, { type: "Warning", reason: reasons.rotationImpossible, action: "Rotate", note });
  await settleOrder(scope, rotateAnnotation, null);
  return done;
}
