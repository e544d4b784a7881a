// Delays between retries.
import type { Clock } from "../clock.ts";

export interface BackoffOptions {
  readonly first?: number;
  readonly most?: number;
  /** Failures are forgotten after so long without one. Without this, only `reset` forgets them. */
  readonly calm?: number;
  readonly clock: Clock;
  readonly random?: () => number;
}

/** Doubles from `first` to `most`, with jitter, so that many clients that lost the same server don't return at the same moment. */
export class Backoff {
  readonly #options: Required<BackoffOptions>;
  #failures = 0;
  #latest = 0;

  constructor(options: BackoffOptions) {
    this.#options = { first: 800, most: 30_000, calm: Number.POSITIVE_INFINITY, random: Math.random, ...options };
  }

  reset(): void {
    this.#failures = 0;
  }

  /** In milliseconds: between one and two times the plain delay. */
  next(): number {
    const { first, most, calm, clock, random } = this.#options;
    if (clock.now() - this.#latest > calm) this.reset();
    const plain = Math.min(first * 2 ** this.#failures, most);
    const delay = plain * (1 + random());
    this.#failures += 1;
    this.#latest = clock.now() + delay; // the wait itself does not count as calm
    return delay;
  }
}
