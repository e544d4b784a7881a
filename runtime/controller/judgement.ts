// Decides from the result of a reconcile when its key runs again, what is logged and what is counted.
import { Conflict, TryLater, WriteRefused } from "../kube/errors.ts";
import type { Log } from "../observability/log.ts";
import { again, done, type Outcome, retry, retryWithin } from "../queue/queue.ts";
import { type Ending, isMistake } from "./ending.ts";
import type { Result } from "./result.ts";
import { StepError } from "./steps.ts";

/** A reconcile took longer than its timeout. */
export class ReconcileTimedOut extends Error {
  override readonly name = "ReconcileTimedOut";
}

/** A reconcile was aborted together with its controller. */
export class GivenUp extends Error {
  override readonly name = "GivenUp";
}

export interface Judgement {
  readonly outcome: Outcome;
  readonly ending: Ending;
  /** The key does not run again for so many milliseconds, not even after a change. */
  readonly hold?: number;
}

/** Upper bound of a hold, however long the API server asks for: a user's change must not wait longer. */
const longestHold = 30_000;

export function judge(result: Result, attempt: number, log: Log): Judgement {
  switch (result.kind) {
    case "awaitChange":
      return { outcome: done, ending: "success" };
    case "after":
      return { outcome: again(result.seconds * 1000), ending: "requeue_after" };
    case "terminal":
      log.error({ error: result.error, after: result.seconds }, "can't be reconciled until it changes");
      return { outcome: result.seconds === undefined ? done : again(result.seconds * 1000), ending: "terminal_error" };
    case "failed":
      return judgeErrors(result, attempt, log);
  }
}

function judgeErrors({ errors, seconds }: Extract<Result, { kind: "failed" }>, attempt: number, log: Log): Judgement {
  const causes = errors.map((error) => (error instanceof StepError ? error.cause : error));
  // Another process leads now or soon, and has the same key in its queue.
  if (causes.some((cause) => cause instanceof WriteRefused || cause instanceof GivenUp)) return { outcome: done, ending: "error" };
  const waits = causes.flatMap((cause) => (cause instanceof TryLater ? cause.retryAfterMilliseconds : []));
  for (const [index, error] of errors.entries()) {
    const cause = causes[index];
    // After a conflict the next run sees the other writer's change; a busy API server said when to come back. Neither is an error.
    if (cause instanceof Conflict) log.debug({ error, attempt }, "tried again");
    else if (cause instanceof TryLater) later(cause, error, log);
    else log.error({ error, attempt }, "reconcile failed");
  }
  const ending = endingOf(causes);
  if (waits.length === 0) return { outcome: seconds === undefined ? retry : retryWithin(seconds * 1000), ending };
  // The backoff begins with milliseconds and would not leave a busy API server alone, so its pause wins over other errors. The
  // hold is needed because the watch brings changes that this run wrote before the server asked for the pause.
  const wait = Math.max(...waits);
  const busy = causes.every((cause) => cause instanceof TryLater && cause.code === 429);
  return { outcome: again(wait), ending: busy ? "requeue_after" : ending, hold: Math.min(wait, longestHold) };
}

/** A busy API server (429) is normal; one that can't answer (503) is not. */
function later({ code, retryAfterMilliseconds }: TryLater, error: Error, log: Log): void {
  log[code === 429 ? "info" : "warn"]({ error, after: retryAfterMilliseconds / 1000 }, "the API server asks to come back later");
}

function endingOf(causes: readonly unknown[]): Ending {
  if (causes.length > 0 && causes.every((cause) => cause instanceof Conflict)) return "requeue";
  if (causes.some((cause) => cause instanceof ReconcileTimedOut)) return "timeout";
  return causes.some(isMistake) ? "panic" : "error";
}
