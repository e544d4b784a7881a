// A real control plane whose Pods run nowhere: the StatefulSet and Job controllers make them, and what a kubelet and Patroni would write
// is replayed. So the operator works with thousands of databases that no machine has room for. Nothing about PostgreSQL is shown by it.
import type { Server } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { instanceComponent, labelNames, managedBy, selectorOf } from "../../controllers/desired/identity.ts";
import { configMaps, type Pod, pods, secrets } from "../../controllers/kinds.ts";
import { ControllerBuilder } from "../../runtime/controller/builder.ts";
import { awaitChange } from "../../runtime/controller/result.ts";
import { KubeClient } from "../../runtime/kube/client.ts";
import { Credentials } from "../../runtime/kube/credentials.ts";
import { NotFound } from "../../runtime/kube/errors.ts";
import { kubeConfigFromFile } from "../../runtime/kube/kube-config.ts";
import { type Key, keyOf } from "../../runtime/kube/object.ts";
import { clusterScoped } from "../../runtime/kube/resource.ts";
import { Transport } from "../../runtime/kube/transport.ts";
import { Manager } from "../../runtime/manager.ts";
import { createLog } from "../../runtime/observability/log.ts";
import { createMetrics } from "../../runtime/observability/metrics.ts";
import { StandaloneControlPlane } from "../cluster/standalone.ts";
import { startPatroni } from "./patroni-server.ts";
import { bind, lead, renew, replayedNode, tellMember, tellStatus } from "./replayed-pods.ts";

/** The node never calls, and an address of this machine is none that an EndpointSlice may have. */
const idleControllers = [
  "node-lifecycle-controller",
  "endpointslice-controller",
  "endpoints-controller",
  "endpointslice-mirroring-controller",
];
const labelSelector = selectorOf(managedBy);

export class ReplayedPlane {
  readonly plane: StandaloneControlPlane;
  readonly client: KubeClient;
  readonly #transport: Transport;
  readonly #manager: Manager;
  readonly #patronis = new Map<string, Server>();
  readonly #addresses = new Map<string, number>();
  readonly #end = new AbortController();
  #running: Promise<void> = Promise.resolve();

  private constructor(plane: StandaloneControlPlane) {
    this.plane = plane;
    this.#transport = new Transport(new Credentials(() => kubeConfigFromFile(plane.kubeconfig)));
    this.client = new KubeClient(this.#transport, { fieldManager: "replay" });
    this.#manager = new Manager({
      ...{ client: this.client, namespaces: [], elector: undefined, fieldManager: "replay", hashAnnotation: "replay/applied" },
      ...{ reportingController: "replay", reportingInstance: "replay", metrics: createMetrics(), log: createLog({ level: "error" }) },
    });
  }

  static async start(): Promise<ReplayedPlane> {
    const controllers = `--controllers=*,${idleControllers.map((name) => `-${name}`).join(",")}`;
    const replayed = new ReplayedPlane(await StandaloneControlPlane.start({ controllerManager: [controllers] }));
    const nodes = clusterScoped("v1", "Node", "nodes");
    await replayed.client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: replayedNode } });
    const { cache } = replayed.#manager;
    cache.watch(pods, { labelSelector });
    cache.watch(configMaps, { labelSelector });
    const controller = ControllerBuilder.for("kubelet", pods).reconcile(
      async ({ key, client }) => {
        await replayed.#play(key, client); // this client's writes are in the cache at once
        return awaitChange;
      },
      { maxConcurrentReconciles: 8 },
    );
    replayed.#manager.add(controller);
    replayed.#running = replayed.#manager.run(replayed.#end.signal);
    return replayed;
  }

  /** For as long as it is not aborted, what all members of Patroni write in each of their loops; says how many writes it was. */
  async loop(seconds: number, signal: AbortSignal): Promise<number> {
    let writes = 0;
    for (let position = 1000; !signal.aborted; position++) {
      const begin = performance.now();
      for (const lock of this.#manager.cache
        .watched(configMaps)
        .list()
        .filter(({ metadata }) => metadata.name.endsWith("-leader"))) {
        if (signal.aborted) break;
        const { namespace = "", annotations } = lock.metadata;
        await renew(this.client, lock, position).catch(ignoreGone);
        await tellMember(this.client, { namespace, name: annotations?.["leader"] ?? "" }, true, position).catch(ignoreGone);
        writes += 2;
      }
      await sleep(Math.max(0, seconds * 1000 - (performance.now() - begin)), undefined, { signal }).catch(() => undefined);
    }
    return writes;
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#running;
    for (const server of this.#patronis.values()) server.close();
    await this.#transport.close();
    await this.plane.stop();
  }

  async #play(key: Key, client: KubeClient): Promise<void> {
    const pod = this.#manager.cache.watched(pods).get(key);
    if (!pod) return;
    if (pod.metadata.deletionTimestamp) return await this.#remove(pod);
    if (!pod.spec?.nodeName) return await bind(client, pod);
    const isInstance = pod.metadata.labels?.[labelNames.component] === instanceComponent;
    if (pod.status?.podIP) return; // played already
    const address = this.#addressOf(pod);
    if (isInstance) await this.#instance(client, pod, address);
    await tellStatus(client, pod, address, isInstance ? "running" : "succeeded");
  }

  /** The lock first: nobody is ready before it is known who leads. */
  async #instance(client: KubeClient, pod: Pod, address: string): Promise<void> {
    const database = pod.metadata.labels?.[labelNames.database] ?? "";
    const { namespace = "", uid = "" } = pod.metadata;
    const leads = (await lead(client, keyOf(pod), database)) === pod.metadata.name;
    const { data = {} } = await client.get(secrets, { namespace, name: `${database}-tls` });
    const [certificate, key] = [atob(data["tls.crt"] ?? ""), atob(data["tls.key"] ?? "")];
    if (!this.#patronis.has(uid))
      this.#patronis.set(uid, await startPatroni({ address, certificate, key, role: leads ? "primary" : "replica" }));
    await tellMember(client, keyOf(pod), leads, 1000);
  }

  async #remove(pod: Pod): Promise<void> {
    const { uid = "" } = pod.metadata;
    this.#patronis.get(uid)?.close();
    this.#patronis.delete(uid);
    await this.client.delete(pods, keyOf(pod), { uid, gracePeriodSeconds: 0 }).catch(ignoreGone);
  }

  /** The same whenever it is asked for: what failed on the way is played again. */
  #addressOf({ metadata: { uid = "" } }: Pod): string {
    const number = this.#addresses.get(uid) ?? this.#addresses.size + 1;
    this.#addresses.set(uid, number);
    return `127.100.${number >> 8}.${number & 255}`;
  }
}

function ignoreGone(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error;
}
