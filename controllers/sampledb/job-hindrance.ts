// The text of a blocker for a Job that does not progress.
import type { JobOutcome } from "../jobs/outcome.ts";
import type { Blocker } from "../telling/blockers.ts";
import type { Scope } from "./scope.ts";

/** Undefined while the Job progresses. While there is no primary, a failed Pod is no blocker: the missing primary is reported elsewhere. */
export function jobHindrance(
  { observed: { primary } }: Pick<Scope, "observed">,
  name: string,
  outcome: JobOutcome,
): Omit<Blocker, "reason"> | undefined {
  const remedy = "see what the message names; it goes on by itself then";
  if (outcome.kind === "stuck") {
    const { reason, message } = outcome.problem;
    return { message: `the Pod of Job ${name} does not start: ${reason}: ${message}`, remedy };
  }
  if (outcome.kind === "running" && outcome.lastFailure !== undefined && primary?.ready)
    return { message: `the Pod of Job ${name} has failed: ${outcome.lastFailure}`, remedy };
  return undefined;
}
