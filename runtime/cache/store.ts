// The objects of one kind in memory, with indexes: the watch fills it, and this process's own writes overlay it.
import type { PendingWrite } from "../kube/client.ts";
import { type Key, type KubeObject, keyOf, keyText } from "../kube/object.ts";
import { Index, type IndexFunction } from "./indexes.ts";
import { OwnWrites } from "./own-writes.ts";

/** A difference between two states of the watch. `initial`: the object existed when this process started. */
export type Change<T extends KubeObject = KubeObject> =
  | { readonly type: "added"; readonly object: T; readonly initial: boolean }
  | { readonly type: "changed"; readonly object: T; readonly previous: T }
  | { readonly type: "removed"; readonly object: T };

export interface StoreOptions<T extends KubeObject> {
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>> | undefined;
  /** Drops unused fields before an object is stored. Must return a new object and leave its argument unchanged. */
  readonly trim?: ((object: T) => T) | undefined;
  /** Whether the watch brings such an object. Default: it brings all. */
  readonly selects?: ((object: T) => boolean) | undefined;
  readonly now: () => number;
}

export class Store<T extends KubeObject> {
  readonly #watched = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #trim: (object: T) => T;
  readonly #own: OwnWrites<T>;

  constructor({ indexes = {}, trim = (object) => object, selects = () => true, now }: StoreOptions<T>) {
    for (const [name, values] of Object.entries(indexes)) this.#indexes.set(name, new Index(values));
    this.#trim = trim;
    // The caller owns the answer to its write, so readers get a copy.
    const shown = (object: T) => (selects(object) ? this.#kept({ ...object, metadata: { ...object.metadata } }) : undefined);
    this.#own = new OwnWrites({ now, shown });
  }

  get size(): number {
    return this.#watched.size;
  }

  /** Own writes that are shown because the watch has not brought them yet. */
  get ownWrites(): number {
    return this.#own.size;
  }

  get(key: Key): T | undefined {
    return this.at(keyText(key));
  }

  at(key: string): T | undefined {
    const own = this.#own.size > 0 ? this.#own.get(key) : undefined;
    if (own === "hidden") return undefined;
    return own ?? this.#watched.get(key);
  }

  /** All objects, or those of a namespace. */
  list(namespace?: string): T[] {
    const found: T[] = [];
    for (const key of this.#keys()) {
      const object = this.at(key);
      if (object && (namespace === undefined || (object.metadata.namespace ?? "") === namespace)) found.push(object);
    }
    return found;
  }

  /** Objects for which the index has this value. */
  listBy(indexName: string, value: string): T[] {
    const index = this.#indexes.get(indexName);
    if (!index) throw new Error(`there is no index ${indexName}: there are ${[...this.#indexes.keys()].join(", ") || "none"}`);
    const keys = new Set(index.keys(value));
    for (const key of this.#own.keys()) keys.add(key); // few: only writes whose events have not arrived
    const found: T[] = [];
    for (const key of keys) {
      const object = this.at(key);
      if (object && index.has(object, value)) found.push(object);
    }
    return found;
  }

  /** The objects as the watch brought them, without own writes: changes are reported against these. */
  watched(): T[] {
    return [...this.#watched.values()];
  }

  /** The watch brought an object. A version that is already known is no change. */
  put(brought: T, initial: boolean): Change<T> | undefined {
    const key = keyText(keyOf(brought));
    this.#own.arrived(key, brought);
    const previous = this.#watched.get(key);
    if (previous?.metadata.resourceVersion === brought.metadata.resourceVersion && previous?.metadata.uid === brought.metadata.uid) return;
    const object = this.#kept(brought);
    this.#watched.set(key, object);
    for (const index of this.#indexes.values()) index.update(key, previous, object);
    return previous === undefined ? { type: "added", object, initial } : { type: "changed", object, previous };
  }

  /** The watch brought the removal of an object. */
  remove(brought: T): Change<T> | undefined {
    const key = keyText(keyOf(brought));
    this.#own.removed(key, brought);
    return this.#forget(key, this.#kept(brought));
  }

  /** The watch of a namespace (or of all) has brought everything up to this version. */
  passed(namespace: string | undefined, version: string | undefined): void {
    this.#own.passed(version, inScope(namespace));
  }

  /** Begins a list of a namespace (or of all). Objects that it does not bring are gone, though no watch reported it. */
  beginList(namespace: string | undefined): { seen(object: T): void; end(version: string | undefined): Change<T>[] } {
    const own = this.#own.beginList();
    const seen = new Set<string>();
    const listed = inScope(namespace);
    return {
      seen: (object) => seen.add(keyText(keyOf(object))),
      end: (version) => {
        own.listed(version, listed);
        const gone = [...this.#watched].filter(([key]) => listed(key) && !seen.has(key));
        return gone.flatMap(([key, object]) => {
          this.#own.removed(key, object);
          return this.#forget(key, object) ?? [];
        });
      },
    };
  }

  beginWrite(key: Key): PendingWrite {
    const text = keyText(key);
    return this.#own.begin(text, () => this.#watched.get(text));
  }

  #forget(key: string, object: T): Change<T> | undefined {
    const previous = this.#watched.get(key);
    if (previous === undefined) return;
    this.#watched.delete(key);
    for (const index of this.#indexes.values()) index.update(key, previous, undefined);
    return { type: "removed", object };
  }

  /** Drops managedFields, nine tenths of an object's memory. Set, not deleted: a deleted property makes V8 objects slow and large. */
  #kept(object: T): T {
    const metadata = object.metadata as { managedFields?: unknown };
    if (metadata.managedFields !== undefined) metadata.managedFields = undefined;
    return this.#trim(object);
  }

  *#keys(): Generator<string> {
    yield* this.#watched.keys();
    for (const key of this.#own.keys()) if (!this.#watched.has(key)) yield key;
  }
}

function inScope(namespace: string | undefined): (key: string) => boolean {
  return (key) => !namespace || key.startsWith(`${namespace}/`);
}
