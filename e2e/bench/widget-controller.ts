// The benchmark's controller on our runtime: the same work, flags and output as the peer's in peer/.
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import type { V1ConfigMap } from "@kubernetes/client-node";
import { ControllerBuilder } from "../../runtime/controller/builder.ts";
import { awaitChange } from "../../runtime/controller/result.ts";
import { KubeClient } from "../../runtime/kube/client.ts";
import { Credentials } from "../../runtime/kube/credentials.ts";
import { loadKubeConfig } from "../../runtime/kube/kube-config.ts";
import { controlledBy, type KubeObject, keyText, type Model } from "../../runtime/kube/object.ts";
import { namespaced } from "../../runtime/kube/resource.ts";
import { Transport } from "../../runtime/kube/transport.ts";
import { Manager } from "../../runtime/manager.ts";
import { createLog } from "../../runtime/observability/log.ts";
import { createMetrics } from "../../runtime/observability/metrics.ts";

interface Widget extends KubeObject {
  readonly spec: { readonly text: string };
  readonly status?: { readonly observedGeneration?: number };
}

const widgets = namespaced<Widget>("bench.sampledb.io/v1", "Widget", "widgets");
const configMaps = namespaced<Model<V1ConfigMap>>("v1", "ConfigMap", "configmaps");

const { values: flags } = parseArgs({
  options: { "max-concurrent-reconciles": { type: "string", default: "1" }, latency: { type: "boolean", default: false } },
});

const started = performance.now() - processAge();
const milliseconds = () => performance.now() - started;
const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const lag = monitorEventLoopDelay({ resolution: 5 });
lag.enable();

const seen = new Map<string, string>();
let latencies: number[] = [];
let [reconciles, writes, errors, firstMs, lastMs, writeMs, told, synced] = [0, 0, 0, 0, 0, 0, 0, false];

const transport = new Transport(new Credentials(loadKubeConfig), {
  listener: ({ method }) => {
    if (method === "GET") return;
    writes += 1;
    writeMs = milliseconds();
  },
});
const manager = new Manager({
  client: new KubeClient(transport, { fieldManager: "widget" }),
  namespaces: [],
  elector: undefined,
  fieldManager: "bench",
  hashAnnotation: "bench.sampledb.io/applied",
  reportingController: "bench.sampledb.io/widget",
  reportingInstance: "bench",
  metrics: createMetrics(),
  log: createLog({ level: "error" }),
});

const widget = ControllerBuilder.for("widget", widgets)
  .owns(configMaps)
  .reconcile(
    async ({ key, objects }) => {
      try {
        const found = manager.cache.watch(widgets).get(key);
        if (!found || found.metadata.deletionTimestamp) return awaitChange;
        measure(keyText(key), found.spec.text);
        const { name, namespace = "", generation = 0 } = found.metadata;
        const metadata = { name, namespace, ownerReferences: [controlledBy(found)] };
        await objects.apply(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data: { text: found.spec.text } });
        await objects.applyStatus(widgets, found, { observedGeneration: generation });
        return awaitChange;
      } catch (error) {
        errors += 1;
        throw error;
      } finally {
        reconciles += 1;
        lastMs = milliseconds();
        firstMs ||= lastMs;
      }
    },
    { maxConcurrentReconciles: Number(flags["max-concurrent-reconciles"]) },
  );
manager.add(widget);

/** From the time in the text to the first reconcile that sees it. */
function measure(key: string, text: string): void {
  if (!flags.latency || !text.startsWith("t:") || seen.get(key) === text) return;
  seen.set(key, text);
  const changed = Number(text.slice(2).split(" ")[0]) / 1000;
  if (synced) latencies.push(performance.timeOrigin + performance.now() - changed);
}

const ticker = setInterval(() => {
  if (reconciles === told) return;
  told = reconciles;
  print({ event: "reconciled", total: reconciles, writes, errors, ms: lastMs, firstMs, writeMs });
}, 100);

process.on("SIGUSR1", () => {
  print(stats(false));
  if (flags.latency) {
    const sorted = latencies.sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    print({ event: "latency", count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) });
    latencies = [];
  }
  globalThis.gc?.();
  print(stats(true));
});

function stats(collected: boolean): object {
  const { rss, heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
  return { event: "stats", collected, rssBytes: rss, heapBytes: heapUsed, heapTotal, external, arrayBuffers, reconciles, writes, errors };
}

const end = new AbortController();
lag.reset(); // what loading the program took is in the time to start
process.once("SIGTERM", () => end.abort());
const running = manager.run(end.signal);
await manager.cache.synced();
synced = true;
print({
  event: "synced",
  ms: milliseconds(),
  loopLagP99: Math.max(0, lag.percentile(99) / 1e6 - 5),
  loopLagMax: Math.max(0, lag.max / 1e6 - 5),
});
await running;
clearInterval(ticker);
await transport.close();

/** In milliseconds, from when the kernel started the process: what Node needs until this line counts as well. */
function processAge(): number {
  const ticks = Number(readFileSync("/proc/self/stat", "utf8").split(" ")[21]);
  const sinceBoot = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1000;
  return sinceBoot - ticks * 10;
}
