// No image and no setting reaches an instance that serves before PostgreSQL has started with it in a Pod of its own.
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { instanceAnnotations } from "../../desired/instances.ts";
import { namesOf } from "../../desired/names.ts";
import { trialAnnotation, trialJob, trialSettings } from "../../desired/trial.ts";
import { configMaps, type Job, jobs } from "../../kinds.ts";
import type { SampleDB } from "../../resources.ts";
import { problemOf } from "../instance.ts";
import { isStranded, jobFailed, jobSucceeded, terminationMessage } from "../job.ts";
import type { SampleDBStep, Scope, Trial } from "../scope.ts";

/** A Job that runs brings us back, unless its node is lost. */
const stillRunsSeconds = 30;

export const trial: SampleDBStep = async (scope) => {
  const { choices, observed, findings } = scope;
  const digest = choices.trialDigest;
  const proven = observed.statefulSet?.metadata.annotations?.[instanceAnnotations.proven];
  const hasSomethingToLose = observed.initialized && observed.instances.length > 0;
  if (proven === digest || !hasSomethingToLose) {
    await clearAway(scope);
    findings.trial = { kind: "accepted" };
    return done;
  }
  findings.trial = { kind: "running" }; // also when the next line fails: what is not proven is not accepted
  findings.trial = await tried(scope, digest);
  return findings.trial.kind === "running" ? doneUntil(stillRunsSeconds) : done;
};

async function tried(scope: Scope, digest: string): Promise<Trial> {
  const { db, choices, observed, objects, findings, deps } = scope;
  const job = observed.trialJob;
  const pod = observed.jobPods.get(namesOf(db).trialJob);
  const isEarlier = job?.metadata.annotations?.[trialAnnotation] !== digest;
  if (job && (isEarlier || isStranded(job, pod, deps.now()))) {
    await clearAway(scope); // its end brings us back, for a new one
    return { kind: "running" };
  }
  if (!job) {
    await objects.apply(configMaps, trialSettings(db, digest));
    await objects.apply(jobs, trialJob(db, digest, choices.image, runningResources(scope)));
    return { kind: "running" };
  }
  if (jobSucceeded(job)) return { kind: "accepted" };
  const problem = pod && problemOf(pod);
  if (!jobFailed(job) && !problem) return { kind: "running" };
  const message = jobFailed(job) ? (terminationMessage(pod) ?? failure(job)) : `${problem?.reason}: ${problem?.message}`;
  findings.blockers.push({
    reason: "ChangeRefused",
    message: `the change was tried in a Pod of its own and did not work, so no instance has it: ${message}`,
    remedy: "correct or take back what was changed last (image, resources, placement, postgresql.parameters or hba)",
  });
  return { kind: "refused", message };
}

async function clearAway({ db, observed, objects }: Scope): Promise<void> {
  if (!observed.trialJob) return;
  await objects.remove(jobs, keyOf(observed.trialJob), db);
  await objects.remove(configMaps, keyOf(observed.trialJob), db);
}

function runningResources({ observed }: Scope): SampleDB["spec"]["resources"] {
  return observed.statefulSet?.spec?.template.spec?.containers[0]?.resources as SampleDB["spec"]["resources"];
}

function failure({ status }: Job): string {
  return status?.conditions?.find(({ type }) => type === "Failed")?.message ?? "its Job failed";
}
