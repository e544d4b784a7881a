// For how long something has been seen to be so. Known to this process alone: after a restart of the operator, patience begins anew.
import { BoundedMap } from "../runtime/bounded-map.ts";

export class Durations {
  readonly #since = new BoundedMap<number>(20_000);
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** It is so now: since when, in seconds. By the uid of what it is said of. */
  seconds(uid: string): number {
    const now = this.#now().getTime();
    const since = this.#since.get(uid) ?? now;
    this.#since.set(uid, since);
    return (now - since) / 1000;
  }

  /** It is not so any more, or has begun anew. */
  end(uid: string): void {
    this.#since.delete(uid);
  }
}
