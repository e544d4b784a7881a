// The ways in which a reconcile ends, as the metrics count them.

/** How a reconcile ended. All but the first three count as errors. */
export type Ending =
  | "success"
  /** It failed with conflicts only, and runs again soon. */
  | "requeue"
  | "requeue_after"
  | "error"
  /** A retry would not help. */
  | "terminal_error"
  /** A bug in the code: see `isMistake`. */
  | "panic"
  /** It was aborted because it took too long. */
  | "timeout";

/**
 * Whether an error shows a bug in the code, as a panic does in Go: a read of `undefined`, an index out of range. Failures of
 * databases, files and networks are no bugs, whatever their class: the count of panics must stay zero unless the code is wrong.
 */
export function isMistake(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isMistake);
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
}
