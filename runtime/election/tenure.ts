// The time in which this process leads: it begins when the lease was taken, goes on with each renewal and ends at a deadline.
import type { Cancel, Clock } from "../clock.ts";
import type { Held } from "./lease-store.ts";

export class Tenure {
  readonly #clock: Clock;
  readonly #renewDeadline: number;
  readonly #onDeadline: () => void;
  #held: Held | undefined;
  #cancel: Cancel = () => {};

  /** `onDeadline` may come late, since timers do: nobody who has to know in time relies on it. */
  constructor(clock: Clock, renewDeadline: number, onDeadline: () => void) {
    this.#clock = clock;
    this.#renewDeadline = renewDeadline;
    this.#onDeadline = onDeadline;
  }

  get held(): Held | undefined {
    return this.#held;
  }

  mayWrite(): boolean {
    return this.#held !== undefined && !this.#isOver(this.#held);
  }

  /**
   * False when it is too late: an answer that came, or was looked at, only after the deadline allows nothing, and must not make
   * true again what has been false.
   */
  extend(held: Held): boolean {
    if (this.#isOver(held) || (this.#held !== undefined && this.#isOver(this.#held))) return false;
    this.#held = held;
    this.#cancel();
    this.#cancel = this.#clock.schedule(held.renewedFrom + this.#renewDeadline - this.#clock.now(), this.#onDeadline);
    return true;
  }

  end(): void {
    this.#held = undefined;
    this.#cancel();
  }

  #isOver({ renewedFrom }: Held): boolean {
    return this.#clock.now() - renewedFrom >= this.#renewDeadline;
  }
}
