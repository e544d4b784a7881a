// Time as the runtime sees it: it comes in from outside, so that tests choose it.

/** Ends what was scheduled; after it ran, or twice, does nothing. */
export type Cancel = () => void;

export interface Clock {
  /** Milliseconds since some moment in the past. Never goes back, whatever happens to the wall clock: only differences mean something. */
  now(): number;

  /** Calls once, from a macrotask of its own, not before `ms` have passed. Any length is fine; Infinity is never. */
  schedule(ms: number, call: () => void): Cancel;
}

/** A longer setTimeout does not wait longer: it overflows and fires after 1 ms, which would make a loop of a long delay. */
const longestTimeout = 2 ** 31 - 1;

/**
 * The clock of the process. Its timers keep the process alive: a scheduled run is work that was promised, and it may be all
 * that is left while every connection is down. Who wants the process to end cancels (a queue does so when it is drained).
 */
export const systemClock: Clock = {
  now: () => performance.now(),

  schedule(ms, call) {
    const due = performance.now() + ms;
    let timer: NodeJS.Timeout;
    const arm = () => {
      // Rounded up: Node cuts the fraction off, and a timer that comes early finds nothing due.
      const left = Math.max(0, Math.ceil(due - performance.now())); // a busy process arms late
      timer = setTimeout(fire, Math.min(left, longestTimeout));
    };
    const fire = () => {
      if (performance.now() >= due) call();
      else arm();
    };
    arm();
    return () => clearTimeout(timer);
  },
};
