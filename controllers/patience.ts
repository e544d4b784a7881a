// Patience: for how long the operator has seen something without a gap. After a gap in looking it begins anew, because the operator does
// not know what happened while the SampleDB was paused, or while another replica of the operator led.
//
// This is the memory of one process. It may delay a decision. It must never be the only reason to destroy something: for that, the stored
// status must have had the blocker for as long (`toldSeconds` in telling/blockers.ts).
import { BoundedMap } from "../runtime/bounded-map.ts";

/** Longer than any step waits before it looks again. A longer gap means that the operator was not looking. */
const longestGapSeconds = 60;

interface Sight {
  readonly first: number;
  readonly last: number;
}

export class Patience {
  readonly #sights = new BoundedMap<Sight>(20_000);
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Notes that `id` was seen now. Returns for how many seconds it has been seen without a gap. `id` has the uid of the object in it. */
  seconds(id: string): number {
    const now = this.#now().getTime();
    const seen = this.#sights.get(id);
    const isContinuous = seen !== undefined && now - seen.last <= longestGapSeconds * 1000 && now >= seen.last;
    const first = isContinuous ? seen.first : now;
    this.#sights.set(id, { first, last: now });
    return (now - first) / 1000;
  }

  /** It is over, or begins anew. */
  end(id: string): void {
    this.#sights.delete(id);
  }
}
