// The engine "memory": the contract in real time, and the behaviour that only a fake clock can show.
import { afterEach, expect, test, vi } from "vitest";
import { FakeClock, settle } from "../fake-clock.fixture.ts";
import { MemoryQueue, type MemoryQueueOptions } from "./memory-queue.ts";
import { again, done, type Outcome, retry, retryWithin, type Worker } from "./queue.ts";
import { describeQueueContract, scriptedWorker } from "./queue-contract.fixture.ts";

describeQueueContract("memory", (options) => new MemoryQueue("contract", options));

const queues: MemoryQueue[] = [];
afterEach(() => Promise.all(queues.splice(0).map((queue) => queue.drain())));

/** A queue with one worker and a fake clock; `times` are the starts of its runs. */
function queueAt(clock: FakeClock, outcome: (runs: number) => Outcome | Promise<Outcome>, options: MemoryQueueOptions = {}) {
  const queue = new MemoryQueue("test", { clock, ...options });
  queues.push(queue);
  const times: number[] = [];
  const worker: Worker = async () => {
    times.push(clock.now());
    return outcome(times.length);
  };
  queue.start(worker, 1);
  return { queue, times };
}

test("the backoff doubles from 5 ms to 1,000 s", async () => {
  const clock = new FakeClock();
  const { queue, times } = queueAt(clock, () => retry);
  queue.add("a");
  await clock.advance(4_000_000);
  const waits = times.slice(1).map((time, i) => time - (times[i] ?? 0));
  expect(waits.slice(0, 6)).toEqual([5, 10, 20, 40, 80, 160]);
  expect(waits.slice(16)).toEqual([327_680, 655_360, 1_000_000, 1_000_000]);
});

test("a retry that has to come within a time does not wait for a backoff that has grown longer", async () => {
  const clock = new FakeClock();
  const { queue, times } = queueAt(clock, () => retryWithin(30_000));
  queue.add("a");
  await clock.advance(200_000);
  const waits = times.slice(1).map((time, i) => time - (times[i] ?? 0));
  expect(waits.slice(0, 3)).toEqual([5, 10, 20]);
  expect(Math.max(...waits)).toBe(30_000);
  expect(waits.at(-1)).toBe(30_000);
});

test("the cap of the backoff is an option", async () => {
  const clock = new FakeClock();
  const { queue, times } = queueAt(clock, () => retry, { backoff: { cap: 12 } });
  queue.add("a");
  await clock.advance(40);
  expect(times).toEqual([0, 5, 15, 27, 39]);
});

test("an add during the backoff leaves the count of failures, and replaces the retry", async () => {
  const clock = new FakeClock();
  const { queue, times } = queueAt(clock, () => retry);
  queue.add("a");
  await clock.advance(16); // failed at 0, 5 and 15
  queue.add("a");
  await clock.advance(100); // failed at 16, the fourth time; nothing at 35, when the third would have been retried
  expect(times).toEqual([0, 5, 15, 16, 56]);
});

test("a worker that causes its own event and fails makes one run a second, not a loop", async () => {
  const clock = new FakeClock();
  const { queue, times } = queueAt(clock, () => {
    queue.add("a");
    return retry;
  });
  queue.add("a");
  await clock.advance(60_000);
  expect(times.slice(0, 4)).toEqual([0, 5, 15, 35]);
  expect(times.slice(-3).map((time, i, last) => time - (last[i - 1] ?? time))).toEqual([0, 1000, 1000]);
});

test.each<[string, Outcome, number | undefined, number | undefined]>([
  ["done leaves the delay of an add during the run", done, 30, 30],
  ["done alone is the end", done, undefined, undefined],
  ["the earlier of add and again", again(50), 30, 30],
  ["the earlier of again and add", again(20), 30, 20],
  ["again for ever is the end", again(Number.POSITIVE_INFINITY), undefined, undefined],
  ["a delay that is not a number is a failure", again(Number.NaN), undefined, 100],
  ["an add during a failing run waits for the follow-up's bound", retry, 0, 10],
  ["a delayed add during a failing run comes before the backoff", retry, 30, 30],
  ["a delayed add after the backoff comes with it", retry, 200, 100],
])("the next run: %s", async (_, outcome, addedFor, expected) => {
  const clock = new FakeClock();
  const { queue, times } = queueAt(
    clock,
    (runs) => {
      if (runs > 1) return done;
      if (addedFor !== undefined) queue.add("a", { after: addedFor });
      return outcome;
    },
    { backoff: { base: 100, followUpCap: 10 } },
  );
  queue.add("a");
  await clock.advance(1000);
  expect(times).toEqual(expected === undefined ? [0] : [0, expected]);
  expect(queue.observe()).toMatchObject({ delayed: 0, running: 0, waiting: { changed: 0, initial: 0 } });
});

test("a key that runs again keeps its priority", async () => {
  const clock = new FakeClock();
  const queue = new MemoryQueue("test", { clock });
  const { worker, runs } = scriptedWorker({ a: [retry, again(10)], b: [again(10)] });
  queue.start(worker, 1);
  queue.add("a", { priority: "initial" });
  queue.add("b");
  await clock.advance(100);
  expect(runs.map(({ key, priority }) => `${key} ${priority}`)).toEqual(["b changed", "a initial", "a initial", "b changed", "a initial"]);
});

test("one timer serves all delays, and none is left after drain", async () => {
  const clock = new FakeClock();
  const { queue, times } = queueAt(clock, () => done);
  for (const after of [500, 100, 300, 200, 400]) queue.add(`key-${after}`, { after });
  expect(clock.armed).toBe(1);
  await clock.advance(250);
  expect(times).toEqual([100, 200]);
  expect(clock.armed).toBe(1);
  await queue.drain();
  expect(clock.armed).toBe(0);
});

test("the listener gets how long a key waited and ran, and observe shows running keys", async () => {
  const clock = new FakeClock();
  const told: string[] = [];
  const first = Promise.withResolvers<Outcome>();
  const { queue } = queueAt(clock, (runs) => (runs === 1 ? first.promise : done), {
    listener: {
      added: (key) => told.push(`${key} added`),
      started: (key, _, waited) => told.push(`${key} waited ${waited}`),
      ended: (key, _, took) => told.push(`${key} took ${took}`),
      rejected: () => {},
    },
  });
  queue.add("a");
  queue.add("b", { after: 10 });
  await clock.advance(30);
  queue.add("a");
  expect(queue.observe()).toMatchObject({ running: 1, unfinished: 30, longestRunning: 30, waiting: { changed: 1, initial: 0 } });
  await clock.advance(5);
  first.resolve(done);
  await settle();
  expect(told).toEqual(["a added", "a waited 0", "b added", "a took 35", "a added", "b waited 25", "b took 0", "a waited 5", "a took 0"]);
});

test("unfinished work is the sum over all runs, the longest is the first one's", async () => {
  const clock = new FakeClock();
  const queue = new MemoryQueue("test", { clock });
  queues.push(queue);
  const end = Promise.withResolvers<Outcome>();
  queue.start(() => end.promise, 2);
  queue.add("a");
  queue.add("b", { after: 20 });
  await clock.advance(50);
  expect(queue.observe()).toMatchObject({ running: 2, unfinished: 80, longestRunning: 50 });
  end.resolve(done);
});

test("a queue that is never empty leaves room for timers", async () => {
  const queue = new MemoryQueue("busy");
  queues.push(queue);
  let runs = 0;
  queue.start(async () => {
    runs++;
    return again(0);
  }, 4);
  for (let i = 0; i < 100; i++) queue.add(`key-${i}`);
  await new Promise((resolve) => setTimeout(resolve, 20)); // would never fire if microtasks followed each other without end
  expect(runs).toBeGreaterThan(100);
});

test("runs with slow synchronous code leave room for timers", async () => {
  const queue = new MemoryQueue("slow");
  queues.push(queue);
  let ran = 0;
  queue.start(async () => {
    const begin = performance.now();
    while (performance.now() - begin < 2);
    ran++;
    return done;
  }, 1);
  for (let i = 0; i < 200; i++) queue.add(`key-${i}`);
  await vi.waitFor(() => expect(ran).toBeGreaterThan(0), { interval: 1 });
  expect(ran).toBeLessThan(100); // a timer fired well before all 200 were done
});

test.each([
  ["a delay", (queue: MemoryQueue) => queue.add("a", { after: Number.NaN })],
  ["a concurrency of nothing", (queue: MemoryQueue) => queue.start(async () => done, 0)],
])("%s that is no number is refused", (_, call) => {
  expect(() => call(new MemoryQueue("test"))).toThrow(RangeError);
});

test("a second start of a queue is refused", () => {
  const { queue } = queueAt(new FakeClock(), () => done);
  expect(() => queue.start(async () => done, 1)).toThrow("started before");
});
