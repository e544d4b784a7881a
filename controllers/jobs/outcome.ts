// What a Job and its Pod say of how it went, as a value.
import { type Problem, problemOf } from "../database/instance.ts";
import type { Job, Pod } from "../kinds/kubernetes.ts";

export type JobOutcome =
  /** `lastFailure` is what its last Pod said: Kubernetes makes another one. */
  | { readonly kind: "running"; readonly lastFailure?: string | undefined }
  /** Its Pod does not start, by the word of the scheduler or the kubelet. */
  | { readonly kind: "stuck"; readonly problem: Problem }
  /** Its Pod was to end and has not, as on a node that is lost. Whether its work is done, or still going on, is not known. */
  | { readonly kind: "stranded"; readonly podName: string }
  | { readonly kind: "succeeded"; readonly message: string | undefined }
  /** Its program has ended with the exit code for "refused": another try can't help. */
  | { readonly kind: "refused"; readonly message: string }
  /** It has used up its tries for some other reason, so another Job may succeed. */
  | { readonly kind: "failed"; readonly message: string; readonly at: Date };

/** `pod` is the Job's newest. */
export function outcomeOf(job: Job, pod: Pod | undefined, now: Date): JobOutcome {
  if (jobSucceeded(job)) return { kind: "succeeded", message: terminationMessage(pod) };
  const failed = conditionOf(job, "Failed");
  if (failed) {
    const message = terminationMessage(pod) ?? failed.message ?? `Job ${job.metadata.name} failed`;
    // Kubernetes' word for a rule of ours that names the exit code.
    if (failed.reason === "PodFailurePolicy") return { kind: "refused", message };
    return { kind: "failed", message, at: new Date(failed.lastTransitionTime ?? now) };
  }
  if (!pod) return { kind: "running" };
  if (isStranded(pod, now)) return { kind: "stranded", podName: pod.metadata.name };
  const problem = problemOf(pod);
  if (problem) return { kind: "stuck", problem };
  return { kind: "running", ...(pod.status?.phase === "Failed" ? { lastFailure: terminationMessage(pod) } : {}) };
}

export function jobSucceeded(job: Job): boolean {
  return conditionOf(job, "Complete") !== undefined;
}

export function jobFailed(job: Job): boolean {
  return conditionOf(job, "Failed") !== undefined;
}

export function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Long enough for any kubelet that is there. */
const secondsToEnd = 30;

/** Kubernetes makes no other Pod meanwhile, because this one might yet fail as the Job's policy says. */
function isStranded({ metadata: { deletionTimestamp } }: Pod, now: Date): boolean {
  return now.getTime() - Date.parse(deletionTimestamp ?? "") > secondsToEnd * 1000;
}

/** What the container said last. */
function terminationMessage(pod: Pod | undefined): string | undefined {
  const ended = pod?.status?.containerStatuses?.[0]?.state?.terminated;
  if (!ended) return undefined;
  return ended.message?.trim() || (ended.reason === "OOMKilled" ? "it needs more memory than its limit" : `exit code ${ended.exitCode}`);
}

function conditionOf({ status }: Job, wanted: string) {
  return status?.conditions?.find(({ type, status }) => type === wanted && status === "True");
}
