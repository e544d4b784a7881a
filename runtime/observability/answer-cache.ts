// Answers that hold for a while. Of those who ask for the same at the same time, one asks and all get the answer.
import { BoundedMap } from "../bounded-map.ts";
import type { Clock } from "../clock.ts";

export interface TimedAnswer<T> {
  readonly answer: T;
  /** How long it holds; 0: not at all. */
  readonly milliseconds: number;
}

export class AnswerCache<T> {
  readonly #clock: Clock;
  readonly #kept: BoundedMap<{ readonly answer: T; readonly until: number }>;
  readonly #asked = new Map<string, Promise<T>>();

  /** Beyond the capacity, what was put in first goes first. */
  constructor(capacity: number, clock: Clock) {
    this.#kept = new BoundedMap(capacity);
    this.#clock = clock;
  }

  /** Whether `get` would not have to ask. */
  has(key: string): boolean {
    return this.#current(key) !== undefined || this.#asked.has(key);
  }

  /** A failure is not kept: who comes next asks again. */
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
