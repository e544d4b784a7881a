// For how long something has been seen to be so, without a gap. Patience that was interrupted begins anew: nobody knows what happened while
// a SampleDB was paused, or while another replica of the operator led.
//
// This is the memory of one process. It may hold a decision back. It must never be the only reason to destroy something: for that the
// status has to have told it for as long (`toldSeconds` of telling/blockers.ts).
import { BoundedMap } from "../runtime/bounded-map.ts";

/** Every step that waits looks again sooner than this. */
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

  /** It is so now: since when without a gap, in seconds. `id` names the thing and what is said of it, by uid. */
  seconds(id: string): number {
    const now = this.#now().getTime();
    const seen = this.#sights.get(id);
    const isContinuous = seen !== undefined && now - seen.last <= longestGapSeconds * 1000 && now >= seen.last;
    const first = isContinuous ? seen.first : now;
    this.#sights.set(id, { first, last: now });
    return (now - first) / 1000;
  }

  /** It is not so any more, or has begun anew. */
  end(id: string): void {
    this.#sights.delete(id);
  }
}
