// Property: whatever happens between a write, its answer and its event, readers are never behind their own writes, and never
// differ from the watch for longer than the watch is behind.
import fc from "fast-check";
import { test } from "vitest";
import type { PendingWrite } from "../kube/client.ts";
import { byField } from "./indexes.ts";
import { longestMilliseconds } from "./own-writes.ts";
import { Store } from "./store.ts";
import { type Thing, thing } from "./thing.fixture.ts";

const key = { namespace: "default", name: "a" };
const colors = ["red", "blue", undefined] as const;

interface Write {
  readonly own: PendingWrite;
  readonly wants: "put" | "delete";
  /** A precondition: with another uid the write is refused. */
  readonly onlyUid: string | undefined;
  done?: { readonly moment: number; readonly result: Thing | undefined } | "refused";
}

/** An API server with one object. Its history is a list of states; the watch has brought those up to `watched`. */
class World {
  now = 0;
  readonly store = new Store<Thing>({ now: () => this.now, indexes: { color: byField<Thing>(({ spec }) => spec?.color) } });
  readonly #history: (Thing | undefined)[] = [undefined];
  readonly #writes: Write[] = [];
  #uids = 0;
  #watched = 0;
  #list: { readonly begun: ReturnType<Store<Thing>["beginList"]>; moment?: number } | undefined;
  /** Readers must not see anything older than this. */
  #floor = 0;

  get #state(): Thing | undefined {
    return this.#history.at(-1);
  }

  #put(color: string | undefined): void {
    const uid = this.#state?.metadata.uid ?? `uid-${++this.#uids}`;
    this.#history.push(thing("a", { version: this.#history.length, uid, ...(color ? { color } : {}) }));
  }

  /** Another client writes. */
  other(choice: number): void {
    if (choice < colors.length) this.#put(colors[choice]);
    else if (this.#state) this.#history.push(undefined);
  }

  begin(choice: number): void {
    const wants = choice < colors.length ? "put" : "delete";
    this.#writes.push({ own: this.store.beginWrite(key), wants, onlyUid: this.store.get(key)?.metadata.uid });
  }

  /** The API server carries out one of the writes. */
  execute(choice: number): void {
    const open = this.#writes.filter(({ done }) => done === undefined);
    const write = open[choice % open.length];
    if (!write) return;
    const before = this.#state;
    if (write.wants === "put") this.#put(colors[choice % colors.length]);
    else if (before && before.metadata.uid === write.onlyUid) this.#history.push(undefined);
    else {
      write.done = "refused";
      return;
    }
    write.done = { moment: this.#history.length - 1, result: this.#state };
  }

  answer(choice: number): void {
    const carriedOut = this.#writes.filter(({ done }) => done !== undefined);
    const write = carriedOut[choice % carriedOut.length];
    if (!write?.done) return;
    this.#writes.splice(this.#writes.indexOf(write), 1);
    if (write.done === "refused") write.own.abandoned();
    else {
      write.own.settled(write.done.result);
      this.#floor = Math.max(this.#floor, write.done.moment);
    }
  }

  /** The watch brings the next event, except while a list is under way. */
  deliver(): void {
    if (this.#list || this.#watched + 1 >= this.#history.length) return;
    const before = this.#history[this.#watched];
    const state = this.#history[++this.#watched];
    if (state) this.store.put(state, false);
    else if (before) this.store.remove(thing("a", { version: this.#watched, uid: before.metadata.uid ?? "" }));
  }

  /** A list is requested, made, and arrives, one after the other. */
  list(): void {
    if (!this.#list) this.#list = { begun: this.store.beginList(undefined) };
    else if (this.#list.moment === undefined) this.#list.moment = this.#history.length - 1;
    else {
      const { begun, moment } = this.#list;
      const state = this.#history[moment];
      if (state) begun.seen(state);
      if (state) this.store.put(state, false);
      begun.end(String(moment));
      this.#watched = moment;
      this.#list = undefined;
    }
  }

  check(): void {
    const read = this.store.get(key);
    const after = this.#history.slice(this.#floor).map(nameOf);
    if (!after.includes(nameOf(read))) throw new Error(`${nameOf(read)} is older than one's own writes: ${after}`);
    if (!this.#list && this.#watched >= this.#floor) this.#same("the watch has caught up", [read], [this.#history[this.#watched]]);
    this.#same("all", this.store.list(), read ? [read] : []);
    for (const color of ["red", "blue"]) {
      this.#same(color, this.store.listBy("color", color), read?.spec?.color === color ? [read] : []);
    }
  }

  /** Called a million times, and much faster than `expect`. */
  #same(what: string, is: readonly (Thing | undefined)[], should: readonly (Thing | undefined)[]): void {
    if (is.map(nameOf).join() !== should.map(nameOf).join()) throw new Error(`${what}: ${is.map(nameOf)} should be ${should.map(nameOf)}`);
  }

  /** Everything under way ends. */
  settle(): void {
    while (this.#writes.some(({ done }) => !done)) this.execute(0);
    while (this.#writes.length > 0) this.answer(0);
    while (this.#list) this.list();
    while (this.#watched + 1 < this.#history.length) this.deliver();
    this.check();
    this.#same("in the end", [this.store.get(key)], [this.#state]);
    this.#same("and nothing is shown in its place", [this.store.get(key)], this.#state ? this.store.watched() : [undefined]);
  }

  /** The watch stands still for longer than any overlay may last. */
  wait(): void {
    while (this.#writes.length > 0) {
      this.execute(0);
      this.answer(0);
    }
    this.now += longestMilliseconds;
    this.#same("after the longest time", [this.store.get(key)], [this.store.watched()[0]]);
  }
}

function nameOf(object: Thing | undefined): string {
  return object ? `${object.metadata.uid}@${object.metadata.resourceVersion}` : "nothing";
}

const acts = ["other", "begin", "begin", "execute", "execute", "answer", "answer", "deliver", "deliver", "deliver", "list"] as const;

const step = fc.record({
  act: fc.constantFrom(...acts),
  choice: fc.nat(3),
});

test("no interleaving of writes, answers and events shows readers an older state", { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), fc.boolean(), (steps, waits) => {
      const world = new World();
      for (const { act, choice } of steps) {
        world[act](choice);
        world.check();
      }
      if (waits) world.wait();
      else world.settle();
    }),
    { numRuns: 2000 },
  );
});
