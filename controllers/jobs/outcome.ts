// The outcome of a Job as a value, from the Job and its newest Pod.
import { labelNames } from "../../api/labels.ts";
import { type Problem, problemOf } from "../database/instance.ts";
import type { Job, Pod } from "../kinds/kubernetes.ts";

export type JobOutcome =
  /** It runs, or waits for its start. `lastFailure` is the message of its last Pod, where that failed and Kubernetes makes another. */
  | { readonly kind: "running"; readonly lastFailure?: string | undefined }
  /** Its Pod does not start, as the scheduler or the kubelet reports. */
  | { readonly kind: "stuck"; readonly problem: Problem }
  /** Its Pod should have ended and has not, as on a lost node. The operator can't know whether the work is done or still goes on. */
  | { readonly kind: "stranded"; readonly podName: string }
  | { readonly kind: "succeeded"; readonly message: string | undefined }
  /** Its program ended with the exit code for "refused": another try can't help. */
  | { readonly kind: "refused"; readonly message: string }
  /** It used up its tries without that exit code, so a new Job may succeed. */
  | { readonly kind: "failed"; readonly message: string; readonly at: Date };

/** `pod` is the Job's newest. */
export function outcomeOf(job: Job, pod: Pod | undefined, now: Date): JobOutcome {
  if (jobSucceeded(job)) return { kind: "succeeded", message: terminationMessage(pod) };
  const failed = conditionOf(job, "Failed");
  if (failed) {
    const message = terminationMessage(pod) ?? failed.message ?? `Job ${job.metadata.name} failed`;
    // Kubernetes gives this reason when our rule for the exit code applied (desired/job.ts).
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

/** Any kubelet that is alive ends a Pod of a Job within this time. */
const secondsToEnd = 30;

/** The Job controller makes no other Pod meanwhile, because this one might yet fail in a way that the Job's failure policy names. */
function isStranded({ metadata: { deletionTimestamp } }: Pod, now: Date): boolean {
  return now.getTime() - Date.parse(deletionTimestamp ?? "") > secondsToEnd * 1000;
}

/** The program's last words. Kubernetes has none from a container that was killed, so the reason stands in. */
function terminationMessage(pod: Pod | undefined): string | undefined {
  const ended = endOf(pod);
  if (!ended) return undefined;
  return ended.message?.trim() || (ended.reason === "OOMKilled" ? "it needs more memory than its limit" : `exit code ${ended.exitCode}`);
}

/** Of our container; or, where that was never started, of the init container that failed. */
function endOf(pod: Pod | undefined) {
  const { containerStatuses = [], initContainerStatuses = [] } = pod?.status ?? {};
  // Our container is called after its component. A sidecar that a webhook has added may stand before it.
  const ours = containerStatuses.find(({ name }) => name === pod?.metadata.labels?.[labelNames.component]) ?? containerStatuses[0];
  const before = initContainerStatuses.map(({ state }) => state?.terminated);
  return ours?.state?.terminated ?? before.find((ended) => ended !== undefined && ended.exitCode !== 0);
}

function conditionOf({ status }: Job, wanted: string) {
  return status?.conditions?.find(({ type, status }) => type === wanted && status === "True");
}
