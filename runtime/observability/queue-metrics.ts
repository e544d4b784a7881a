// The metrics of work queues, with the names, labels and buckets of controller-runtime 0.25.
import { Counter, exponentialBuckets, Gauge, Histogram, type Registry } from "prom-client";
import { type Priority, priorities, type QueueListener, type QueueState } from "../queue/queue.ts";

/** controller-runtime's numbers for the priorities. */
const priorityLabels: Readonly<Record<Priority, string>> = { changed: "0", initial: "-100" };

export interface QueueMetrics {
  /** Called at each scrape, by controller. */
  readonly observed: Map<string, () => QueueState>;
  readonly listener: (controller: string) => QueueListener;
}

export function queueMetrics(registry: Registry): QueueMetrics {
  const observed = new Map<string, () => QueueState>();
  const both = ["name", "controller"];
  const gauge = (name: string, help: string, read: (state: QueueState) => number, labelNames = both) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        for (const [controller, observe] of observed) this.set(labelsOf(controller, labelNames), read(observe()));
      },
    });
  new Gauge({
    name: "workqueue_depth",
    help: "Current depth of workqueue by workqueue and priority",
    labelNames: [...both, "priority"],
    registers: [registry],
    collect() {
      for (const [controller, observe] of observed) {
        const { waiting } = observe();
        for (const priority of priorities) {
          this.set({ ...labelsOf(controller, both), priority: priorityLabels[priority] }, waiting[priority]);
        }
      }
    },
  });
  gauge("controller_runtime_active_workers", "Number of currently used workers per controller", ({ running }) => running, ["controller"]);
  gauge(
    "workqueue_unfinished_work_seconds",
    "How many seconds of work has been done that is in progress and hasn't been observed by work_duration",
    ({ unfinished }) => unfinished / 1000,
  );
  gauge(
    "workqueue_longest_running_processor_seconds",
    "How many seconds has the longest running processor for workqueue been running",
    ({ longestRunning }) => longestRunning / 1000,
  );
  gauge(
    "sampledb_runtime_queue_delayed",
    "Keys that wait for their time: scheduled ahead or in backoff after a failure",
    ({ delayed }) => delayed,
    ["controller"],
  );
  return { observed, listener: queueListeners(registry, both) };
}

function queueListeners(registry: Registry, labelNames: string[]): (controller: string) => QueueListener {
  const registers = [registry];
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, labelNames, registers, buckets: exponentialBuckets(10e-9, 10, 12) });
  const adds = counter("workqueue_adds_total", "Total number of adds handled by workqueue");
  const retries = counter("workqueue_retries_total", "Total number of items added to the workqueue with a non-zero delay");
  const latency = histogram("workqueue_queue_duration_seconds", "How long in seconds an item stays in workqueue before being requested");
  const work = histogram("workqueue_work_duration_seconds", "How long in seconds processing an item from workqueue takes");
  return (controller) => {
    const labels = labelsOf(controller, labelNames);
    for (const count of [adds, retries]) count.inc(labels, 0);
    for (const duration of [latency, work]) duration.zero(labels);
    return {
      added: () => adds.inc(labels),
      started: (_key, _run, waited) => latency.observe(labels, waited / 1000),
      ended: (_key, outcome, took) => {
        work.observe(labels, took / 1000);
        if (outcome.kind === "retry" || (outcome.kind === "again" && outcome.after > 0)) retries.inc(labels);
      },
      rejected: () => {}, // `ended` follows
    };
  };
}

/** A queue has the name of its controller. */
function labelsOf(controller: string, labelNames: readonly string[]): Record<string, string> {
  return Object.fromEntries(labelNames.map((name) => [name, controller]));
}
