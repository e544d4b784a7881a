// Delayed items, with one timer for all of them.
import type { Cancel, Clock } from "../clock.ts";
import { type Delayed, DelayHeap } from "./delay-heap.ts";

/** Hands each item over once it is due, never before, the earliest first. */
export class Delays<T extends Delayed> {
  readonly #clock: Clock;
  readonly #handOver: (item: T) => void;
  readonly #heap = new DelayHeap<T>();
  #alarm: { readonly due: number; readonly cancel: Cancel } | undefined;

  constructor(clock: Clock, handOver: (item: T) => void) {
    this.#clock = clock;
    this.#handOver = handOver;
  }

  get size(): number {
    return this.#heap.size;
  }

  add(item: T): void {
    this.#heap.add(item);
    this.#setAlarm();
  }

  /** Leaves the alarm as it is: if it was for this item, it fires for nothing and is set again. */
  remove(item: T): void {
    this.#heap.remove(item);
  }

  clear(): void {
    this.#heap.clear();
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  #setAlarm(): void {
    const due = this.#heap.earliest?.due;
    if (due === undefined || (this.#alarm && this.#alarm.due <= due)) return;
    this.#alarm?.cancel();
    this.#alarm = { due, cancel: this.#clock.schedule(due - this.#clock.now(), () => this.#ring()) };
  }

  #ring(): void {
    this.#alarm = undefined;
    const now = this.#clock.now();
    for (let item = this.#heap.earliest; item && item.due <= now; item = this.#heap.earliest) {
      this.#heap.remove(item);
      this.#handOver(item);
    }
    this.#setAlarm();
  }
}
