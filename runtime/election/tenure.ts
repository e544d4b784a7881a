// The time in which this process leads: it begins with taking the lease, is extended by each renewal and ends at a deadline.
import type { Cancel, Clock } from "../clock.ts";
import type { Held } from "./lease-store.ts";

export class Tenure {
  readonly #clock: Clock;
  readonly #renewDeadline: number;
  readonly #onDeadline: () => void;
  #held: Held | undefined;
  #cancel: Cancel = () => {};

  /** `onDeadline` may be late, as timers are: decisions must use `mayWrite`. */
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
   * Returns false when it is too late: an answer that was processed only after the deadline must not make `mayWrite` true again
   * after it was false.
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
