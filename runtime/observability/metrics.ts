// The metrics of the process, in one registry. Only this folder uses prom-client: other code gets recorders.
import { Counter, collectDefaultMetrics, exponentialBuckets, Gauge, Histogram, Registry } from "prom-client";
import { Aborted, ApiError, DeadlineExceeded, Gone, Unreachable } from "../kube/errors.ts";
import type { RequestListener } from "../kube/transport.ts";
import { type ControllerRecorder, controllerMetrics } from "./controller-metrics.ts";
import { type Observation, observedMetrics } from "./observed-metrics.ts";

export interface Metrics {
  /** Call once for each controller, before it starts. */
  controller(name: string, maxConcurrentReconciles: number): ControllerRecorder;
  /** For the transport. */
  readonly requests: RequestListener;
  /** For the cache. */
  readonly cache: CacheRecorder;
  /** `observe` is called at each scrape. */
  observeWatches(observe: () => readonly WatchState[]): void;
  /** Call once for each lease. The returned function sets whether this process holds it; false at first. */
  leader(lease: string): (holds: boolean) => void;
  /** For the webhook server. */
  readonly webhooks: WebhookRecorder;
  /** Metrics of the controllers' objects, computed at each scrape. */
  observe<T>(observation: Observation<T>): void;
  /** Call once for each name. The returned function records a duration. */
  duration(name: string, help: string, buckets: readonly number[]): (seconds: number) => void;
  /** All metrics as text, for a scrape. */
  text(): Promise<string>;
  readonly contentType: string;
}

export interface CacheRecorder {
  /** All objects of the resource were listed, at the start or again. */
  listed(resource: string): void;
  /** A watch ended and another begins. No error: the server ended it after its normal time. */
  watchEnded(resource: string, error: unknown): void;
}

export interface WatchState {
  readonly resource: string;
  readonly objects: number;
  /** Time since the last byte. */
  readonly silentSeconds: number;
}

/** A request was answered. `path` is that of a registered webhook: a path that a client invents must not become a label. */
export type WebhookRecorder = (path: string, code: number, seconds: number) => void;

/** `processMetrics` false: without the metrics of Node.js, whose collectors run for as long as the process lives. */
export function createMetrics({ processMetrics = true }: { readonly processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (processMetrics) collectDefaultMetrics({ register: registry });
  return {
    controller: controllerMetrics(registry),
    requests: requestMetrics(registry),
    ...cacheMetrics(registry),
    leader: leaderMetrics(registry),
    webhooks: webhookMetrics(registry),
    observe: observedMetrics(registry),
    duration: (name, help, buckets) => {
      const histogram = new Histogram({ name, help, buckets: [...buckets], registers: [registry] });
      return (seconds) => histogram.observe(seconds);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function requestMetrics(registry: Registry): RequestListener {
  const total = new Counter({
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, partitioned by status code, method, and host.",
    labelNames: ["code", "method", "host"],
    registers: [registry],
  });
  const duration = new Histogram({
    name: "rest_client_request_duration_seconds",
    help: "Request latency in seconds. Broken down by verb and host.",
    labelNames: ["verb", "host"],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    registers: [registry],
  });
  return ({ method, pool }, server, code, milliseconds) => {
    const host = hostOf(server);
    total.inc({ code, method, host });
    // The duration of a watch is no latency; client-go leaves watches out as well.
    if (pool === "calls") duration.observe({ verb: method, host }, milliseconds / 1000);
  };
}

/** The host as written, with a default port: URL would drop that, and Go does not. */
export function hostOf(server: string): string {
  return /^\w+:\/\/(?:[^@/]*@)?([^/?#]*)/.exec(server)?.[1] ?? "";
}

/** Why a watch ended: few values, so that it can be a label. */
export type WatchEnd = "timeout" | "gone" | "silent" | "unreachable" | "refused" | "error";

export function watchEnd(error: unknown): WatchEnd {
  if (error === undefined) return "timeout"; // the server's timeout, the normal end of a watch
  if (error instanceof Gone) return "gone";
  // The server did not end the watch in time, or it was aborted because nothing arrived on it.
  if (error instanceof DeadlineExceeded || (error instanceof Unreachable && error.cause instanceof Aborted)) return "silent";
  if (error instanceof Unreachable) return "unreachable";
  return error instanceof ApiError ? "refused" : "error";
}

function cacheMetrics(registry: Registry): Pick<Metrics, "cache" | "observeWatches"> {
  let observe: () => readonly WatchState[] = () => [];
  const lists = new Counter({
    name: "sampledb_runtime_lists_total",
    help: "How often all objects of a resource were read, at the start or anew",
    labelNames: ["resource"],
    registers: [registry],
  });
  const restarts = new Counter({
    name: "sampledb_runtime_watch_restarts_total",
    help: "Watches that ended and were begun again, by what ended them",
    labelNames: ["resource", "cause"],
    registers: [registry],
  });
  const gauge = (name: string, help: string, read: (state: WatchState) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ["resource"],
      registers: [registry],
      collect() {
        for (const state of observe()) this.set({ resource: state.resource }, read(state));
      },
    });
  gauge("sampledb_runtime_cache_objects", "Objects in the cache", ({ objects }) => objects);
  gauge("sampledb_runtime_watch_silence_seconds", "Time since the last byte came on a watch", ({ silentSeconds }) => silentSeconds);
  return {
    cache: {
      listed: (resource) => lists.inc({ resource }),
      watchEnded: (resource, error) => restarts.inc({ resource, cause: watchEnd(error) }),
    },
    observeWatches: (source) => {
      observe = source;
    },
  };
}

function leaderMetrics(registry: Registry): Metrics["leader"] {
  const status = new Gauge({
    name: "leader_election_master_status",
    help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master.",
    labelNames: ["name"],
    registers: [registry],
  });
  return (name) => {
    const tell = (holds: boolean) => status.set({ name }, holds ? 1 : 0);
    tell(false);
    return tell;
  };
}

function webhookMetrics(registry: Registry): WebhookRecorder {
  const latency = new Histogram({
    name: "controller_runtime_webhook_latency_seconds",
    help: "Histogram of the latency of processing admission requests",
    labelNames: ["webhook"],
    buckets: exponentialBuckets(10e-9, 10, 12),
    registers: [registry],
  });
  const total = new Counter({
    name: "controller_runtime_webhook_requests_total",
    help: "Total number of admission requests by HTTP status code.",
    labelNames: ["webhook", "code"],
    registers: [registry],
  });
  return (webhook, code, seconds) => {
    for (const usual of ["200", "500"]) total.inc({ webhook, code: usual }, 0); // so that the series exist before the first failure
    total.inc({ webhook, code: String(code) });
    latency.observe({ webhook }, seconds);
  };
}
