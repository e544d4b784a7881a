// What follows from how a reconcile ended: when its key runs again, what is logged and what is counted.
import { Conflict, TryLater, WriteRefused } from "../kube/errors.ts";
import type { Log } from "../observability/log.ts";
import { again, done, type Outcome, retry } from "../queue/queue.ts";
import { type Ending, isMistake } from "./ending.ts";
import type { Result } from "./result.ts";
import { StepError } from "./steps.ts";

/** A reconcile took longer than it may. */
export class ReconcileTimedOut extends Error {
  override readonly name = "ReconcileTimedOut";
}

/** A reconcile was ended together with its controller. */
export class GivenUp extends Error {
  override readonly name = "GivenUp";
}

export interface Judgement {
  readonly outcome: Outcome;
  readonly ending: Ending;
  /** Not even a change makes it run again within so many milliseconds. */
  readonly hold?: number;
}

/** However long an API server asks for, a user's change does not wait for longer than this. */
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
      return judgeErrors(result.errors, attempt, log);
  }
}

function judgeErrors(errors: readonly Error[], attempt: number, log: Log): Judgement {
  const causes = errors.map((error) => (error instanceof StepError ? error.cause : error));
  // Another leads now or will, and has the same key in its queue.
  if (causes.some((cause) => cause instanceof WriteRefused || cause instanceof GivenUp)) return { outcome: done, ending: "error" };
  const waits = causes.flatMap((cause) => (cause instanceof TryLater ? cause.retryAfterMilliseconds : []));
  for (const [index, error] of errors.entries()) {
    const cause = causes[index];
    // Someone else was faster, and the next run sees what they did; or the API server is busy, and said when to come back.
    if (cause instanceof Conflict) log.debug({ error, attempt }, "tried again");
    else if (cause instanceof TryLater) later(cause, error, log);
    else log.error({ error, attempt }, "reconcile failed");
  }
  const ending = endingOf(causes);
  if (waits.length === 0) return { outcome: retry, ending };
  // A backoff that begins with milliseconds would not leave a busy API server alone, whatever else went wrong; nor would the
  // echo of what was written before it said so.
  const wait = Math.max(...waits);
  const busy = causes.every((cause) => cause instanceof TryLater && cause.code === 429);
  return { outcome: again(wait), ending: busy ? "requeue_after" : ending, hold: Math.min(wait, longestHold) };
}

/** That it is busy is its daily life; that it can't answer is not. */
function later({ code, retryAfterMilliseconds }: TryLater, error: Error, log: Log): void {
  log[code === 429 ? "info" : "warn"]({ error, after: retryAfterMilliseconds / 1000 }, "the API server asks to come back later");
}

function endingOf(causes: readonly unknown[]): Ending {
  if (causes.length > 0 && causes.every((cause) => cause instanceof Conflict)) return "requeue";
  if (causes.some((cause) => cause instanceof ReconcileTimedOut)) return "timeout";
  return causes.some(isMistake) ? "panic" : "error";
}
