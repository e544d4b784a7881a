// The tests that every engine of the work queue must pass. In real time, since not every engine accepts a fake clock.
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Backoff } from "./backoff.ts";
import { again, done, type Outcome, type Priority, type Queue, type QueueListener, type Run, retry, type Worker } from "./queue.ts";

export interface ContractOptions {
  readonly backoff?: Partial<Backoff>;
  readonly listener?: QueueListener;
}

const patience = { timeout: 10_000, interval: 2 };
const aMinute = 60_000; // far beyond every deadline here: a key with this delay that runs was brought forward

/** A worker that records its runs. Each run ends with the next outcome in the script of its key, and with `done` after the last. */
export function scriptedWorker(scripts: Readonly<Record<string, readonly (Outcome | Error | Promise<Outcome>)[]>> = {}) {
  const runs: (Run & { readonly key: string; readonly at: number })[] = [];
  const worker: Worker = async (key, run) => {
    const outcome = scripts[key]?.[runs.filter((earlier) => earlier.key === key).length] ?? done;
    runs.push({ key, ...run, at: performance.now() });
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  return { worker, runs, keys: () => runs.map(({ key }) => key), attempts: () => runs.map(({ attempt }) => attempt) };
}

/** `makeQueue` returns an empty queue each time, which shares nothing with those before. */
export function describeQueueContract(name: string, makeQueue: (options?: ContractOptions) => Queue | Promise<Queue>): void {
  describe(`queue contract: ${name}`, { timeout: 60_000 }, () => {
    const queues: Queue[] = [];
    const open = async (options?: ContractOptions) => {
      const queue = await makeQueue(options);
      queues.push(queue);
      return queue;
    };
    afterEach(() => Promise.all(queues.splice(0).map((queue) => queue.drain())));

    /** Resolves when all keys that waited before have run; with one worker, that also shows which did not run. */
    const passed = async (queue: Queue, keys: () => string[]) => {
      queue.add("barrier", { priority: "initial" });
      await vi.waitFor(() => expect(keys()).toContain("barrier"), patience);
      return keys().filter((key) => key !== "barrier");
    };

    test("keys that were added before and after the start run once each, in order", async () => {
      const queue = await open();
      const { worker, keys } = scriptedWorker();
      for (const key of ["a", "b", "a", "a"]) queue.add(key);
      queue.start(worker, 1);
      queue.add("c");
      expect(keys()).toEqual([]); // never from within add or start
      expect(await passed(queue, keys)).toEqual(["a", "b", "c"]);
    });

    test("changed keys run before initial ones, and a key that was added as both counts as changed", async () => {
      const queue = await open();
      const { worker, runs, keys } = scriptedWorker();
      const adds: [string, Priority][] = [
        ["a", "initial"],
        ["b", "initial"],
        ["c", "changed"],
        ["b", "changed"],
        ["c", "initial"],
      ];
      for (const [key, priority] of adds) queue.add(key, { priority });
      queue.start(worker, 1);
      expect(await passed(queue, keys)).toEqual(["c", "b", "a"]);
      expect(runs.slice(0, 3).map(({ priority }) => priority)).toEqual(["changed", "changed", "initial"]);
    });

    test("any number of adds during a run cause one more run, and other keys do not wait for it", async () => {
      const queue = await open();
      const first = Promise.withResolvers<Outcome>();
      const { worker, keys } = scriptedWorker({ a: [first.promise] });
      queue.start(worker, 2);
      queue.add("a");
      await vi.waitFor(() => expect(keys()).toEqual(["a"]), patience);
      for (let i = 0; i < 5; i++) queue.add("a");
      expect(await passed(queue, keys)).toEqual(["a"]); // the free worker ran other keys
      first.resolve(done);
      await vi.waitFor(() => expect(keys()).toEqual(["a", "barrier", "a"]), patience);
      queue.add("after");
      await vi.waitFor(() => expect(keys()).toEqual(["a", "barrier", "a", "after"]), patience);
    });

    test("no more runs happen at once than there are workers", async () => {
      const queue = await open();
      let [now, most, ended] = [0, 0, 0];
      const slowly: Worker = async () => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 5));
        now--;
        ended++;
        return done;
      };
      queue.start(slowly, 3);
      for (let i = 0; i < 12; i++) queue.add(`key-${i}`);
      await vi.waitFor(() => expect(ended).toBe(12), patience);
      expect(most).toBe(3);
    });

    test("a key waits for its delay, and of several delays the shortest counts, in any order", async () => {
      const queue = await open();
      const { worker, runs, keys } = scriptedWorker();
      queue.start(worker, 1);
      const begin = performance.now();
      for (const after of [aMinute, 50, aMinute]) queue.add("delayed", { after });
      queue.add("put off", { after: aMinute });
      queue.add("put off");
      await vi.waitFor(() => expect(keys()).toEqual(["put off", "delayed"]), patience);
      expect((runs[1]?.at ?? 0) - begin).toBeGreaterThanOrEqual(49); // a server's clock may count in whole milliseconds
    });

    test("a key runs again after the delay of `again`, and earlier on an add", async () => {
      const queue = await open();
      const { worker, runs, keys } = scriptedWorker({ a: [again(50), again(aMinute)] });
      queue.start(worker, 1);
      queue.add("a");
      await vi.waitFor(() => expect(keys()).toEqual(["a", "a"]), patience);
      expect((runs[1]?.at ?? 0) - (runs[0]?.at ?? 0)).toBeGreaterThanOrEqual(49);
      queue.add("a");
      await vi.waitFor(() => expect(keys()).toEqual(["a", "a", "a"]), patience);
    });

    test("an add during a run takes precedence over the `again` that the run returns", async () => {
      const queue = await open();
      const first = Promise.withResolvers<Outcome>();
      const { worker, keys } = scriptedWorker({ a: [first.promise] });
      queue.start(worker, 1);
      queue.add("a");
      await vi.waitFor(() => expect(keys()).toEqual(["a"]), patience);
      queue.add("a");
      first.resolve(again(aMinute));
      await vi.waitFor(() => expect(keys()).toEqual(["a", "a"]), patience);
    });

    test.each<[string, Outcome]>([
      ["done", done],
      ["again", again(0)],
    ])("failures are counted, and forgotten after the outcome %s", async (_, good) => {
      const queue = await open();
      const { worker, attempts } = scriptedWorker({ a: [retry, new Error("a mistake"), retry, good, retry] });
      queue.start(worker, 1);
      queue.add("a");
      await vi.waitFor(() => expect(attempts().slice(0, 4)).toEqual([1, 2, 3, 4]), patience);
      queue.add("a");
      await vi.waitFor(() => expect(attempts().slice(4, 6)).toEqual([1, 2]), patience);
    });

    test("an add during the backoff runs at once, and the count of failures stays", async () => {
      const queue = await open({ backoff: { base: aMinute } });
      const { worker, attempts, keys } = scriptedWorker({ a: [retry] });
      queue.start(worker, 1);
      queue.add("a");
      expect(await passed(queue, keys)).toEqual(["a"]);
      queue.add("a");
      await vi.waitFor(() => expect(attempts()).toEqual([1, 1, 2]), patience);
    });

    test("an add during a run that fails does not wait for a long backoff", async () => {
      const queue = await open({ backoff: { base: aMinute, followUpCap: 20 } });
      const first = Promise.withResolvers<Outcome>();
      const { worker, attempts } = scriptedWorker({ a: [first.promise] });
      queue.start(worker, 1);
      queue.add("a");
      await vi.waitFor(() => expect(attempts()).toEqual([1]), patience);
      queue.add("a");
      first.resolve(retry);
      await vi.waitFor(() => expect(attempts()).toEqual([1, 2]), patience);
    });

    test("a worker that rejects disturbs no other key, and the listener gets the error", async () => {
      const told: string[] = [];
      const listener: QueueListener = {
        added: (key, priority) => told.push(`added ${key} ${priority}`),
        started: (key, { attempt }, waited) => told.push(`started ${key} ${attempt} ${waited >= 0}`),
        ended: (key, { kind }, took) => told.push(`ended ${key} ${kind} ${took >= 0}`),
        rejected: (key, error) => told.push(`rejected ${key} ${error}`),
      };
      const queue = await open({ listener, backoff: { base: aMinute } });
      const { worker } = scriptedWorker({ a: [new Error("a mistake")] });
      queue.add("a");
      queue.add("b", { priority: "initial" });
      queue.start(worker, 1);
      await vi.waitFor(() => expect(told).toContain("ended b done true"), patience);
      expect(told).toEqual([
        "added a changed",
        "added b initial",
        "started a 1 true",
        "rejected a Error: a mistake",
        "ended a retry true",
        "started b 1 true",
        "ended b done true",
      ]);
    });

    test("drain waits for running keys, drops the others and ends the queue", async () => {
      const queue = await open();
      const first = Promise.withResolvers<Outcome>();
      const { worker, keys } = scriptedWorker({ running: [first.promise] });
      queue.start(worker, 1);
      queue.add("running");
      await vi.waitFor(() => expect(keys()).toEqual(["running"]), patience);
      queue.add("running");
      queue.add("waiting");
      queue.add("delayed", { after: 1 });
      let drained = false;
      const draining = queue.drain().then(() => {
        drained = true;
      });
      queue.add("late");
      const other = await open();
      const meanwhile = scriptedWorker();
      other.start(meanwhile.worker, 1);
      other.add("later than delayed", { after: 20 });
      await vi.waitFor(() => expect(meanwhile.keys()).toHaveLength(1), patience);
      expect(drained).toBe(false);
      first.resolve(retry);
      await draining;
      await queue.drain();
      expect(keys()).toEqual(["running"]);
      expect(queue.observe()).toMatchObject({ waiting: { changed: 0, initial: 0 }, delayed: 0, running: 0 });
    });

    test("drain of a queue that was never started resolves, and a start after it runs nothing", async () => {
      const queue = await open();
      const { worker, keys } = scriptedWorker();
      queue.add("a");
      await queue.drain();
      queue.start(worker, 1);
      expect(keys()).toEqual([]);
    });

    test("observe returns the numbers for the gauges", async () => {
      const queue = await open();
      const first = Promise.withResolvers<Outcome>();
      const { worker } = scriptedWorker({ a: [first.promise] });
      queue.start(worker, 1);
      for (const key of ["a", "b", "c"]) queue.add(key);
      queue.add("d", { priority: "initial" });
      queue.add("e", { after: aMinute });
      const state = { waiting: { changed: 2, initial: 1 }, delayed: 1, running: 1 };
      await vi.waitFor(() => expect(queue.observe()).toMatchObject(state), patience);
      await vi.waitFor(() => expect(queue.observe().longestRunning).toBeGreaterThan(0), patience);
      expect(queue.observe().unfinished).toBeGreaterThan(0);
      first.resolve(done);
    });

    test("of thousands of adds at random, none is lost and no key runs twice at once", async () => {
      const queue = await open({ backoff: { base: 1, cap: 4, followUpCap: 4 } });
      const keys = Array.from({ length: 100 }, (_, i) => `key-${i}`);
      const answered = new Map<string, number>(); // how many adds there were when the last good run began
      const asked = new Map<string, number>();
      const running = new Set<string>();
      const twice: string[] = [];
      const worker: Worker = async (key) => {
        if (running.has(key)) twice.push(key);
        running.add(key);
        const seen = asked.get(key) ?? 0;
        if (Math.random() < 0.5) await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
        running.delete(key);
        if (Math.random() < 0.3) return retry;
        if (Math.random() < 0.1) throw new Error("a mistake");
        answered.set(key, seen);
        return done;
      };
      queue.start(worker, 8);
      for (let i = 0; i < 3000; i++) {
        const key = keys[Math.floor(Math.random() * keys.length)] ?? "";
        asked.set(key, (asked.get(key) ?? 0) + 1);
        queue.add(key, { after: Math.random() < 0.5 ? 0 : Math.random() * 10, priority: Math.random() < 0.5 ? "changed" : "initial" });
        if (i % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await vi.waitFor(() => expect(answered).toEqual(asked), patience);
      expect(twice).toEqual([]);
    });
  });
}
