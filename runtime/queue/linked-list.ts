// A list of items that have their own links: adding and removing take constant time at any position.

/** An item is in one list at a time. */
export interface Linked<T> {
  previous: T | undefined;
  next: T | undefined;
}

export class LinkedList<T extends Linked<T>> implements Iterable<T> {
  #first: T | undefined;
  #last: T | undefined;
  #size = 0;

  get first(): T | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  push(item: T): void {
    item.previous = this.#last;
    item.next = undefined;
    if (this.#last) this.#last.next = item;
    else this.#first = item;
    this.#last = item;
    this.#size++;
  }

  /** The item must be in this list. */
  remove(item: T): void {
    if (item.previous) item.previous.next = item.next;
    else this.#first = item.next;
    if (item.next) item.next.previous = item.previous;
    else this.#last = item.previous;
    item.previous = undefined; // a removed item must not keep its former neighbours alive
    item.next = undefined;
    this.#size--;
  }

  clear(): void {
    this.#first = undefined;
    this.#last = undefined;
    this.#size = 0;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let item = this.#first; item; item = item.next) yield item;
  }
}
