// The contract of a work queue: which keys have to be reconciled, when, and what became of it. Engines implement it.

/** What just changed goes before what only the initial list brought: after a restart, a user's change does not wait for thousands of others. */
export type Priority = "changed" | "initial";

/** Priorities, the most urgent first. */
export const priorities = ["changed", "initial"] as const satisfies readonly Priority[];

export function moreUrgent(a: Priority, b: Priority): Priority {
  return a === "changed" ? a : b;
}

/**
 * What a run came to.
 *
 * There is no outcome for "a conflict: run again soon, it was no failure". `retry` does that: its first delay is 5 ms, and
 * the watch event of the write that won usually comes first. It grows only when conflict follows upon conflict, that is when
 * the cache stays behind or two writers fight, and running at full speed would be the wrong answer to both.
 */
export type Outcome =
  /** The key is as it should be. Failures are forgotten; the next run waits for an add. */
  | { readonly kind: "done" }
  /** It went well and has to be looked at again after so many milliseconds, or earlier if an add says so. Failures are forgotten. */
  | { readonly kind: "again"; readonly after: number }
  /** It failed: runs again after a backoff that doubles with each failure in a row. */
  | { readonly kind: "retry" };

export const done: Outcome = { kind: "done" };
export const retry: Outcome = { kind: "retry" };
export function again(after: number): Outcome {
  return { kind: "again", after };
}

export interface Run {
  /** 1, and 1 more for each failure in a row before. */
  readonly attempt: number;
  readonly priority: Priority;
}

/** Reconciles one key. A rejection counts as `retry` and is told to the listener; it harms no other key. */
export type Worker = (key: string, run: Run) => Promise<Outcome>;

export interface AddOptions {
  /** Milliseconds to wait; 0 if left out. */
  readonly after?: number;
  /** "changed" if left out. */
  readonly priority?: Priority;
}

/**
 * A queue of keys without duplicates, which calls a worker for them. It is level-based: an add says "look at this key", not
 * why, and a run that begins after an add answers it together with all those before.
 *
 * What every engine guarantees:
 * - Nothing is lost: each add is followed by a run of its key that begins after it, unless the queue is drained before.
 * - A key never has two runs at once. (An engine whose keys live in a server can promise that only while the server answers,
 *   so workers stay safe to run twice.)
 * - A key has at most one run ahead of it. The earliest time wins: an add without delay beats one with a delay, a pending
 *   `again` and a pending backoff. The later times are dropped: who still needs one returns `again`.
 * - Adds during a run, however many, make exactly one more run after it: at once, even if the run returns a long `again`.
 * - An add during a backoff runs at once and leaves the count of failures as it is: only a run that went well forgets it.
 * - Adds during a run that fails are answered after its backoff or after `Backoff.followUpCap`, whichever is shorter; see there.
 * - "changed" runs before "initial"; a key added as both is "changed"; a key that comes back by `again` or `retry` keeps its
 *   priority. Within a priority, first come first served. "initial" waits for as long as there is anything "changed".
 * - A worker is never called from within `add`, and a long row of runs leaves room for timers and I/O in between.
 */
export interface Queue {
  readonly name: string;

  /**
   * Takes a key. Never waits, and does not fail for reasons of the engine: one that needs a server holds the key until the
   * server has it. Throws a RangeError if the delay is NaN. Does nothing once the queue is drained.
   */
  add(key: string, options?: AddOptions): void;

  /** Begins to run keys, those added before included, at most `concurrency` at a time. Once only; does nothing once drained. */
  start(worker: Worker, concurrency: number): void;

  /**
   * Ends the queue for good: no run starts any more, keys that wait or are delayed are dropped (the next initial list brings
   * them back). Resolves when the last run has ended; its outcome leads to nothing. Can be called again.
   */
  drain(): Promise<void>;

  /** The state for gauges; an engine that has to ask a server answers with what it heard last. */
  observe(): QueueState;
}

export interface QueueState {
  /** Keys that could run now (workqueue_depth). */
  readonly waiting: Readonly<Record<Priority, number>>;
  /** Keys whose time has not come: delayed, `again` or in backoff. */
  readonly delayed: number;
  /** Runs that have begun and not ended. */
  readonly running: number;
  /** How long these have taken so far, together, in milliseconds (workqueue_unfinished_work_seconds). */
  readonly unfinished: number;
  /** How long the longest of these has taken so far, in milliseconds (workqueue_longest_running_processor_seconds). */
  readonly longestRunning: number;
}

/** Told what happens, for metrics and logs. Is called from the middle of the queue: it must be quick and must not throw. */
export interface QueueListener {
  /** A key came to wait: its delay is over, or there was none. Adds of a key that waits already are not told (workqueue_adds_total). */
  added(key: string, priority: Priority): void;
  /** A run begins, `waited` milliseconds after the key was due (workqueue_queue_duration_seconds). */
  started(key: string, run: Run, waited: number): void;
  /** A run ended after `took` milliseconds (workqueue_work_duration_seconds; `retry` and `again` make workqueue_retries_total). */
  ended(key: string, outcome: Outcome, took: number): void;
  /** The worker rejected, which is a mistake in it: `ended` follows, with `retry`. */
  rejected(key: string, error: unknown): void;
}
