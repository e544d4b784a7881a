// How a controller runs reconciles, with a fake clock and without an API server.
import { expect, test } from "vitest";
import { Cache } from "../cache/cache.ts";
import { FakeClock, settle } from "../fake-clock.fixture.ts";
import { KubeClient } from "../kube/client.ts";
import { Credentials } from "../kube/credentials.ts";
import { Aborted, TryLater } from "../kube/errors.ts";
import { namespaced } from "../kube/resource.ts";
import { Transport } from "../kube/transport.ts";
import { createLog } from "../observability/log.ts";
import { MemoryQueue } from "../queue/memory-queue.ts";
import { ControllerBuilder, type Prompt, type ReconcileOptions, type Request } from "./builder.ts";
import { Controller } from "./controller.ts";
import { after, awaitChange, type Result, TerminalError } from "./result.ts";

const things = namespaced("v1", "Thing", "things");
const forever = new Promise<never>(() => {});

function start(
  reconcile: (request: Request, run: number) => Promise<Result> | Result,
  options: ReconcileOptions = {},
  prompt: Prompt = () => () => {},
) {
  const clock = new FakeClock();
  const transport = new Transport(
    new Credentials(() => {
      throw new Error("there is no API server");
    }),
  );
  const client = new KubeClient(transport, { fieldManager: "test" });
  const queue = new MemoryQueue("test", { clock });
  const endings: string[] = [];
  const runs: { key: string; at: number }[] = [];
  const lines: string[] = [];
  const definition = ControllerBuilder.for("test", things)
    .prompted(prompt)
    .reconcile(async (request) => {
      runs.push({ key: request.key.name, at: clock.now() });
      return await reconcile(request, runs.length);
    }, options);
  const controller = new Controller(definition, {
    cache: new Cache({ client }),
    client,
    queue,
    clock,
    log: createLog({ level: "info", pretty: false, destination: { write: (line) => void lines.push(line) } }),
    ended: (ending) => void endings.push(ending),
    objects: { hashAnnotation: "test/hash" },
  });
  controller.start();
  return { controller, queue, clock, endings, runs, lines, times: () => runs.map(({ at }) => at) };
}

test.each<[string, () => unknown, string]>([
  ["an Error", () => new Error("why"), "why"],
  ["a text", () => "why", "why"],
  ["undefined", () => undefined, "what was thrown is no Error"],
  ["an object that can't become text", () => Object.create(null), "what was thrown is no Error"],
])("a reconcile that throws %s is retried with growing delays", async (_, thrown, message) => {
  const { queue, clock, endings, times, lines } = start(() => {
    throw thrown();
  });
  queue.add("n/x");
  await clock.advance(36);
  expect(times()).toEqual([0, 5, 15, 35]);
  expect(endings).toEqual(["error", "error", "error", "error"]);
  expect(JSON.parse(lines[3] ?? "")).toMatchObject({ error: { message }, attempt: 4, controller: "test", namespace: "n", name: "x" });
});

test("a bug in the code is counted as a panic", async () => {
  const { queue, clock, endings } = start((_, run) => {
    if (run === 1) throw new TypeError("x is undefined");
    return awaitChange;
  });
  queue.add("x");
  await clock.advance(10);
  expect(endings).toEqual(["panic", "success"]);
});

test("after a terminal error the key waits for a change", async () => {
  const { queue, clock, endings, times } = start(() => {
    throw new TerminalError("never");
  });
  queue.add("x");
  await clock.advance(10_000_000);
  queue.add("x");
  await clock.advance(10_000_000);
  expect(times()).toEqual([0, 10_000_000]);
  expect(endings).toEqual(["terminal_error", "terminal_error"]);
});

test("a key runs again at the requested time, and earlier on a change", async () => {
  const { queue, clock, times } = start((_, run) => (run < 3 ? after(30) : awaitChange));
  queue.add("x");
  await clock.advance(10_000);
  queue.add("x");
  await clock.advance(100_000);
  expect(times()).toEqual([0, 10_000, 40_000]);
});

test("a pause that the API server asked for holds even after a change", async () => {
  const { queue, clock, times, endings } = start((_, run) => {
    if (run === 1) throw new TryLater({ method: "PATCH", path: "/" }, 429, {}, 2000);
    return awaitChange;
  });
  queue.add("x");
  await clock.advance(500);
  queue.add("x");
  queue.add("y");
  await clock.advance(5000);
  queue.add("x");
  await clock.advance(5000);
  expect(times()).toEqual([0, 500, 2000, 5500]);
  expect(endings).toEqual(["requeue_after", "success", "success", "success"]);
});

test("a reconcile that hangs is aborted with its signal, and its key is retried", async () => {
  const requests: Request[] = [];
  const { queue, clock, endings, times } = start(
    (request, run) => {
      requests.push(request);
      return run === 1 ? forever : awaitChange;
    },
    { timeoutSeconds: 9 },
  );
  queue.add("x");
  await clock.advance(8999);
  expect(requests[0]?.signal.aborted).toBe(false);
  await clock.advance(10);
  expect(requests[0]?.signal.reason).toMatchObject({ name: "ReconcileTimedOut" });
  await expect(requests[0]?.client.get(things, { namespace: "n", name: "x" })).rejects.toThrow(Aborted);
  expect([endings, times()]).toEqual([
    ["timeout", "success"],
    [0, 9005],
  ]);
  expect(clock.armed).toBe(0);
});

test("calls that a reconcile left behind are refused after its end", async () => {
  const requests: Request[] = [];
  const { queue } = start((request) => {
    requests.push(request);
    return awaitChange;
  });
  queue.add("x");
  await settle();
  await expect(requests[0]?.client.delete(things, { namespace: "n", name: "x" })).rejects.toThrow(Aborted);
});

test("as many keys run at once as allowed, and never two reconciles of one key", async () => {
  const running = new Map<string, number>();
  let most = 0;
  const { queue, clock, runs } = start(
    async ({ key }) => {
      running.set(key.name, (running.get(key.name) ?? 0) + 1);
      most = Math.max(
        most,
        [...running.values()].reduce((a, b) => a + b),
      );
      expect(running.get(key.name)).toBe(1);
      await new Promise<void>((resolve) => void clock.schedule(10, resolve));
      running.set(key.name, 0);
      return awaitChange;
    },
    { maxConcurrentReconciles: 3 },
  );
  for (let round = 0; round < 4; round++) {
    for (const name of ["a", "b", "c", "d", "e"]) queue.add(name);
    await clock.advance(5);
  }
  await clock.advance(1000);
  expect(most).toBe(3);
  expect(runs.length).toBeGreaterThan(5);
});

test("a drain waits for reconciles under way; giveUp aborts them", async () => {
  const signals: AbortSignal[] = [];
  const { controller, queue, clock, endings, lines, runs } = start(({ signal }) => {
    signals.push(signal);
    return forever;
  });
  queue.add("a");
  queue.add("b");
  await settle();
  let drained = false;
  void controller.drain().then(() => {
    drained = true;
  });
  await clock.advance(60_000);
  expect([drained, signals[0]?.aborted]).toEqual([false, false]);
  await controller.giveUp(new Error("lost"));
  expect([drained, signals[0]?.aborted]).toEqual([true, true]);
  expect(signals[0]?.reason).toMatchObject({ name: "GivenUp", cause: { message: "lost" } });
  await clock.advance(1_000_000);
  expect([endings, lines, runs.length, clock.armed]).toEqual([["error"], [], 1, 0]);
});

test("a prompt causes reconciles from the start of the controller until it ends", async () => {
  let prompt = (_: string) => {};
  let ended = 0;
  const { controller, clock, runs } = start(
    () => awaitChange,
    {},
    (enqueue) => {
      prompt = (name) => enqueue({ namespace: "n", name });
      return () => void ended++;
    },
  );
  prompt("x");
  await clock.advance(1);
  expect(runs.map(({ key }) => key)).toEqual(["x"]);
  await controller.drain();
  expect(ended).toBe(1);
});
