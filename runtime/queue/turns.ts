// Divides the event loop: after so much work, timers and I/O get their turn.
import type { Clock } from "../clock.ts";

/**
 * Workers that resolve without I/O continue in microtasks, which run before everything else. Without a bound, a full queue would
 * delay the renewal of the lease until it is empty. The time bounds work that is slow by itself; the count bounds it when the
 * clock does not advance.
 */
const longest = { runs: 256, ms: 5 };

export class Turns {
  readonly #clock: Clock;
  readonly #begin: () => void;
  #asked = false;
  #began = 0;
  #runs = 0;

  constructor(clock: Clock, begin: () => void) {
    this.#clock = clock;
    this.#begin = begin;
  }

  /** Makes a turn begin soon, from a macrotask of its own. Another call before it began changes nothing. */
  ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    setImmediate(() => {
      this.#asked = false;
      this.#began = this.#clock.now();
      this.#runs = 0;
      this.#begin();
    });
  }

  /** Whether one more run fits into this turn. A turn that began long ago is over, so the first run after a pause requests one. */
  take(now: number): boolean {
    return this.#runs++ < longest.runs && now - this.#began < longest.ms;
  }
}
