import { expect, test } from "vitest";
import { Aborted, apiError, DeadlineExceeded, Unreachable } from "../kube/errors.ts";
import { MemoryQueue } from "../queue/memory-queue.ts";
import { samples } from "./metric-samples.fixture.ts";
import { createMetrics, hostOf, watchEnd } from "./metrics.ts";

const newMetrics = () => createMetrics({ processMetrics: false });

test("metric names and labels are those of controller-runtime 0.25", async () => {
  const metrics = newMetrics();
  const { observeQueue } = metrics.controller("c", 3);
  observeQueue(() => new MemoryQueue("c").observe());
  metrics.leader("lease");
  metrics.webhooks("/validate", 200, 0.005);
  metrics.requests({ method: "GET", path: "/x", deadline: 1, pool: "calls" }, "https://10.0.0.1:443", "200", 5);
  const queue = 'name="c",controller="c"';
  expect(Object.keys(await samples(metrics)).sort()).toEqual(
    [
      ...["success", "error", "requeue", "requeue_after"].map(
        (result) => `controller_runtime_reconcile_total{controller="c",result="${result}"}`,
      ),
      'controller_runtime_reconcile_errors_total{controller="c"}',
      'controller_runtime_terminal_reconcile_errors_total{controller="c"}',
      'controller_runtime_reconcile_panics_total{controller="c"}',
      'controller_runtime_reconcile_timeouts_total{controller="c"}',
      'controller_runtime_max_concurrent_reconciles{controller="c"}',
      'controller_runtime_active_workers{controller="c"}',
      `workqueue_depth{${queue},priority="0"}`,
      `workqueue_depth{${queue},priority="-100"}`,
      `workqueue_adds_total{${queue}}`,
      `workqueue_retries_total{${queue}}`,
      `workqueue_unfinished_work_seconds{${queue}}`,
      `workqueue_longest_running_processor_seconds{${queue}}`,
      ...["sum", "count"].flatMap((part) => [
        `workqueue_queue_duration_seconds_${part}{${queue}}`,
        `workqueue_work_duration_seconds_${part}{${queue}}`,
        `rest_client_request_duration_seconds_${part}{verb="GET",host="10.0.0.1:443"}`,
        `controller_runtime_webhook_latency_seconds_${part}{webhook="/validate"}`,
      ]),
      'rest_client_requests_total{code="200",method="GET",host="10.0.0.1:443"}',
      'leader_election_master_status{name="lease"}',
      'controller_runtime_webhook_requests_total{webhook="/validate",code="200"}',
      'controller_runtime_webhook_requests_total{webhook="/validate",code="500"}',
      'sampledb_runtime_queue_delayed{controller="c"}',
    ].sort(),
  );
});

test("histogram buckets are those of controller-runtime 0.25", async () => {
  const metrics = newMetrics();
  const { ended } = metrics.controller("c", 1);
  ended("success", 1);
  metrics.requests({ method: "GET", path: "/x", deadline: 1, pool: "calls" }, "https://h", "200", 5);
  const text = await metrics.text();
  const buckets = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"`, "gm"))].map(([, bound]) =>
      Number(bound === "+Inf" ? "Infinity" : bound),
    );
  expect(buckets("controller_runtime_reconcile_time_seconds")).toHaveLength(41);
  expect(buckets("rest_client_request_duration_seconds")).toEqual([
    0.005,
    0.025,
    0.1,
    0.25,
    0.5,
    1,
    2,
    4,
    8,
    15,
    30,
    60,
    Number.POSITIVE_INFINITY,
  ]);
  const queue = buckets("workqueue_queue_duration_seconds");
  expect([queue.length, queue[0], queue.at(-2)?.toFixed(3)]).toEqual([13, 1e-8, "1000.000"]);
});

test("watches are counted without a duration, calls with one, failures as <error>", async () => {
  const metrics = newMetrics();
  const request = { path: "/x", deadline: 1 } as const;
  metrics.requests({ ...request, method: "GET", pool: "watches" }, "https://h:6443", "200", 300_000);
  metrics.requests({ ...request, method: "PATCH", pool: "calls" }, "https://h:6443", "<error>", 2000);
  expect(await samples(metrics)).toMatchObject({
    'rest_client_requests_total{code="200",method="GET",host="h:6443"}': 1,
    'rest_client_requests_total{code="<error>",method="PATCH",host="h:6443"}': 1,
    'rest_client_request_duration_seconds_sum{verb="PATCH",host="h:6443"}': 2,
  });
  expect(await metrics.text()).not.toContain('verb="GET"');
});

test.each([
  ["https://10.0.0.1:443", "10.0.0.1:443"],
  ["https://[::1]:6443/prefix", "[::1]:6443"],
  ["https://user:password@example.com/x", "example.com"],
  ["nonsense", ""],
])("the host of %s is %s", (server, host) => {
  expect(hostOf(server)).toBe(host);
});

const call = { method: "WATCH", path: "/x" };
test.each<[string, unknown]>([
  ["timeout", undefined],
  ["gone", apiError(call, 410, {})],
  ["silent", new DeadlineExceeded("late")],
  ["silent", new Unreachable("nothing was heard", { cause: new Aborted("given up") })],
  ["unreachable", new Unreachable("reset", { cause: new Error("ECONNRESET") })],
  ["refused", apiError(call, 403, {})],
  ["refused", apiError(call, 429, {})],
  ["error", new SyntaxError("no JSON")],
])("the cause of a watch's end: %s", (cause, error) => {
  expect(watchEnd(error)).toBe(cause);
});

test("the metrics show lists, watches and objects of the cache", async () => {
  const metrics = newMetrics();
  metrics.cache.listed("pods");
  metrics.cache.watchEnded("pods", undefined);
  metrics.cache.watchEnded("pods", apiError(call, 410, {}));
  metrics.observeWatches(() => [{ resource: "pods", objects: 7, silentSeconds: 1.5 }]);
  expect(await samples(metrics)).toEqual({
    'sampledb_runtime_lists_total{resource="pods"}': 1,
    'sampledb_runtime_watch_restarts_total{resource="pods",cause="timeout"}': 1,
    'sampledb_runtime_watch_restarts_total{resource="pods",cause="gone"}': 1,
    'sampledb_runtime_cache_objects{resource="pods"}': 7,
    'sampledb_runtime_watch_silence_seconds{resource="pods"}': 1.5,
  });
});

test("webhook requests are counted by code", async () => {
  const metrics = newMetrics();
  for (const code of [200, 200, 413]) metrics.webhooks("/v", code, 0.5);
  expect(await samples(metrics)).toEqual({
    'controller_runtime_webhook_requests_total{webhook="/v",code="200"}': 2,
    'controller_runtime_webhook_requests_total{webhook="/v",code="413"}': 1,
    'controller_runtime_webhook_requests_total{webhook="/v",code="500"}': 0,
    'controller_runtime_webhook_latency_seconds_sum{webhook="/v"}': 1.5,
    'controller_runtime_webhook_latency_seconds_count{webhook="/v"}': 3,
  });
});

test("the leader metric is 1 while this process holds the lease", async () => {
  const metrics = newMetrics();
  const holds = metrics.leader("l");
  const status = async () => (await samples(metrics))['leader_election_master_status{name="l"}'];
  const seen = [await status()];
  for (const held of [true, false]) {
    holds(held);
    seen.push(await status());
  }
  expect(seen).toEqual([0, 1, 0]);
});

test("metrics of Node.js are included unless switched off", async () => {
  const text = await createMetrics().text();
  for (const name of ["nodejs_eventloop_lag_p99_seconds", "nodejs_heap_size_used_bytes", "process_cpu_seconds_total"])
    expect(text).toContain(name);
});
