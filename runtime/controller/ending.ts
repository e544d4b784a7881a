// How a reconcile ended, in the words that are counted.

/** How a reconciliation ended. All but the first three count as errors. */
export type Ending =
  | "success"
  /** It runs again soon, without a failure. */
  | "requeue"
  | "requeue_after"
  | "error"
  /** Trying again would not help. */
  | "terminal_error"
  /** The code is wrong: see `isMistake`. */
  | "panic"
  /** It was given up because it took too long. */
  | "timeout";

/**
 * Whether an error says that the code is wrong, as a panic does in Go: `undefined` was read, or an index is out of range.
 * Failures of databases, files and networks are none, whatever their class: what must always be zero has to mean something.
 */
export function isMistake(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isMistake);
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
}
