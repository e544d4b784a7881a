import { expect, test } from "vitest";
import { type Ending, isMistake } from "../controller/ending.ts";
import { FakeClock } from "../fake-clock.fixture.ts";
import { Unreachable } from "../kube/errors.ts";
import { MemoryQueue } from "../queue/memory-queue.ts";
import { again, done, type Outcome, retry } from "../queue/queue.ts";
import { samples } from "./metric-samples.fixture.ts";
import { createMetrics } from "./metrics.ts";

const newMetrics = () => createMetrics({ processMetrics: false });

test.each<[Ending, string, string | undefined]>([
  ["success", "success", undefined],
  ["requeue", "requeue", undefined],
  ["requeue_after", "requeue_after", undefined],
  ["error", "error", "reconcile_errors"],
  ["terminal_error", "error", "terminal_reconcile_errors"],
  ["panic", "error", "reconcile_panics"],
  ["timeout", "error", "reconcile_timeouts"],
])("a reconcile that ends with %s counts as %s", async (ending, result, also) => {
  const metrics = newMetrics();
  const { ended } = metrics.controller("c", 1);
  ended(ending, 250);
  const counted = await samples(metrics);
  const ones = Object.keys(counted).filter((name) => name.includes("_total") && counted[name] === 1);
  expect(ones.sort()).toEqual(
    [
      ...new Set([
        `controller_runtime_reconcile_total{controller="c",result="${result}"}`,
        ...(result === "error" ? ['controller_runtime_reconcile_errors_total{controller="c"}'] : []),
        ...(also === undefined ? [] : [`controller_runtime_${also}_total{controller="c"}`]),
      ]),
    ].sort(),
  );
  expect(counted['controller_runtime_reconcile_time_seconds_sum{controller="c"}']).toBe(0.25);
});

test("the queue metrics show keys that wait, run, are delayed and are retried", async () => {
  const clock = new FakeClock();
  const metrics = newMetrics();
  const recorder = metrics.controller("c", 1);
  const queue = new MemoryQueue("c", { clock, listener: recorder.queue });
  recorder.observeQueue(() => queue.observe());
  const ends = new Map<string, (outcome: Outcome) => void>();
  for (const key of ["a", "b"]) queue.add(key);
  queue.add("list", { priority: "initial" });
  queue.add("later", { after: 60_000 });
  await clock.advance(2000);
  queue.start((key) => new Promise((resolve) => ends.set(key, resolve)), 1);
  await clock.advance(3000);
  const labels = '{name="c",controller="c"}';
  expect(await samples(metrics)).toMatchObject({
    'workqueue_depth{name="c",controller="c",priority="0"}': 1,
    'workqueue_depth{name="c",controller="c",priority="-100"}': 1,
    [`workqueue_adds_total${labels}`]: 3,
    [`workqueue_queue_duration_seconds_sum${labels}`]: 2,
    [`workqueue_unfinished_work_seconds${labels}`]: 3,
    [`workqueue_longest_running_processor_seconds${labels}`]: 3,
    'controller_runtime_active_workers{controller="c"}': 1,
    'sampledb_runtime_queue_delayed{controller="c"}': 1,
  });
  for (const [key, outcome] of [
    ["a", retry],
    ["b", again(90_000)],
    ["list", done],
  ] as const) {
    ends.get(key)?.(outcome);
    await clock.advance(1); // too short for the retry
  }
  const ended = await samples(metrics);
  expect(ended[`workqueue_work_duration_seconds_count${labels}`]).toBe(3);
  expect(ended[`workqueue_retries_total${labels}`]).toBe(2);
  await queue.drain();
});

test.each<[boolean, unknown]>([
  [true, new TypeError("x is not a function")],
  [true, new AggregateError([new Error("a"), new ReferenceError("b")])],
  [false, new Unreachable("away")],
  [false, new Error("anything")],
  [false, "text"],
])("isMistake is %s for %s", (mistake, error) => {
  expect(isMistake(error)).toBe(mistake);
});
