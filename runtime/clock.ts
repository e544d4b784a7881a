// Time as the runtime sees it. It is passed in, so that tests control it.

/** Cancels a scheduled call. Does nothing after the call ran, or when called twice. */
export type Cancel = () => void;

export interface Clock {
  /** Milliseconds since some moment in the past. Monotonic, whatever happens to the wall clock: only differences are meaningful. */
  now(): number;

  /** Calls `call` once, from a macrotask of its own, after at least `ms`. Any length is allowed; Infinity means never. */
  schedule(ms: number, call: () => void): Cancel;
}

/** setTimeout overflows beyond this and fires after 1 ms, which would turn a long delay into a busy loop. */
const longestTimeout = 2 ** 31 - 1;

/**
 * The clock of the process. Its timers keep the process alive: a scheduled run is promised work, and may be all that is left
 * while every connection is down. A caller that wants the process to end cancels its timers, as a queue does when it is drained.
 */
export const systemClock: Clock = {
  now: () => performance.now(),

  schedule(ms, call) {
    const due = performance.now() + ms;
    let timer: NodeJS.Timeout;
    const arm = () => {
      // Rounded up: Node truncates fractions, and a timer that fires early would find nothing due.
      const left = Math.max(0, Math.ceil(due - performance.now())); // negative when a busy process arms late
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
