// The result of a reconcile, as a value.

export type Result =
  /** Converged: nothing to do until something changes. */
  | { readonly kind: "awaitChange" }
  /** Reconcile again after so many seconds, or earlier if something changes. */
  | { readonly kind: "after"; readonly seconds: number }
  /** Retry with growing delays. */
  | { readonly kind: "failed"; readonly errors: readonly Error[] }
  /** A retry can't help, only a change can. Other parts of the reconcile may still need another look after so many seconds. */
  | { readonly kind: "terminal"; readonly error: Error; readonly seconds?: number };

export const awaitChange: Result = { kind: "awaitChange" };

export function after(seconds: number): Result {
  return { kind: "after", seconds };
}

export function failed(...errors: readonly Error[]): Result {
  return { kind: "failed", errors };
}

export function terminal(error: Error): Result {
  return { kind: "terminal", error };
}

/** Thrown in place of returning `terminal`, where no result can be returned. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}

/** Combines the results of several parts of a reconcile: errors win, then the shortest wait. */
export function earliest(results: readonly Result[]): Result {
  const errors = results.flatMap((result) => (result.kind === "failed" ? result.errors : []));
  if (errors.length > 0) return failed(...errors);
  const hopeless = results.find((result) => result.kind === "terminal");
  const soonest = Math.min(...results.map((result) => (result.kind === "after" ? result.seconds : Number.POSITIVE_INFINITY)));
  if (!Number.isFinite(soonest)) return hopeless ?? awaitChange;
  // A terminal part must not keep the others from their next look.
  return hopeless ? { ...hopeless, seconds: soonest } : after(soonest);
}

/** Any value can be thrown, even a Secret: unless it is an error or a text, its content is not shown. */
export function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  return new Error(typeof thrown === "string" ? thrown : "what was thrown is no Error", { cause: thrown });
}
