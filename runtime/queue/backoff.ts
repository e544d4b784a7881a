// The wait of a key after a failure. Shared by all engines, so that they agree.

export interface Backoff {
  /** Milliseconds after the first failure; each further one in a row doubles it. */
  readonly base: number;
  /** The longest wait, in milliseconds. */
  readonly cap: number;
  /**
   * The longest wait, in milliseconds, if the key was added during the failing run.
   *
   * The state changed after that run began, so its failure proves little. The change may be the user's correction and should not
   * wait for a backoff that has grown to a quarter of an hour. controller-runtime runs at once then. But the add is as likely
   * the echo of the run's own write, and a worker that writes and then fails would run without any pause for ever. With this
   * bound, the correction waits a second at most and the loop makes one run a second at most.
   */
  readonly followUpCap: number;
}

/** 5 ms to 1,000 s, as in controller-runtime. */
export const defaultBackoff: Backoff = { base: 5, cap: 1_000_000, followUpCap: 1_000 };

/** The wait after so many failures in a row, at least one. */
export function backoffDelay(failures: number, { base, cap }: Backoff): number {
  return Math.min(base * 2 ** (failures - 1), cap);
}

/**
 * When a key that just failed runs again. `requested` is the earliest time for which it was added during the run, or Infinity.
 * It counts if it is earlier than the backoff, but no add makes the wait shorter than the follow-up cap.
 */
export function retryTime(now: number, failures: number, requested: number, backoff: Backoff): number {
  const delay = backoffDelay(failures, backoff);
  const soonest = now + Math.min(delay, backoff.followUpCap);
  return Math.min(now + delay, Math.max(requested, soonest));
}
