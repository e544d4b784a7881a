// A limit on the different events of one object: a loop must not fill etcd.
import { BoundedMap } from "../bounded-map.ts";

/** How many an object may have at once. */
const burst = 25;
/** Time after which an object may have one more. */
const refillMilliseconds = 5 * 60_000;

const mostRemembered = 4096;

export class EventBudget {
  readonly #now: () => number;
  readonly #allowances = new BoundedMap<{ readonly left: number; readonly at: number }>(mostRemembered);

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes one from the object's budget; false when none is left. */
  take(uid: string): boolean {
    const now = this.#now();
    const before = this.#allowances.get(uid) ?? { left: burst, at: now };
    const left = Math.min(burst, before.left + (now - before.at) / refillMilliseconds);
    this.#allowances.set(uid, { left: left < 1 ? left : left - 1, at: now });
    return left >= 1;
  }
}
