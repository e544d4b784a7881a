// Carries out the order for a new password of the application. The password is stored first, then set in PostgreSQL by a Job, and only then
// written to the application's Secret.
import { nextPasswordAnnotation, rotateAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { namesOf } from "../../desired/names.ts";
import { rotationJob } from "../../desired/rotation.ts";
import { hasEnded } from "../../jobs/outcome.ts";
import { findJob, type JobRequest, removeJob, runJob } from "../../jobs/runner.ts";
import { type Pod, pods, type Secret } from "../../kinds/kubernetes.ts";
import { jobHindrance } from "../job-hindrance.ts";
import { imageInUse, jobContext, type SampleDBStep, type Scope } from "../scope.ts";
import { settleOrder } from "./settle-order.ts";

const lookAgainSeconds = 10;
/** A Job that takes longer may have been made for a node, or with an image, that is gone. */
const longestSeconds = 300;

const remedy = "none is needed: it goes on by itself when that is over";

/** Once begun, it goes on even if the order is taken back: PostgreSQL may know the new password already. */
export const rotation: SampleDBStep = async (scope) => {
  const { db, findings, client, deps } = scope;
  const order = db.metadata.annotations?.[rotateAnnotation];
  if (order !== undefined && order !== "app") return await refuse(scope, order);
  const job = findJob(deps.cache, db, rotationKey(scope).key);
  if (order === undefined && !job && !findings.passwordWaits) return done;
  const known = await deps.passwords.nextPassword(db, client);
  const hindrance = known && job ? undefined : await whyNot(scope, known); // needed only where a password or a Job may be made
  const next = known ?? (order && !hindrance ? await deps.passwords.writeNextPassword(db, client) : undefined);
  if (hindrance && !job)
    findings.blockers.push({ reason: reasons.passwordWaits, message: `the application's new password waits: ${hindrance}`, remedy });
  if (next && (job || !hindrance)) await tellPostgres(scope, next, order !== undefined);
  else if (job) await removeJob(jobContext(scope), rotationKey(scope)); // its password was dropped
  return doneUntil(lookAgainSeconds);
};

function rotationKey({ db, key: { namespace } }: Scope): Pick<JobRequest, "key" | "owner"> {
  return { key: { namespace, name: namesOf(db).rotation }, owner: db };
}

function rotationRequest(scope: Scope, next: Secret): JobRequest {
  return {
    ...rotationKey(scope),
    inputs: next.metadata.uid ?? "",
    inputsAnnotation: nextPasswordAnnotation,
    repeatable: true,
    retrySeconds: 0,
    longestSeconds,
    build: () => rotationJob(scope.db, next, imageInUse(scope)),
  };
}

/** Why the password can't be set in PostgreSQL now. */
async function whyNot(scope: Scope, next: Secret | undefined): Promise<string | undefined> {
  if (scope.findings.initialization.kind !== "done") return "its role is not made yet";
  if (!scope.observed.primary?.ready) return "there is no primary to tell";
  const earlier = (await podsNow(scope)).find(
    (pod) => !hasEnded(pod) && pod.metadata.annotations?.[nextPasswordAnnotation] !== next?.metadata.uid,
  );
  // It could set its own password after the application got the new one, and lock the application out.
  return earlier && `Pod ${earlier.metadata.name} of an earlier one has not ended`;
}

/** The Pods of all rotation Jobs, past ones too, from the API server: a cache that is behind may lack the one that matters. */
async function podsNow({ db, key, client }: Scope): Promise<readonly Pod[]> {
  const labelSelector = `batch.kubernetes.io/job-name=${namesOf(db).rotation}`;
  return (await client.list(pods, { namespace: key.namespace, labelSelector })).items;
}

async function tellPostgres(scope: Scope, next: Secret, isOrdered: boolean): Promise<void> {
  const { db, client, deps, findings } = scope;
  const request = rotationRequest(scope, next);
  const { name } = request.key;
  const outcome = await runJob(jobContext(scope), request);
  if (outcome.kind === "succeeded") {
    await deps.passwords.handOver(db, client, next);
    if (isOrdered) await settleOrder(scope, rotateAnnotation, null);
    await end(scope, next);
    const note = `the application's role has a new password, and so has Secret ${db.metadata.name}-app`;
    deps.events.record(db, { type: "Normal", reason: reasons.passwordRotated, action: "Rotate", note });
  } else if (outcome.kind === "refused" && !isOrdered) {
    await end(scope, next); // PostgreSQL has refused it, and the person has taken the order back
  } else if (outcome.kind === "refused") {
    findings.blockers.push({
      reason: reasons.passwordRefused,
      message: outcome.message,
      remedy: `mend what the message names and delete Job ${name}, to have it tried again; or take the annotation ${rotateAnnotation} off`,
    });
  } else {
    const hindrance = jobHindrance(scope, name, outcome);
    if (hindrance) findings.blockers.push({ reason: reasons.passwordWaits, ...hindrance });
  }
}

/**
 * The password goes first. If the operator crashes in between, the next reconcile removes the Job; a password that is left would be set
 * again.
 */
async function end(scope: Scope, next: Secret): Promise<void> {
  await scope.deps.passwords.dropNextPassword(scope.db, scope.client, next);
  await removeJob(jobContext(scope), rotationKey(scope));
}

async function refuse(scope: Scope, order: string) {
  const note = `${rotateAnnotation}=${order} is no order: only the password of app can be changed; the order is dropped`;
  scope.deps.events.record(scope.db, { type: "Warning", reason: reasons.rotationImpossible, action: "Rotate", note });
  await settleOrder(scope, rotateAnnotation, null);
  return done;
}
