// The contract of a work queue: which keys must be reconciled, when, and with what outcome. Engines implement it.

/** Changed keys run before those of the initial list: after a restart, a user's change must not wait for thousands of other keys. */
export type Priority = "changed" | "initial";

/** Priorities, the most urgent first. */
export const priorities = ["changed", "initial"] as const satisfies readonly Priority[];

export function moreUrgent(a: Priority, b: Priority): Priority {
  return a === "changed" ? a : b;
}

/**
 * The outcome of a run.
 *
 * There is no outcome for "a conflict: run again soon, it was no failure". `retry` does that: its first delay is 5 ms, and the
 * watch event of the write that won usually comes first. The delay grows only when conflict follows conflict. Then the cache
 * lags or two writers fight, and running at full speed would be wrong for both.
 */
export type Outcome =
  /** The key is converged. Failures are forgotten; the next run waits for an add. */
  | { readonly kind: "done" }
  /** Success, with another run after so many milliseconds, or earlier on an add. Failures are forgotten. */
  | { readonly kind: "again"; readonly after: number }
  /** Failure: another run after a backoff that doubles with each failure in a row. */
  | { readonly kind: "retry"; readonly within?: number };

export const done: Outcome = { kind: "done" };
export const retry: Outcome = { kind: "retry" };

/** A retry that comes after so many milliseconds at the latest, however long the backoff has grown. */
export function retryWithin(within: number): Outcome {
  return { kind: "retry", within };
}

export function again(after: number): Outcome {
  return { kind: "again", after };
}

export interface Run {
  /** 1, plus 1 for each failure in a row before. */
  readonly attempt: number;
  readonly priority: Priority;
}

/** Reconciles one key. A rejection counts as `retry` and is reported to the listener; other keys are not affected. */
export type Worker = (key: string, run: Run) => Promise<Outcome>;

export interface AddOptions {
  /** Milliseconds to wait; 0 if left out. */
  readonly after?: number;
  /** "changed" if left out. */
  readonly priority?: Priority;
}

/**
 * A queue of keys without duplicates, which calls a worker for them. It is level-based: an add says "look at this key", not why,
 * and a run that begins after an add answers it together with all adds before.
 *
 * Guarantees of every engine:
 * - Nothing is lost: each add is followed by a run of its key that begins after it, unless the queue is drained before.
 * - A key never has two runs at once. (An engine whose keys are in a server can guarantee that only while the server answers, so
 *   workers must tolerate running twice.)
 * - A key has at most one future run. The earliest time wins: an add without delay beats one with a delay, a pending `again` and
 *   a pending backoff. Later times are dropped: a worker that still needs one returns `again`.
 * - Adds during a run, however many, cause exactly one more run after it: at once, even if the run returns a long `again`.
 * - An add during a backoff runs at once and leaves the count of failures: only a successful run resets it.
 * - Adds during a failing run are answered after its backoff or after `Backoff.followUpCap`, whichever is shorter; see there.
 * - "changed" runs before "initial"; a key added as both is "changed"; a key that comes back by `again` or `retry` keeps its
 *   priority. Within a priority, first come first served. "initial" waits while there is anything "changed".
 * - A worker is never called from within `add`, and a long row of runs leaves room for timers and I/O.
 */
export interface Queue {
  readonly name: string;

  /**
   * Accepts a key. Never waits, and never fails because of the engine: one that needs a server holds the key until the server
   * has it. Throws a RangeError if the delay is NaN. Does nothing once the queue is drained.
   */
  add(key: string, options?: AddOptions): void;

  /** Starts to run keys, including those added before, at most `concurrency` at a time. Once only; does nothing once drained. */
  start(worker: Worker, concurrency: number): void;

  /**
   * Ends the queue for good: starts no more runs and drops keys that wait or are delayed (the next initial list restores them).
   * Resolves when the last run has ended; its outcome is ignored. Can be called again.
   */
  drain(): Promise<void>;

  /** The state for gauges. An engine that needs a server answers with the last known state. */
  observe(): QueueState;
}

export interface QueueState {
  /** Keys that could run now (workqueue_depth). */
  readonly waiting: Readonly<Record<Priority, number>>;
  /** Keys that are not due yet: delayed, `again` or in backoff. */
  readonly delayed: number;
  /** Runs that have begun and not ended. */
  readonly running: number;
  /** Total duration of these so far, in milliseconds (workqueue_unfinished_work_seconds). */
  readonly unfinished: number;
  /** Duration of the longest of these so far, in milliseconds (workqueue_longest_running_processor_seconds). */
  readonly longestRunning: number;
}

/** Reports for metrics and logs. Called from the middle of the queue: it must be quick and must not throw. */
export interface QueueListener {
  /** A key begins to wait: its delay is over, or it had none. Not called for a key that waits already (workqueue_adds_total). */
  added(key: string, priority: Priority): void;
  /** A run begins, `waited` milliseconds after the key was due (workqueue_queue_duration_seconds). */
  started(key: string, run: Run, waited: number): void;
  /** A run ended after `took` milliseconds (workqueue_work_duration_seconds; `retry` and `again` make workqueue_retries_total). */
  ended(key: string, outcome: Outcome, took: number): void;
  /** The worker rejected, which is a bug in it: `ended` follows, with `retry`. */
  rejected(key: string, error: unknown): void;
}
