// Random histories of a queue, each compared with a model of which runs must happen and when.
import fc from "fast-check";
import { expect, test } from "vitest";
import { FakeClock, settle } from "../fake-clock.fixture.ts";
import { MemoryQueue } from "./memory-queue.ts";
import { again, done, moreUrgent, type Outcome, type Priority, type QueueListener, type Run, retry, type Worker } from "./queue.ts";

const backoff = { base: 20, cap: 100, followUpCap: 5 };
const concurrency = 3;

/** The contract for one key, without lists, heaps and timers. */
interface Expected {
  /** The future run, if there is one. */
  next?: { readonly due: number; readonly priority: Priority } | undefined;
  failures: number;
  running?: { readonly priority: Priority; readonly end: (outcome: Outcome | Error) => void } | undefined;
}

class Model {
  readonly clock = new FakeClock();
  readonly queue: MemoryQueue;
  readonly #keys = new Map<string, Expected>();
  #mistake: unknown;

  constructor(listener: QueueListener | undefined) {
    this.queue = new MemoryQueue("model", { clock: this.clock, backoff, ...(listener && { listener }) });
    // Not async: that would take more microtasks, and the queue must learn of an end before the next event.
    const worker: Worker = (key, run) => {
      try {
        this.#checkBegin(key, run);
      } catch (error) {
        this.#mistake ??= error; // the queue would take it for a failed run
      }
      return this.#begin(key, run);
    };
    this.queue.start(worker, concurrency);
  }

  add(key: string, after: number, priority: Priority): void {
    this.queue.add(key, { after, priority });
    this.#expectRun(this.#of(key), this.clock.now() + after, priority);
  }

  /** Ends the run of that key, if there is one. */
  end(key: string, outcome: Outcome | Error): void {
    const expected = this.#of(key);
    const { running } = expected;
    if (!running) return;
    running.end(outcome);
    expected.running = undefined;
    const now = this.clock.now();
    if (!(outcome instanceof Error) && outcome.kind !== "retry") {
      expected.failures = 0;
      if (outcome.kind === "again") this.#expectRun(expected, now + outcome.after, running.priority);
      return;
    }
    const delay = Math.min(backoff.base * 2 ** expected.failures++, backoff.cap);
    const soonest = now + Math.min(delay, backoff.followUpCap);
    if (expected.next && expected.next.due < soonest) expected.next = { ...expected.next, due: soonest };
    this.#expectRun(expected, now + delay, running.priority);
  }

  /** No due key is left while a worker is free, and no "initial" key runs where a "changed" one could. */
  check(): void {
    if (this.#mistake) throw this.#mistake;
    const all = [...this.#keys.values()];
    const due = all.filter(({ next, running }) => next && !running && next.due <= this.clock.now());
    const running = all.filter((expected) => expected.running).length;
    if (running < concurrency) expect(due).toEqual([]);
    const delayed = all.filter(({ next, running }) => next && !running).length - due.length;
    const waiting = (priority: Priority) => due.filter(({ next }) => next?.priority === priority).length;
    expect(this.queue.observe()).toMatchObject({
      running,
      delayed,
      waiting: { changed: waiting("changed"), initial: waiting("initial") },
    });
  }

  /** Lets all runs succeed until none is left. */
  async finish(): Promise<void> {
    while ([...this.#keys.values()].some(({ next, running }) => next || running)) {
      for (const key of this.#keys.keys()) {
        this.end(key, done);
        await undefined; // one after the other: the queue learns of this end in the next microtask
      }
      await this.clock.advance(10);
      this.check();
    }
    await this.clock.advance(10_000); // time for a run that no add asked for
    this.check();
  }

  #checkBegin(key: string, run: Run): void {
    const expected = this.#of(key);
    expect(expected.running, `${key} runs already`).toBeUndefined();
    expect(expected.next?.due, `${key} has a reason to run now`).toBeLessThanOrEqual(this.clock.now());
    expect(run).toEqual({ attempt: expected.failures + 1, priority: expected.next?.priority });
    if (run.priority === "initial") {
      const urgent = [...this.#keys.values()].filter(({ next, running }) => next?.priority === "changed" && !running);
      for (const { next } of urgent) expect(next?.due, "something changed waits").toBeGreaterThan(this.clock.now());
    }
  }

  #begin(key: string, run: Run): Promise<Outcome> {
    const expected = this.#of(key);
    expected.next = undefined;
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const end = (outcome: Outcome | Error) => (outcome instanceof Error ? reject(outcome) : resolve(outcome));
    expected.running = { priority: run.priority, end };
    return promise;
  }

  #expectRun(expected: Expected, due: number, priority: Priority): void {
    const { next } = expected;
    expected.next = { due: Math.min(due, next?.due ?? due), priority: moreUrgent(priority, next?.priority ?? priority) };
  }

  #of(key: string): Expected {
    const expected = this.#keys.get(key) ?? { failures: 0 };
    this.#keys.set(key, expected);
    return expected;
  }
}

const key = fc.constantFrom("a", "b", "c", "d", "e", "f");
const delay = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 200 }));
const outcome: fc.Arbitrary<Outcome | Error> = fc.oneof(
  fc.constant(done),
  fc.constant(retry),
  fc.constant(new Error("a mistake")),
  delay.map(again),
);
const priority = fc.constantFrom<Priority>("changed", "initial");

type Event =
  | { readonly add: string; readonly after: number; readonly priority: Priority }
  | { readonly end: string; readonly outcome: Outcome | Error }
  | { readonly advance: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ add: key, after: delay, priority }) },
  { weight: 3, arbitrary: fc.record({ end: key, outcome }) },
  { weight: 2, arbitrary: fc.record({ advance: fc.integer({ min: 1, max: 60 }) }) },
);

async function happen(event: Event, model: Model): Promise<void> {
  if ("add" in event) model.add(event.add, event.after, event.priority);
  else if ("end" in event) model.end(event.end, event.outcome);
  else await model.clock.advance(event.advance);
}

/** With a listener, the queue reads the clock where it does not otherwise. */
const listener: QueueListener = { added() {}, started() {}, ended() {}, rejected() {} };

test("every random history has the runs of the model, at their times, and loses none", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(event, fc.boolean()), { maxLength: 60, size: "max" }),
      fc.constantFrom(listener, undefined),
      async (history, listener) => {
        const model = new Model(listener);
        for (const [event, alone] of history) {
          await happen(event, model);
          if (!alone) continue; // what happens next happens in the same turn
          await settle();
          model.check();
        }
        await settle();
        model.check();
        await model.finish();
      },
    ),
    { numRuns: 100 },
  );
}, 60_000); // takes well under a second on a machine that is not busy
