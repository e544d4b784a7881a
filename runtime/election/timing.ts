// The periods of an election, in milliseconds.

export interface Timing {
  /** Others leave the lease alone for this long after they saw it change. */
  readonly leaseDuration: number;
  /** A leader that could not renew for this long writes no more. What is left of the lease is for writes that are under way. */
  readonly renewDeadline: number;
  /** Between two renewals of a leader; the longest time between two looks of a candidate. */
  readonly retryPeriod: number;
}

/** Those of client-go, controller-runtime and Kubernetes' own controllers. */
export const defaultTiming: Timing = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2000 };

/** Throws when a leader could still write while the next one already does, or could not renew twice before its deadline. */
export function checkTiming({ leaseDuration, renewDeadline, retryPeriod }: Timing): void {
  if (!(leaseDuration > renewDeadline)) throw new RangeError("the lease has to be longer than the renew deadline");
  if (!(renewDeadline > 2 * retryPeriod)) throw new RangeError("the renew deadline has to be longer than two retry periods");
  if (!(retryPeriod > 0)) throw new RangeError("the retry period has to be longer than nothing");
}

/** Candidates spread out. Looking earlier, never later, keeps the promise that a released lease is taken within a retry period. */
export function jittered(period: number, random: number): number {
  return period * (1 - 0.2 * random);
}

/** How long one try may take: a call that hangs must leave time for another one on a new connection. As controller-runtime has it. */
export function tryDuration({ renewDeadline }: Timing): number {
  return renewDeadline / 2;
}
