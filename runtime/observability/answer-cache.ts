// A cache of answers with a lifetime. Concurrent requests for the same key share one call.
import { BoundedMap } from "../bounded-map.ts";
import type { Clock } from "../clock.ts";

export interface TimedAnswer<T> {
  readonly answer: T;
  /** How long the answer is valid; 0: not cached. */
  readonly milliseconds: number;
}

export class AnswerCache<T> {
  readonly #clock: Clock;
  readonly #kept: BoundedMap<{ readonly answer: T; readonly until: number }>;
  readonly #asked = new Map<string, Promise<T>>();

  /** Beyond the capacity, the oldest entry is dropped. */
  constructor(capacity: number, clock: Clock) {
    this.#kept = new BoundedMap(capacity);
    this.#clock = clock;
  }

  /** Whether `get` would not need a new call. */
  has(key: string): boolean {
    return this.#current(key) !== undefined || this.#asked.has(key);
  }

  /** A failure is not cached: the next call asks again. */
  async get(key: string, ask: () => Promise<TimedAnswer<T>>): Promise<T> {
    const current = this.#current(key);
    if (current) return current.answer;
    let asked = this.#asked.get(key);
    if (asked === undefined) {
      asked = this.#ask(key, ask).finally(() => this.#asked.delete(key));
      this.#asked.set(key, asked);
    }
    return await asked;
  }

  get size(): number {
    return this.#kept.size;
  }

  async #ask(key: string, ask: () => Promise<TimedAnswer<T>>): Promise<T> {
    const { answer, milliseconds } = await ask();
    if (milliseconds > 0) this.#kept.set(key, { answer, until: this.#clock.now() + milliseconds });
    return answer;
  }

  #current(key: string): { readonly answer: T } | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined || this.#clock.now() < kept.until) return kept;
    this.#kept.delete(key);
    return undefined;
  }
}
