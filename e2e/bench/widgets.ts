// The control plane and the widgets that the benchmarks work on.
import { join } from "node:path";
import { KubeClient } from "../../runtime/kube/client.ts";
import { Credentials } from "../../runtime/kube/credentials.ts";
import { kubeConfigFromFile } from "../../runtime/kube/kube-config.ts";
import type { KubeObject } from "../../runtime/kube/object.ts";
import { namespaced } from "../../runtime/kube/resource.ts";
import { Transport } from "../../runtime/kube/transport.ts";
import { eventually } from "../../tools/eventually.ts";
import { StandaloneControlPlane } from "../cluster/standalone.ts";
import { asShipped } from "./as-shipped.ts";

interface Widget extends KubeObject {
  readonly spec: { readonly text: string };
  readonly status?: { readonly observedGeneration?: number };
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const widgets = namespaced<Widget>("bench.sampledb.io/v1", "Widget", "widgets");
const configMaps = namespaced<ConfigMap>("v1", "ConfigMap", "configmaps");
const makers = 16;

export async function ourController(): Promise<[string, ...string[]]> {
  return await asShipped("e2e/bench/widget-controller.ts", "build/bench/widget-controller.js");
}

export class BenchPlane {
  readonly plane: StandaloneControlPlane;
  readonly #transport: Transport;
  readonly #client: KubeClient;

  private constructor(plane: StandaloneControlPlane) {
    this.plane = plane;
    this.#transport = new Transport(new Credentials(() => kubeConfigFromFile(plane.kubeconfig)));
    this.#client = new KubeClient(this.#transport, { fieldManager: "bench" });
  }

  static async start(): Promise<BenchPlane> {
    const bench = new BenchPlane(await StandaloneControlPlane.start());
    await bench.plane.kubectl("apply", "--server-side", "--filename", join(import.meta.dirname, "widget-crd.yaml"));
    await bench.plane.kubectl("wait", "--for=condition=Established", "crd/widgets.bench.sampledb.io");
    return bench;
  }

  async make(count: number): Promise<void> {
    let next = 0;
    const maker = async () => {
      while (next < count) {
        const index = next++;
        const { apiVersion, kind } = widgets;
        await this.#client.create(widgets, { apiVersion, kind, metadata: this.#metadata(index), spec: { text: `text ${index}` } });
      }
    };
    await Promise.all(Array.from({ length: makers }, maker));
  }

  /** With the time of it in the text, which the controllers measure their latency by. */
  async change(index: number): Promise<void> {
    const now = Math.round((performance.timeOrigin + performance.now()) * 1000);
    await this.#client.mergePatch(widgets, this.#metadata(index), { spec: { text: `t:${now} changed` } });
  }

  /** Every widget has its ConfigMap and its status. */
  async converged(): Promise<void> {
    await eventually("all widgets are reconciled", 120_000, async () => {
      const found = (await this.#client.list(widgets, { namespace: "default" })).items;
      const made = (await this.#client.list(configMaps, { namespace: "default" })).items;
      const texts = new Map(made.map(({ metadata, data }) => [metadata.name, data?.["text"]]));
      return found.every(({ metadata, spec, status }) => {
        return texts.get(metadata.name) === spec.text && status?.observedGeneration === metadata.generation;
      });
    });
  }

  async restart(part: "kube-apiserver" | "etcd"): Promise<void> {
    await this.plane.killPart(part);
    await this.plane.startPart(part);
    await this.plane.ready();
  }

  async stop(): Promise<void> {
    await this.#transport.close();
    await this.plane.stop();
  }

  #metadata(index: number): { namespace: string; name: string } {
    return { namespace: "default", name: `w-${index}` };
  }
}
