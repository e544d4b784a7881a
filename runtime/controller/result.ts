// The result of a reconcile, as a value.

export type Result =
  /** Converged: nothing to do until something changes. */
  | { readonly kind: "awaitChange" }
  /** Reconcile again after so many seconds, or earlier if something changes. */
  | { readonly kind: "after"; readonly seconds: number }
  /** Retry with growing delays. Other parts of the reconcile may need another look after so many seconds, however long the delay has grown. */
  | { readonly kind: "failed"; readonly errors: readonly Error[]; readonly seconds?: number }
  /** A retry can't help, only a change can. Other parts of the reconcile may still need another look after so many seconds. */
  | { readonly kind: "terminal"; readonly error: Error; readonly seconds?: number };

export const awaitChange: Result = { kind: "awaitChange" };

export function after(seconds: number): Result {
  return { kind: "after", seconds };
}

export function failed(...errors: readonly Error[]): Extract<Result, { kind: "failed" }> {
  return { kind: "failed", errors };
}

export function terminal(error: Error): Result {
  return { kind: "terminal", error };
}

/** Thrown in place of returning `terminal`, where no result can be returned. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}

/** Combines the results of several parts of a reconcile: errors win, then the shortest wait. No part keeps another from its next look. */
export function earliest(results: readonly Result[]): Result {
  const soonest = Math.min(...results.map((result) => (result.kind === "after" ? result.seconds : Number.POSITIVE_INFINITY)));
  const look = Number.isFinite(soonest) ? { seconds: soonest } : {};
  const errors = results.flatMap((result) => (result.kind === "failed" ? result.errors : []));
  if (errors.length > 0) return { ...failed(...errors), ...look };
  const hopeless = results.find((result) => result.kind === "terminal");
  if (hopeless) return { ...hopeless, ...look };
  return Number.isFinite(soonest) ? after(soonest) : awaitChange;
}

/** Any value can be thrown, even a Secret: unless it is an error or a text, its content is not shown. */
export function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  return new Error(typeof thrown === "string" ? thrown : "what was thrown is no Error", { cause: thrown });
}
