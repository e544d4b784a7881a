// The watched kinds in memory: controllers read them as often as they like, without a request.
import type { PendingWrite, WriteObserver } from "../kube/client.ts";
import type { Key, KubeObject } from "../kube/object.ts";
import { type Resource, resourceName } from "../kube/resource.ts";
import type { Cached, CacheOptions, WatchedKind } from "./cache-options.ts";
import { CachedKind } from "./cached-kind.ts";

export type { Cached, CacheListener, CacheOptions, WatchedKind } from "./cache-options.ts";

export class Cache implements WriteObserver {
  readonly #options: CacheOptions;
  readonly #kinds = new Map<string, CachedKind<KubeObject>>();
  /** Every read of every reconcile looks up a kind, nearly always by the same few constants. */
  readonly #found = new WeakMap<Resource, CachedKind<KubeObject>>();
  #signal: AbortSignal | undefined;
  #running: Promise<void>[] = [];

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /** The cached objects of a kind. Watched from `start` on, or at once if the cache has started. A second call returns the same. */
  watch<T extends KubeObject>(resource: Resource<T>, watched: WatchedKind<T> = {}): Cached<T> {
    const name = resourceName(resource);
    const known = this.#kinds.get(name);
    if (known) {
      if (Object.keys(watched).length > 0) throw new Error(`${name} is watched already: say once, and first, how`);
      return known as unknown as CachedKind<T>;
    }
    const kind = new CachedKind(resource, watched, this.#options);
    this.#kinds.set(name, kind as unknown as CachedKind<KubeObject>);
    if (this.#signal) this.#running.push(kind.run(this.#signal));
    return kind;
  }

  /** The cached objects of a kind that `watch` declared before; throws for any other. */
  watched<T extends KubeObject>(resource: Resource<T>): Cached<T> {
    const known = this.#found.get(resource) ?? this.#kinds.get(resourceName(resource));
    if (!known) throw new Error(`${resourceName(resource)} is not watched: what is there is not known without a request`);
    this.#found.set(resource, known);
    return known as unknown as CachedKind<T>;
  }

  /** Starts all watches; they end with the signal. */
  start(signal: AbortSignal): void {
    this.#signal = signal;
    this.#running = [...this.#kinds.values()].map((kind) => kind.run(signal));
  }

  /** Resolves when every watched kind has been read once. */
  async synced(): Promise<void> {
    await Promise.all([...this.#kinds.values()].map((kind) => kind.synced));
  }

  /** Resolves when all watches have ended. */
  async stopped(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Kinds that were never read completely, with the reason where one is known. */
  unsynced(): string[] {
    return [...this.#kinds].flatMap(([name, kind]) => (kind.isSynced ? [] : [kind.problem ? `${name} (${kind.problem})` : name]));
  }

  /** The state of each kind's watch, for health and metrics. */
  watches(): { resource: string; objects: number; silentSeconds: number; problem: string | undefined }[] {
    return [...this.#kinds].map(([resource, kind]) => ({
      resource,
      objects: kind.size,
      silentSeconds: kind.silentSeconds,
      problem: kind.problem,
    }));
  }

  begin(resource: Resource, key: Key): PendingWrite {
    return this.#kinds.get(resourceName(resource))?.beginWrite(key) ?? { settled: () => {}, abandoned: () => {} };
  }
}
