// A clock for tests: time stands still until the test moves it.
import { setImmediate } from "node:timers/promises";
import type { Cancel, Clock } from "./clock.ts";

interface Timer {
  readonly due: number;
  readonly call: () => void;
}

export class FakeClock implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  schedule(ms: number, call: () => void): Cancel {
    const timer = { due: this.#now + ms, call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers are armed. */
  get armed(): number {
    return this.#timers.size;
  }

  /** Moves time forward. Each timer sees exactly the time that it was set to, and its consequences settle before the next timer fires. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let timer = this.#next(end); timer; timer = this.#next(end)) {
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, timer.due);
      timer.call();
      await settle();
    }
    this.#now = end;
  }

  #next(end: number): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.due <= end && timer.due < (earliest?.due ?? Number.POSITIVE_INFINITY)) earliest = timer;
    }
    return earliest;
  }
}

/** Lets everything happen that needs no time: two turns of the event loop, since the consequences of the first may need a second. */
export async function settle(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
