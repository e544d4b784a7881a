// What a Job and its Pod say of how it went.
import { controllerOf } from "../../runtime/kube/object.ts";
import { problemOf } from "../database/instance.ts";
import type { Job, Pod } from "../kinds/kubernetes.ts";
import type { Blocker, Observed } from "../sampledb/scope.ts";

export function jobSucceeded({ status }: Job): boolean {
  return has(status, "Complete");
}

export function jobFailed({ status }: Job): boolean {
  return has(status, "Failed");
}

/** And not by what it ended with, for which its failure policy names the exit codes: such as while no disk could be had for a server. */
export function ranOutOfTries(job: Job): boolean {
  const refused = job.status?.conditions?.some(({ type, reason }) => type === "Failed" && reason === "PodFailurePolicy") ?? false;
  return jobFailed(job) && !refused;
}

/** Long enough for any kubelet that is there. */
const secondsToEnd = 30;

/**
 * It goes on, and its Pod was to end and has not: the node is lost, perhaps for good. Kubernetes makes no other meanwhile, because this one
 * might yet fail as the Job's policy says; but what our Jobs do can be done twice.
 */
export function isStranded(job: Job, pod: Pod | undefined, now: Date): boolean {
  if (jobSucceeded(job) || jobFailed(job)) return false;
  if (!pod || controllerOf(pod)?.uid !== job.metadata.uid) return false; // left by the Job before
  return now.getTime() - Date.parse(pod.metadata.deletionTimestamp ?? "") > secondsToEnd * 1000;
}

/** The Pod of a Job that goes on does not start, or has failed and is tried again. Without a primary that is no wonder, and told elsewhere. */
export function hindranceOf(
  { jobPods, primary }: Pick<Observed, "jobPods" | "primary">,
  name: string,
): Omit<Blocker, "reason"> | undefined {
  const pod = jobPods.get(name);
  const problem = pod && problemOf(pod);
  const failed = pod?.status?.phase === "Failed" && primary?.ready;
  const hindrance = problem ? `does not start: ${problem.reason}: ${problem.message}` : failed && `has failed: ${terminationMessage(pod)}`;
  if (!hindrance) return undefined;
  return { message: `the Pod of Job ${name} ${hindrance}`, remedy: "see what the message names; it goes on by itself then" };
}

export function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** What the container said last. */
export function terminationMessage(pod: Pod | undefined): string | undefined {
  const ended = pod?.status?.containerStatuses?.[0]?.state?.terminated;
  if (!ended) return undefined;
  return ended.message?.trim() || (ended.reason === "OOMKilled" ? "it needs more memory than its limit" : `exit code ${ended.exitCode}`);
}

function has(status: Job["status"], wanted: string): boolean {
  return status?.conditions?.some(({ type, status }) => type === wanted && status === "True") ?? false;
}
