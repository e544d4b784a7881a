// One kind in memory: its watches (one for each namespace, or one for all) and its subscribers.
import { systemClock } from "../clock.ts";
import type { PendingWrite } from "../kube/client.ts";
import { type Key, type KubeObject, keyOf, keyText } from "../kube/object.ts";
import { type Resource, resourceName } from "../kube/resource.ts";
import type { Cached, CacheListener, CacheOptions, WatchedKind } from "./cache-options.ts";
import type { IndexFunction } from "./indexes.ts";
import { Reflector, type ReflectorListener } from "./reflector.ts";
import { selects } from "./selector.ts";
import { type Change, Store } from "./store.ts";

export class CachedKind<T extends KubeObject> implements Cached<T> {
  readonly resource: Resource<T>;
  readonly isSelective: boolean;
  readonly #store: Store<T>;
  readonly #reflectors: readonly Reflector<T>[];
  readonly #namespaces: readonly string[];
  readonly #handlers: ((change: Change<T>) => void)[] = [];
  readonly #listener: CacheListener | undefined;

  constructor(resource: Resource<T>, watched: WatchedKind<T>, { client, namespaces, listener, silenceMilliseconds, clock }: CacheOptions) {
    this.resource = resource;
    this.#listener = listener;
    const wanted = new Set(watched.namespaces ?? namespaces);
    this.#namespaces = resource.namespaced && !wanted.has("") ? [...wanted] : [];
    const { labelSelector, fieldSelector } = watched;
    this.isSelective = labelSelector !== undefined || fieldSelector !== undefined;
    this.#store = new Store({ ...this.#cautious(watched), selects: selects(watched), now: () => (clock ?? systemClock).now() });
    const name = resourceName(resource);
    const told: ReflectorListener = {
      listed: () => listener?.listed(name),
      watchEnded: (error) => listener?.watchEnded(name, error),
    };
    const scopes = this.#namespaces.length > 0 ? this.#namespaces : [undefined];
    this.#reflectors = scopes.map(
      (namespace) =>
        new Reflector({
          client,
          resource,
          selection: { namespace, labelSelector, fieldSelector },
          store: this.#store,
          onChange: (change) => this.#tell(change),
          listener: told,
          silenceMilliseconds,
          clock,
        }),
    );
  }

  get size(): number {
    return this.#store.size;
  }

  get(key: Key): T | undefined {
    return this.#store.get(key);
  }

  at(key: string): T | undefined {
    return this.#store.at(key);
  }

  list(namespace?: string): T[] {
    return this.#store.list(namespace);
  }

  listBy(index: string, value: string): T[] {
    return this.#store.listBy(index, value);
  }

  subscribe(handler: (change: Change<T>) => void): void {
    this.#handlers.push(handler);
    // Without this process's own writes: the watch will bring those, and would report them a second time.
    for (const object of this.#store.watched()) this.#tellOne(handler, { type: "added", object, initial: true });
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run(signal)));
  }

  get synced(): Promise<unknown> {
    return Promise.all(this.#reflectors.map(({ synced }) => synced));
  }

  get isSynced(): boolean {
    return this.#reflectors.every(({ isSynced }) => isSynced);
  }

  get problem(): string | undefined {
    return this.#reflectors.find(({ problem }) => problem)?.problem?.message;
  }

  get silentSeconds(): number {
    return Math.max(...this.#reflectors.map(({ silentSeconds }) => silentSeconds));
  }

  beginWrite(key: Key): PendingWrite {
    const watched = this.#namespaces.length === 0 || this.#namespaces.includes(key.namespace);
    return watched ? this.#store.beginWrite(key) : { settled: () => {}, abandoned: () => {} };
  }

  #tell(change: Change<T>): void {
    for (const handler of this.#handlers) this.#tellOne(handler, change);
  }

  #tellOne(handler: (change: Change<T>) => void, change: Change<T>): void {
    this.#attempt(change.object, undefined, () => handler(change));
  }

  /** Without this, one object that an index or a trim throws on would end the watch of its kind each time it comes by. */
  #cautious({ indexes = {}, trim }: WatchedKind<T>): Pick<WatchedKind<T>, "indexes" | "trim"> {
    const cautious = (values: IndexFunction<T>) => (object: T) => this.#attempt(object, [], () => values(object));
    return {
      indexes: Object.fromEntries(Object.entries(indexes).map(([name, values]) => [name, cautious(values)])),
      ...(trim ? { trim: (object) => this.#attempt(object, object, () => trim(object)) } : {}),
    };
  }

  #attempt<R>(object: T, otherwise: R, act: () => R): R {
    try {
      return act();
    } catch (error) {
      this.#listener?.handlerFailed(`${resourceName(this.resource)} ${keyText(keyOf(object))}`, error);
      return otherwise;
    }
  }
}
