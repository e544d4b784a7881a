// A stage for tests: a cache of one namespace's ConfigMaps behind a proxy, and a client that goes around the proxy.
import { setTimeout as sleep } from "node:timers/promises";
import type { V1ConfigMap } from "@kubernetes/client-node";
import { KubeClient } from "../kube/client.ts";
import { Credentials } from "../kube/credentials.ts";
import { kubeConfigFromFile } from "../kube/kube-config.ts";
import type { KubeObject, Model } from "../kube/object.ts";
import { clusterScoped } from "../kube/resource.ts";
import { Transport } from "../kube/transport.ts";
import { Cache, type Cached, type WatchedKind } from "./cache.ts";
import { configMaps, Mutator } from "./mutator.fixture.ts";
import { describe, Recorder } from "./recorder.fixture.ts";

const namespaces = clusterScoped<KubeObject>("v1", "Namespace", "namespaces");

export interface StageOptions {
  /** Kubeconfig for the proxy. */
  readonly kubeconfig: string;
  /** Kubeconfig for the API server itself. */
  readonly direct: string;
  readonly namespace: string;
  readonly silenceMilliseconds?: number;
  readonly watched?: WatchedKind<Model<V1ConfigMap>>;
}

export class CacheStage implements AsyncDisposable {
  readonly namespace: string;
  readonly cache: Cache;
  readonly configMaps: Cached<Model<V1ConfigMap>>;
  readonly recorder: Recorder;
  /** Goes around the proxy; the cache does not know of its writes. */
  readonly others: KubeClient;
  /** Goes through the proxy; the cache shows its writes. */
  readonly client: KubeClient;
  readonly failures: string[] = [];
  readonly ends: string[] = [];
  readonly #transports: readonly Transport[];
  readonly #stop = new AbortController();
  #mutator: Mutator | undefined;

  private constructor({ kubeconfig, direct, namespace, silenceMilliseconds, watched }: StageOptions) {
    const open = (file: string) => new Transport(new Credentials(() => kubeConfigFromFile(file)));
    const [proxied, past] = [open(kubeconfig), open(direct)];
    this.#transports = [proxied, past];
    this.namespace = namespace;
    this.others = new KubeClient(past, { fieldManager: "others" });
    const client = new KubeClient(proxied, { fieldManager: "test" });
    this.cache = new Cache({
      client,
      namespaces: [namespace],
      listener: {
        listed: () => undefined,
        watchEnded: (_, error) => this.ends.push(error?.message ?? "ended in time"),
        handlerFailed: (object, error) => this.failures.push(`${object}: ${(error as Error).message}`),
      },
      ...(silenceMilliseconds === undefined ? {} : { silenceMilliseconds }),
    });
    this.client = client.with({ writes: this.cache });
    this.configMaps = this.cache.watch(configMaps, watched);
    this.recorder = new Recorder(this.configMaps as unknown as Cached<KubeObject>);
  }

  /** Creates the namespace; does not start the cache. */
  static async open(options: StageOptions): Promise<CacheStage> {
    const stage = new CacheStage(options);
    await stage.createNamespace(stage.namespace);
    return stage;
  }

  async createNamespace(name: string): Promise<void> {
    await this.others.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }

  start(): void {
    this.cache.start(this.#stop.signal);
  }

  mutate(): Mutator {
    this.#mutator = new Mutator(this.others, this.namespace);
    return this.#mutator;
  }

  /** The objects of the cache, of its reports and of the API server: all the same once the cache has caught up. */
  async compare(): Promise<{ cached: string[]; told: string[]; mistakes: string[]; real: string[] }> {
    const real: string[] = [];
    for await (const page of this.others.pages(configMaps, { namespace: this.namespace })) real.push(...page.items.map(describe));
    const cached = this.configMaps.list().map(describe).sort();
    return { cached, told: this.recorder.present, mistakes: this.recorder.mistakes, real: real.sort() };
  }

  /** Empty when the cache is right and has reported each change consistently, each removal once. */
  async differences(): Promise<string[]> {
    const { cached, told, mistakes, real } = await this.compare();
    const apart = (what: string, one: string[], two: string[]) =>
      one.filter((text) => !two.includes(text)).map((text) => `${what} ${text}`);
    return [
      ...mistakes,
      ...apart("not cached:", real, cached),
      ...apart("cached, not there:", cached, real),
      ...apart("not told:", real, told),
      ...apart("told, not there:", told, real),
    ];
  }

  /** Waits until the cache is right; resolves to the differences if that takes too long. */
  async caughtUp(milliseconds = 15_000): Promise<string[]> {
    const end = performance.now() + milliseconds;
    for (;;) {
      const differences = await this.differences();
      if (differences.length === 0 || performance.now() > end) return differences;
      await sleep(100);
    }
  }

  /** Resolves when all watches have ended. */
  async end(): Promise<void> {
    this.#stop.abort();
    await this.cache.stopped();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mutator?.stop();
    await this.end();
    await Promise.all(this.#transports.map((transport) => transport.close()));
  }
}
