// What a reconcile came to, as a value.

export type Result =
  /** All is as it should be: nothing happens until something changes. */
  | { readonly kind: "awaitChange" }
  /** Look again after so many seconds, or earlier if something changes. */
  | { readonly kind: "after"; readonly seconds: number }
  /** Try again, each time later than the time before. */
  | { readonly kind: "failed"; readonly errors: readonly Error[] }
  /** Trying again can't help: only a change can. Other parts of it may have to be looked at again all the same, after so many seconds. */
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

/** Thrown in place of returning `terminal`, from where no result can be returned. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}

/** What to do after several parts of a reconcile each wanted something: errors first, then whatever is due first. */
export function earliest(results: readonly Result[]): Result {
  const errors = results.flatMap((result) => (result.kind === "failed" ? result.errors : []));
  if (errors.length > 0) return failed(...errors);
  const hopeless = results.find((result) => result.kind === "terminal");
  const soonest = Math.min(...results.map((result) => (result.kind === "after" ? result.seconds : Number.POSITIVE_INFINITY)));
  if (!Number.isFinite(soonest)) return hopeless ?? awaitChange;
  // A part that can't be helped does not keep the others from being looked at in time.
  return hopeless ? { ...hopeless, seconds: soonest } : after(soonest);
}

/** Anything can be thrown, a Secret too: what is no error and no text is not told. */
export function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  return new Error(typeof thrown === "string" ? thrown : "what was thrown is no Error", { cause: thrown });
}
