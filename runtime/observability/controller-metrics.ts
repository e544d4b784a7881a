// The metrics of controllers, with names, labels and buckets of controller-runtime 0.25, so that its dashboards and alerts work.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Ending } from "../controller/ending.ts";
import type { QueueListener, QueueState } from "../queue/queue.ts";
import { queueMetrics } from "./queue-metrics.ts";

/** Receives the events of one controller. */
export interface ControllerRecorder {
  ended(ending: Ending, milliseconds: number): void;
  /** Listener of the controller's queue. */
  readonly queue: QueueListener;
  /** `observe` is called at each scrape. */
  observeQueue(observe: () => QueueState): void;
}

const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5,
  5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** A recorder for each controller. Names of controllers are few and fixed; keys and object names never become labels. */
export function controllerMetrics(registry: Registry): (controller: string, maxConcurrentReconciles: number) => ControllerRecorder {
  const ended = reconcileMetrics(registry);
  const queue = queueMetrics(registry);
  return (controller, maxConcurrentReconciles) => ({
    ended: ended(controller, maxConcurrentReconciles),
    queue: queue.listener(controller),
    observeQueue: (observe) => queue.observed.set(controller, observe),
  });
}

function reconcileMetrics(registry: Registry): (controller: string, maxConcurrentReconciles: number) => ControllerRecorder["ended"] {
  const labelNames = ["controller"];
  const registers = [registry];
  const counter = (name: string, what: string) =>
    new Counter({ name, help: `Total number of ${what} per controller`, labelNames, registers });
  const total = new Counter({
    name: "controller_runtime_reconcile_total",
    help: "Total number of reconciliations per controller",
    labelNames: ["controller", "result"],
    registers,
  });
  const errors = counter("controller_runtime_reconcile_errors_total", "reconciliation errors");
  const kinds = {
    terminal_error: counter("controller_runtime_terminal_reconcile_errors_total", "terminal reconciliation errors"),
    panic: counter("controller_runtime_reconcile_panics_total", "reconciliation panics"),
    timeout: counter("controller_runtime_reconcile_timeouts_total", "reconciliation timeouts"),
  };
  const time = new Histogram({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Length of time per reconciliation per controller",
    labelNames,
    buckets: reconcileBuckets,
    registers,
  });
  const most = new Gauge({
    name: "controller_runtime_max_concurrent_reconciles",
    help: "Maximum number of concurrent reconciles per controller",
    labelNames,
    registers,
  });

  return (controller, maxConcurrentReconciles) => {
    // All series exist from the start: a counter that appears with its first error has no increase to alert on.
    for (const result of ["success", "error", "requeue", "requeue_after"]) total.inc({ controller, result }, 0);
    for (const count of [errors, ...Object.values(kinds)]) count.inc({ controller }, 0);
    most.set({ controller }, maxConcurrentReconciles);
    return (ending, milliseconds) => {
      time.observe({ controller }, milliseconds / 1000);
      switch (ending) {
        case "success":
        case "requeue":
        case "requeue_after":
          total.inc({ controller, result: ending });
          return;
        case "terminal_error":
        case "panic":
        case "timeout":
          kinds[ending].inc({ controller });
          break;
        case "error":
          break;
      }
      errors.inc({ controller });
      total.inc({ controller, result: "error" });
    };
  };
}
