// What a Job and its Pod say of how it went.
import type { Job, Pod } from "../kinds.ts";

export function jobSucceeded({ status }: Job): boolean {
  return has(status, "Complete");
}

export function jobFailed({ status }: Job): boolean {
  return has(status, "Failed");
}

/** By what it ended with, and not for want of tries: its failure policy names the exit codes. */
export function jobRefused({ status }: Job): boolean {
  return status?.conditions?.some(({ type, reason }) => type === "Failed" && reason === "PodFailurePolicy") ?? false;
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
