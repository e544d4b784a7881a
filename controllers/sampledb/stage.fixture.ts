// For tests: the controller of SampleDBs on a real API server without nodes. The controllers of Kubernetes make the Pods; the test
// writes what a kubelet and Patroni would write.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { ControlPlane } from "../../e2e/cluster/standalone.ts";
import type { FaultProxy } from "../../e2e/faults/fault-proxy.ts";
import { takeWrites } from "../../e2e/replay/replayed-pods.ts";
import type { ControllerDefinition } from "../../runtime/controller/builder.ts";
import { Objects } from "../../runtime/controller/objects.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { AlreadyExists, NotFound } from "../../runtime/kube/errors.ts";
import type { Key, KubeObject } from "../../runtime/kube/object.ts";
import type { Resource } from "../../runtime/kube/resource.ts";
import { TestConnection } from "../../runtime/kube/test-connection.fixture.ts";
import { Manager } from "../../runtime/manager.ts";
import { createLog } from "../../runtime/observability/log.ts";
import { createMetrics } from "../../runtime/observability/metrics.ts";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { Authority } from "../database/authority.ts";
import { Passwords } from "../database/passwords.ts";
import { ordinalOf } from "../desired/names.ts";
import type { Images } from "../desired/own-image.ts";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import { hasEnded } from "../jobs/outcome.ts";
import { configMaps, endpointSlices, jobs, namespaces, type Pod, pods } from "../kinds/kubernetes.ts";
import { type SampleDB, sampledbs } from "../kinds/sampledb-io.ts";
import { Patience } from "../patience.ts";
import { type Questions, Reports } from "../repository/reports.ts";
import { declareWatches } from "../watches.ts";
import { KnownChoices } from "./change/choices.ts";
import { sampleDBController } from "./controller.ts";
import { Monitors } from "./foundation/monitors.ts";
import { Volumes } from "./foundation/volumes.ts";
import { Inspections } from "./instances/inspections.ts";
import { reconcile } from "./reconcile.ts";
import { TimeToReady } from "./report/metrics.ts";
import type { Dependencies } from "./scope.ts";

const hashAnnotation = "sampledb.io/applied";
export const images: Images = { 15: "example.invalid/postgres:15", 17: "example.invalid/postgres:17" };
export const operatorNamespace = "operators";

/** Files that share a control plane each do it again. */
export async function installKinds(plane: ControlPlane, client: KubeClient): Promise<void> {
  await plane.kubectl("apply", "--server-side", "--kustomize", join(import.meta.dirname, "../../config/crd"));
  await plane.kubectl("wait", "--for=condition=Established", "crd", "--all");
  await client.apply(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: operatorNamespace } });
}

export class DatabaseStage implements AsyncDisposable {
  readonly namespace: string;
  readonly client: KubeClient;
  readonly #proxy: FaultProxy;
  readonly #stops: (() => Promise<void>)[] = [];
  #aheadMs = 0;
  /** Whom the operator can ask about the archive. */
  archive: Questions = { repository: undefined, primary: undefined };
  /** Of the instances that answer from now on. */
  timeline = 1;

  private constructor(namespace: string, client: KubeClient, proxy: FaultProxy) {
    this.namespace = namespace;
    this.client = client;
    this.#proxy = proxy;
  }

  /** `client` is the test's own, past the proxy. The operator's calls go through the proxy. */
  static async open(namespace: string, client: KubeClient, proxy: FaultProxy): Promise<DatabaseStage> {
    // A file before this one may have used the name on the same control plane; its stage has had it deleted.
    await eventually(`namespace ${namespace} is nobody's`, 60_000, () =>
      client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }).catch((error: unknown) => {
        if (error instanceof AlreadyExists) return undefined;
        throw error;
      }),
    );
    return new DatabaseStage(namespace, client, proxy);
  }

  key(name: string): Key {
    return { namespace: this.namespace, name };
  }

  async create(spec: Parameters<typeof sampleDB>[0] = {}, name = "orders"): Promise<SampleDB> {
    const { apiVersion, kind, spec: full } = sampleDB(spec);
    return await this.client.create(sampledbs, { apiVersion, kind, metadata: { name, namespace: this.namespace }, spec: full });
  }

  async change(spec: object, name = "orders"): Promise<void> {
    await this.client.mergePatch(sampledbs, this.key(name), { spec });
  }

  /** Runs an operator until it is stopped, or the stage ends. It can call no instance, because there are no nodes. */
  async run(
    version: { readonly images: Images; readonly beside?: (deps: Dependencies, images: Images) => readonly ControllerDefinition[] } = {
      images,
    },
  ): Promise<{ manager: Manager; deps: Dependencies; stop: () => Promise<void>; objects: () => Objects; client: KubeClient }> {
    const connection = new TestConnection(this.#proxy.kubeconfig);
    const options = { fieldManager: "sampledb", hashAnnotation, reportingController: "sampledb.io/operator", reportingInstance: "test" };
    const log = createLog({ level: "error", pretty: false, destination: { write: () => {} } });
    const metrics = createMetrics({ processMetrics: false });
    const manager = new Manager({ ...options, client: connection.client, namespaces: [this.namespace], elector: undefined, metrics, log });
    const now = () => new Date(Date.now() + this.#aheadMs);
    const { cache, events } = manager;
    const deps: Dependencies = {
      ...{
        cache,
        events,
        operatorNamespace,
        now,
        authority: new Authority({ operatorNamespace, now }),
        passwords: new Passwords({ now, password: () => randomBytes(24).toString("base64url") }),
        inspections: new Inspections(),
        patience: new Patience(now),
        volumes: new Volumes(now),
        timeToReady: new TimeToReady(metrics, now),
        monitors: new Monitors({ labels: {}, now }),
        choices: new KnownChoices(version.images),
        reports: new Reports(now),
        archiveQuestions: () => this.archive,
      },
      patroni: async () => {
        throw new Error("there are no nodes");
      },
    };
    declareWatches(cache);
    manager.add(sampleDBController(deps, {}));
    for (const controller of version.beside?.(deps, version.images) ?? []) manager.add(controller);
    const end = new AbortController();
    const ended = manager.run(end.signal);
    const stop = async () => {
      end.abort();
      await ended;
      await connection.transport.close();
    };
    this.#stops.push(stop);
    await cache.synced();
    // Under the controller's own name: otherwise a field that one of the two writes is not removed when the other leaves it out.
    const client = connection.client.with({ fieldManager: "sampledb-sampledb" });
    return { manager, deps, stop, client, objects: () => new Objects(cache, client, { hashAnnotation }) };
  }

  /** Advances the operator's clock. Kubernetes' own clock stays as it is. */
  advanceClock(seconds: number): void {
    this.#aheadMs += seconds * 1000;
  }

  async condition(type: string, name = "orders") {
    const { status } = await this.client.get(sampledbs, this.key(name));
    return status?.conditions?.find((condition) => condition.type === type);
  }

  /** Resolves once the condition Ready has this reason. */
  async becomes(reason: string, name = "orders"): Promise<NonNullable<Awaited<ReturnType<DatabaseStage["condition"]>>>> {
    let last = "nothing";
    return await eventually(`${this.namespace}/${name} says ${reason}`, 30_000, async () => {
      const ready = await this.condition("Ready", name);
      if (ready && ready.reason !== last) last = ready.reason;
      return ready?.reason === reason && ready;
    }).catch((error: Error) => {
      throw new Error(`${error.message}; it says ${last}`, { cause: error });
    });
  }

  /** Resolves with the first blocker once there is one. */
  async blocker(deadlineMs = 30_000) {
    const told = async () => (await this.client.get(sampledbs, this.key("orders"))).status?.blockers?.[0];
    return await eventually(`${this.namespace}/orders has a blocker`, deadlineMs, told);
  }

  /** The names of all objects of the kind, sorted. */
  async names<T extends KubeObject>(resource: Resource<T>, namespace = this.namespace): Promise<string[]> {
    const { items } = await this.client.list(resource, { namespace });
    return items.map(({ metadata }) => metadata.name).sort();
  }

  async podNames(): Promise<string[]> {
    const selector = { namespace: this.namespace, labelSelector: "sampledb.io/component=postgresql" };
    return (await this.client.list(pods, selector)).items.map(({ metadata }) => metadata.name).sort();
  }

  async podsAre(...expected: string[]): Promise<void> {
    let found: string[] = [];
    await eventually(`the Pods are ${expected}`, 30_000, async () => {
      found = await this.podNames();
      return found.join() === expected.join();
    }).catch((error: Error) => {
      throw new Error(`${error.message}; they are ${found}`, { cause: error });
    });
  }

  /** Writes Patroni's marker, as the first instance does when it begins to make the data. */
  async beginMaking(): Promise<void> {
    await this.client.mergePatch(configMaps, this.key("orders-config"), { metadata: { annotations: { initialize: "" } } });
  }

  /** Waits for these Pods, and writes what a kubelet and Patroni would write once all of them run. */
  async serve(primary: string, ...replicas: string[]): Promise<void> {
    await this.podsAre(...[primary, ...replicas].sort());
    await this.serves(primary, ...replicas);
  }

  /** The same, where other databases have Pods in the namespace as well. */
  async serves(primary: string, ...replicas: string[]): Promise<void> {
    const [database] = primary.split(/-\d+$/);
    await this.#isThere(pods, primary);
    await this.#isThere(configMaps, `${database}-config`);
    await this.#isThere(configMaps, `${database}-leader`);
    await this.#isThere(endpointSlices, `${database}-rw`);
    await this.client.mergePatch(configMaps, this.key(`${database}-config`), {
      metadata: { annotations: { initialize: "7300000000000000001" } },
    });
    await this.client.mergePatch(configMaps, this.key(`${database}-leader`), { metadata: { annotations: { leader: primary } } });
    for (const name of [primary, ...replicas]) await this.#answer(name, name === primary);
  }

  async #isThere(resource: Resource<KubeObject>, name: string): Promise<void> {
    await eventually(`${resource.kind} ${name} is there`, 30_000, () => this.client.find(resource, this.key(name)));
  }

  /** Serves, ends the init Job, and waits for Ready. */
  async settle(primary: string, ...replicas: string[]): Promise<void> {
    await this.serve(primary, ...replicas);
    await this.initialize();
    await this.becomes("AllInstancesReady");
  }

  /** Hands over as Patroni and its callback do. */
  async handOver(from: string, to: string): Promise<void> {
    const [database] = to.split(/-\d+$/);
    await this.client.mergePatch(configMaps, this.key(`${database}-failover`), {
      metadata: { annotations: { leader: null, member: null } },
    });
    await this.#answer(from, false);
    await this.client.mergePatch(configMaps, this.key(`${database}-leader`), { metadata: { annotations: { leader: to } } });
    await this.#answer(to, true);
  }

  async #answer(name: string, leads: boolean): Promise<void> {
    const status = {
      state: "running",
      role: leads ? "primary" : "replica",
      timeline: this.timeline,
      ...(leads ? {} : { replication_state: "streaming" }),
    };
    const labels = { "sampledb.io/role": leads ? "primary" : "replica" };
    await this.client.mergePatch(pods, this.key(name), { metadata: { labels, annotations: { status: JSON.stringify(status) } } });
    const conditions = [{ type: "Ready", status: "True" }];
    const ip = `192.0.2.${1 + ordinalOf(name)}`;
    const running = { phase: "Running", conditions, podIP: ip, podIPs: [{ ip }] };
    const pod = await this.client.mergePatch<Pod>(pods, this.key(name), { status: running }, { subresource: "status" });
    if (leads) await this.takeWrites(pod);
  }

  /** Writes the replicas that commits wait for, as the leader's Patroni does. */
  async commitsWaitFor(leader: string, ...replicas: string[]): Promise<void> {
    const [database] = leader.split(/-\d+$/);
    const annotations = { leader, sync_standby: replicas.join(), quorum: String(Math.max(0, replicas.length - 1)) };
    await this.client.mergePatch(configMaps, this.key(`${database}-sync`), { metadata: { annotations } });
  }

  /** Writes the read-write slice, as the leader's callback does. */
  async takeWrites(pod: Pod): Promise<void> {
    const [database] = pod.metadata.name.split(/-\d+$/);
    await takeWrites(this.client, pod, database ?? "");
  }

  async initialize(name = "orders"): Promise<void> {
    await this.endJob(name, "init", 0, "made role app");
  }

  /** Ends the Job's Pod as the kubelet would. The Job controller does the rest. `init`: the init container that has failed. */
  async endJob(name: string, container: string, exitCode: number, message: string, init?: string): Promise<void> {
    const pod = await this.jobPod(`${name}-${container}`);
    const ended = { terminated: { exitCode, message, finishedAt: "2026-01-01T00:00:00Z" } };
    const told = (name: string, state: object) => ({ name, image: "i", imageID: "", ready: false, restartCount: 0, state });
    const status = {
      phase: exitCode === 0 ? "Succeeded" : "Failed",
      containerStatuses: [told(container, init ? { waiting: { reason: "PodInitializing" } } : ended)],
      ...(init ? { initContainerStatuses: [told(init, ended)] } : {}),
    };
    await this.client.mergePatch<Pod>(pods, this.key(pod.metadata.name), { status }, { subresource: "status" });
  }

  /** The Pod of the present Job that has not ended. A deleted Job of the name may have left its Pod for a moment. */
  async jobPod(name: string): Promise<Pod> {
    return await eventually(`the Pod of Job ${name} is there`, 30_000, async () => {
      const { uid } = (await this.client.find(jobs, this.key(name)))?.metadata ?? {};
      const selector = { namespace: this.namespace, labelSelector: `batch.kubernetes.io/controller-uid=${uid}` };
      return uid === undefined ? undefined : (await this.client.list(pods, selector)).items.find((pod) => !hasEnded(pod));
    });
  }

  /** One reconcile more, outside the queue. */
  async again({ deps, client }: Awaited<ReturnType<DatabaseStage["run"]>>, objects: Objects, name = "orders"): Promise<unknown> {
    const log = createLog({ level: "error", pretty: false, destination: { write: () => {} } });
    return await reconcile({ key: this.key(name), objects, client, signal: new AbortController().signal, log }, deps);
  }

  /** A reconcile after each of these seconds, by the operator's clock and beside the one in its queue, as steps that wait look again by themselves. */
  async looks(operator: Awaited<ReturnType<DatabaseStage["run"]>>, ...after: readonly number[]): Promise<unknown[]> {
    const results: unknown[] = [];
    for (const seconds of after) {
      this.advanceClock(seconds);
      results.push(await eventuallySucceeds("it has looked", 10_000, () => this.again(operator, operator.objects())));
    }
    return results;
  }

  /** The garbage collector looks for new kinds every 30 s, so an owned object may stay for so long after the CRD was installed. */
  async gone<T extends KubeObject>(resource: Resource<T>, name: string): Promise<void> {
    await eventually(
      `${resource.kind} ${name} is gone`,
      80_000,
      async () => (await this.client.find(resource, this.key(name))) === undefined,
    );
  }

  /** Stops every operator that was run. */
  async stop(): Promise<void> {
    await Promise.allSettled(this.#stops.splice(0).map((stop) => stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    // Otherwise the controllers of Kubernetes would be busy with it while other tests run.
    for (const { metadata } of (await this.client.list(sampledbs, { namespace: this.namespace })).items) {
      await this.client.mergePatch(sampledbs, this.key(metadata.name), { metadata: { finalizers: [] } }).catch(() => undefined);
    }
    await this.client.delete(namespaces, { namespace: "", name: this.namespace }).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
    });
  }
}
