// A real control plane whose Pods run nowhere: Kubernetes' controllers make them, the scheduler gives them nodes, kwok plays the kubelets of
// those, what Patroni would write is replayed, and repositories answer that all is well. So the operator works with thousands of databases
// that no machine has room for. Nothing about PostgreSQL is shown by it.
import type { ChildProcess } from "node:child_process";
import type { Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { labelNames } from "../../api/labels.ts";
import { instanceComponent, managedBy, selectorOf } from "../../controllers/desired/identity.ts";
import { repositoryComponent } from "../../controllers/desired/repository.ts";
import { pgBackRestFile, stanzaIn } from "../../controllers/desired/store.ts";
import { configMaps, type Pod, pods, secrets } from "../../controllers/kinds/kubernetes.ts";
import { ControllerBuilder } from "../../runtime/controller/builder.ts";
import { awaitChange } from "../../runtime/controller/result.ts";
import { KubeClient } from "../../runtime/kube/client.ts";
import { Credentials } from "../../runtime/kube/credentials.ts";
import { NotFound } from "../../runtime/kube/errors.ts";
import { kubeConfigFromFile } from "../../runtime/kube/kube-config.ts";
import { type Key, keyOf, keyText } from "../../runtime/kube/object.ts";
import { Transport } from "../../runtime/kube/transport.ts";
import { Manager } from "../../runtime/manager.ts";
import { createLog } from "../../runtime/observability/log.ts";
import { createMetrics } from "../../runtime/observability/metrics.ts";
import { StandaloneControlPlane } from "../cluster/standalone.ts";
import { startExporter, startRepository } from "./archive-servers.ts";
import type { Served } from "./json-server.ts";
import { kwokDirectory, startKwok } from "./kwok.ts";
import { registerNodes } from "./nodes.ts";
import { startPatroni } from "./patroni-server.ts";
import { lead, renew, takeWrites, tellMember } from "./replayed-pods.ts";

/** An address of this machine is none that an EndpointSlice may have. */
const idleControllers = ["endpointslice-controller", "endpoints-controller", "endpointslice-mirroring-controller"];
const ours = selectorOf(managedBy);

interface Answering {
  /** Of the Pod that it answers for. */
  readonly uid: string;
  readonly servers: readonly Server[];
}

/**
 * Pods answer on loopback, where no Service may lead. So Services have addresses of IPv6, and Pods a second one, at which nobody is; nor
 * may the API server tell its own, which is none of these.
 */
const servicesOfIPv6 = ["--service-cluster-ip-range=fd00:5db::/112", "--endpoint-reconciler-type=none"];

export class ReplayedPlane {
  readonly plane: StandaloneControlPlane;
  readonly client: KubeClient;
  readonly #transport: Transport;
  readonly #manager: Manager;
  readonly #answering = new Map<string, Answering>();
  readonly #end = new AbortController();
  #kwok: ChildProcess | undefined;
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
    const kwok = await kwokDirectory(); // first: it may have to be built, and nodes that nobody plays are given up
    const controllers = `--controllers=*,${idleControllers.map((name) => `-${name}`).join(",")}`;
    const more = { "kube-controller-manager": [controllers], "kube-apiserver": servicesOfIPv6 };
    const plane = await StandaloneControlPlane.start({ more, scheduler: true });
    const replayed = new ReplayedPlane(plane);
    try {
      await registerNodes(replayed.client);
      replayed.#kwok = await startKwok(kwok, plane, replayed.client);
      replayed.#running = replayed.#replay();
      return replayed;
    } catch (error) {
      await replayed.stop();
      throw error;
    }
  }

  async #replay(): Promise<void> {
    const { cache } = this.#manager;
    cache.watch(pods, { labelSelector: ours });
    cache.watch(configMaps, { labelSelector: ours });
    const controller = ControllerBuilder.for("patroni", pods).reconcile(
      async ({ key, client }) => {
        await this.#play(key, client); // this client's writes are in the cache at once
        return awaitChange;
      },
      { maxConcurrentReconciles: 8 },
    );
    this.#manager.add(controller);
    await this.#manager.run(this.#end.signal);
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
    for (const name of this.#answering.keys()) this.#silence(name);
    this.#kwok?.kill("SIGKILL");
    await this.#transport.close();
    await this.plane.stop();
  }

  async #play(key: Key, client: KubeClient): Promise<void> {
    const pod = this.#manager.cache.watched(pods).get(key);
    const name = keyText(key);
    const answering = this.#answering.get(name);
    if (answering && (answering.uid !== pod?.metadata.uid || pod.metadata.deletionTimestamp)) this.#silence(name); // the address is soon another's
    const address = pod?.status?.podIP;
    if (!pod || pod.metadata.deletionTimestamp || address === undefined) return;
    const component = pod.metadata.labels?.[labelNames.component];
    if (component === repositoryComponent) await this.#repository(client, pod, address);
    if (component === instanceComponent && !pod.metadata.annotations?.["status"]) await this.#instance(client, pod, address);
  }

  #silence(name: string): void {
    for (const server of this.#answering.get(name)?.servers ?? []) server.close();
    this.#answering.delete(name);
  }

  /** Makes servers for a Pod that has none yet. */
  async #answer(pod: Pod, start: () => Promise<Server[]>): Promise<void> {
    const name = keyText(keyOf(pod));
    if (!this.#answering.has(name)) this.#answering.set(name, { uid: pod.metadata.uid ?? "", servers: await start() });
  }

  /** The lock first, and what is told of the member last: by that word kwok has it ready, and it is known who leads and who answers. */
  async #instance(client: KubeClient, pod: Pod, address: string): Promise<void> {
    const database = databaseOf(pod);
    const leads = (await lead(client, keyOf(pod), database)) === pod.metadata.name;
    const role = leads ? "primary" : "replica";
    const served = await servedBy(client, pod, `${database}-tls`);
    await this.#answer(pod, async () => [await startPatroni(address, role, served), await startExporter(address)]);
    if (leads) await takeWrites(client, pod, database);
    await tellMember(client, keyOf(pod), leads, 1000);
  }

  async #repository(client: KubeClient, pod: Pod, address: string): Promise<void> {
    if (this.#answering.has(keyText(keyOf(pod)))) return;
    const name = `${databaseOf(pod)}-repository`;
    const { data = {} } = await client.get(configMaps, { namespace: pod.metadata.namespace ?? "", name });
    const stanza = stanzaIn(data[pgBackRestFile] ?? "") ?? "";
    const served = await servedBy(client, pod, name);
    await this.#answer(pod, async () => [await startRepository(address, stanza, served)]);
  }
}

function databaseOf({ metadata }: Pod): string {
  return metadata.labels?.[labelNames.database] ?? "";
}

/** What the Pod mounts of that Secret. */
async function servedBy(client: KubeClient, { metadata: { namespace = "" } }: Pod, name: string): Promise<Served> {
  const { data = {} } = await client.get(secrets, { namespace, name });
  return { certificate: atob(data["tls.crt"] ?? ""), key: atob(data["tls.key"] ?? "") };
}

function ignoreGone(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error;
}
