// Delayed items, the earliest on top. Items know their position, so that one can be removed from the middle.

export interface Delayed {
  /** May only be changed while the item is not in the heap. */
  due: number;
  /** Position in the heap; only the heap sets it. */
  heapIndex: number;
  /** Orders items that are due at the same time: first in, first out. Only the heap sets it. */
  heapTurn: number;
}

/** A binary heap: `add` and `remove` take logarithmic time, `earliest` constant time. */
export class DelayHeap<T extends Delayed> {
  readonly #items: T[] = [];
  #turns = 0;

  get size(): number {
    return this.#items.length;
  }

  get earliest(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    item.heapTurn = this.#turns++;
    this.#rise(item, this.#items.length);
  }

  /** The item must be in this heap. */
  remove(item: T): void {
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    // The last item fills the gap. It may belong above or below it, since it comes from another branch.
    const above = this.#items[(item.heapIndex - 1) >> 1];
    if (item.heapIndex > 0 && above && before(last, above)) this.#rise(last, item.heapIndex);
    else this.#sink(last, item.heapIndex);
  }

  clear(): void {
    this.#items.length = 0;
  }

  #put(item: T, index: number): void {
    this.#items[index] = item;
    item.heapIndex = index;
  }

  #rise(item: T, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#items[parentIndex];
      if (!parent || !before(item, parent)) break;
      this.#put(parent, index);
      index = parentIndex;
    }
    this.#put(item, index);
  }

  #sink(item: T, from: number): void {
    let index = from;
    for (;;) {
      const left = this.#items[2 * index + 1];
      const right = this.#items[2 * index + 2];
      const child = left && right && before(right, left) ? right : left;
      if (!child || !before(child, item)) break;
      const childIndex = child.heapIndex;
      this.#put(child, index);
      index = childIndex;
    }
    this.#put(item, index);
  }
}

function before(a: Delayed, b: Delayed): boolean {
  return a.due < b.due || (a.due === b.due && a.heapTurn < b.heapTurn);
}
