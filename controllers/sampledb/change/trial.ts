// No image and no setting reaches an instance that serves before PostgreSQL has started with it in a Pod of its own.
import { instanceAnnotations, trialAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { controllerOf, keyOf } from "../../../runtime/kube/object.ts";
import { problemOf } from "../../database/instance.ts";
import { namesOf } from "../../desired/names.ts";
import { trialJob, trialSettings } from "../../desired/trial.ts";
import { isStranded, jobFailed, jobSucceeded, ranOutOfTries, terminationMessage } from "../../jobs/outcome.ts";
import { configMaps, type Job, jobs } from "../../kinds/kubernetes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import { ownChange } from "../report/readiness.ts";
import { ownTrials, restartWord, type SampleDBStep, type Scope, type Trial } from "../scope.ts";

/** A Job that runs brings us back, unless its node is lost. One that waits for its turn looks again. */
const stillRunsSeconds = 30;
/** What failed without PostgreSQL's word is told, and tried again after this. */
const tryAgainSeconds = 300;
/** Of those that nobody has asked for, in all databases together: a newer operator has one for each. */
const mostOwnTrials = 10;
/** One that can't even start is not waited for any longer. Where it is the image, which is the same for all, they come this slowly. */
const ownTrialSeconds = 600;

export const trial: SampleDBStep = async (scope) => {
  const { db, choices, observed, findings } = scope;
  const { [instanceAnnotations.proven]: proven, [instanceAnnotations.provenFor]: provenFor } =
    observed.statefulSet?.metadata.annotations ?? {};
  const digest = choices.trialDigest;
  // Not whether an instance runs now: the next Pod would be made from what was not tried. One of a SampleDB that had the name before is going.
  const isOurs = observed.statefulSet && controllerOf(observed.statefulSet)?.uid === db.metadata.uid;
  const hasSomethingToLose = observed.initialized && isOurs;
  if (proven === digest || !hasSomethingToLose) {
    await clearAway(scope);
    findings.trial = { kind: "accepted" };
    return done;
  }
  const asked = provenFor !== choices.trialAskedDigest || restartIsOrdered(scope);
  findings.trial = { kind: "running", asked }; // also when the next line fails: what is not proven is not accepted
  if (db.spec.powerState === "Hibernated") {
    await clearAway(scope); // nothing runs while it sleeps, and it wakes as it was
    return done;
  }
  findings.trial = await tried(scope, digest, asked);
  return findings.trial.kind === "accepted" ? done : doneUntil(stillRunsSeconds);
};

/** A restart brings what this version of the operator makes differently, so somebody waits for it. */
function restartIsOrdered({ db, observed }: Scope): boolean {
  return restartWord(db, observed) !== observed.statefulSet?.spec?.template.metadata?.annotations?.[instanceAnnotations.restart];
}

async function tried(scope: Scope, digest: string, asked: boolean): Promise<Trial> {
  const { db, choices, observed, objects, findings, deps } = scope;
  const job = observed.trialJob;
  const pod = observed.jobPods.get(namesOf(db).trialJob);
  const running = { kind: "running", asked } as const;
  const isEarlier = job?.metadata.annotations?.[trialAnnotation] !== digest;
  if (job && (isEarlier || isStranded(job, pod, deps.now()) || isToBeTriedAgain(job, deps.now()))) {
    await clearAway(scope); // its end brings us back, for a new one
    return running;
  }
  if (!job) {
    if (!asked && !isItsTurn(scope)) return running;
    await objects.apply(configMaps, trialSettings(db, digest));
    await objects.apply(jobs, trialJob(db, { digest, image: choices.image, asked, running: runningResources(scope) }));
    return running;
  }
  if (jobSucceeded(job)) return { kind: "accepted" };
  const problem = pod && problemOf(pod);
  if (!jobFailed(job) && !problem) return running;
  const message = jobFailed(job) ? (terminationMessage(pod) ?? failure(job)) : `${problem?.reason}: ${problem?.message}`;
  findings.blockers.push({
    reason: reasons.changeRefused,
    message: `${asked ? "the change" : ownChange} was tried in a Pod of its own and did not work, so no instance has it: ${message}`,
    remedy: asked
      ? "correct or take back what was changed last (image, resources, placement, postgresql.parameters or hba)"
      : "mend what the message names, or go back to the version of the operator that was there before; the database goes on as it was",
  });
  return { kind: "refused", asked, message };
}

function isItsTurn({ deps }: Scope): boolean {
  const since = deps.now().getTime() - ownTrialSeconds * 1000;
  const others = deps.cache.watched(jobs).listBy(ownTrials, ownTrials);
  return others.filter(({ metadata }) => Date.parse(metadata.creationTimestamp ?? "") > since).length < mostOwnTrials;
}

/** Not by PostgreSQL's word: whatever it was may be over. */
function isToBeTriedAgain(job: Job, now: Date): boolean {
  return ranOutOfTries(job) && now.getTime() - Date.parse(failedCondition(job)?.lastTransitionTime ?? "") > tryAgainSeconds * 1000;
}

async function clearAway({ db, observed, objects }: Scope): Promise<void> {
  if (!observed.trialJob) return;
  await objects.remove(jobs, keyOf(observed.trialJob), db);
  await objects.remove(configMaps, keyOf(observed.trialJob), db);
}

function runningResources({ observed }: Scope): SampleDB["spec"]["resources"] {
  return observed.statefulSet?.spec?.template.spec?.containers[0]?.resources as SampleDB["spec"]["resources"];
}

function failure(job: Job): string {
  return failedCondition(job)?.message ?? "its Job failed";
}

function failedCondition({ status }: Job) {
  return status?.conditions?.find(({ type }) => type === "Failed");
}
