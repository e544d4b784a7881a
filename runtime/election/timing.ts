// The periods of an election, in milliseconds.

export interface Timing {
  /** How long other candidates leave the lease alone after they saw it change. */
  readonly leaseDuration: number;
  /** A leader that could not renew for this long writes no more. The rest of the lease is for writes under way. */
  readonly renewDeadline: number;
  /** Between two renewals of a leader; at most this between two looks of a candidate. */
  readonly retryPeriod: number;
}

/** The defaults of client-go, controller-runtime and Kubernetes' own controllers. */
export const defaultTiming: Timing = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2000 };

/** Throws if a leader could still write while the next one does, or could not renew twice before its deadline. */
export function checkTiming({ leaseDuration, renewDeadline, retryPeriod }: Timing): void {
  if (!(leaseDuration > renewDeadline)) throw new RangeError("the lease has to be longer than the renew deadline");
  if (!(renewDeadline > 2 * retryPeriod)) throw new RangeError("the renew deadline has to be longer than two retry periods");
  if (!(retryPeriod > 0)) throw new RangeError("the retry period has to be longer than nothing");
}

/** Spreads the candidates. Earlier, never later: a released lease must be taken within a retry period. */
export function jittered(period: number, random: number): number {
  return period * (1 - 0.2 * random);
}

/** The longest time for one try, as in controller-runtime: a call that hangs must leave time for another on a new connection. */
export function tryDuration({ renewDeadline }: Timing): number {
  return renewDeadline / 2;
}
