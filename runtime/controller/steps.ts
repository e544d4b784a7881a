// A reconcile as a list of steps over one scope.
import { after, asError, earliest, failed, type Result, TerminalError, terminal } from "./result.ts";

export type StepResult =
  | { readonly kind: "done"; readonly result?: Result }
  /** The steps after this one depend on `for` and do not run. */
  | { readonly kind: "wait"; readonly for: string; readonly result: Result };

/** Idempotent, one concern. It waits by returning, never by sleeping. */
export type Step<Scope> = (scope: Scope) => Promise<StepResult>;

export const done: StepResult = { kind: "done" };

/** Done for now, with another look after so many seconds: for state that no watch reports. */
export function doneUntil(seconds: number): StepResult {
  return { kind: "done", result: after(seconds) };
}

export function waitFor(what: string, result: Result): StepResult {
  return { kind: "wait", for: what, result };
}

export interface StepsOutcome {
  readonly result: Result;
  readonly errors: readonly StepError[];
  /** The `for` of the step that waits, which is the last one that ran. */
  readonly waitingFor: string | undefined;
}

/** An error with the step in which it happened. */
export class StepError extends Error {
  override readonly name = "StepError";
  readonly step: string;

  constructor(step: string, cause: Error) {
    super(`${step}: ${cause.message}`, { cause });
    this.step = step;
  }
}

/**
 * Runs the steps in order until one waits. An error does not keep the next steps from running. Rejects when the signal is
 * aborted: another run of the same key may have begun.
 */
export async function runSteps<Scope extends { readonly signal: AbortSignal }>(
  steps: readonly Step<Scope>[],
  scope: Scope,
): Promise<StepsOutcome> {
  const results: Result[] = [];
  const errors: StepError[] = [];
  let waitingFor: string | undefined;
  for (const step of steps) {
    scope.signal.throwIfAborted();
    try {
      const outcome = await step(scope);
      if (outcome.result) results.push(outcome.result);
      if (outcome.kind === "done") continue;
      waitingFor = outcome.for;
      break;
    } catch (thrown) {
      const error = new StepError(step.name, asError(thrown));
      errors.push(error);
      results.push(thrown instanceof TerminalError ? terminal(error) : failed(error));
    }
  }
  return { result: earliest(results), errors, waitingFor };
}
