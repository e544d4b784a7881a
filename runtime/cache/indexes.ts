// Indexes: finding objects by other values than their key.
import { controllerOf, type KubeObject } from "../kube/object.ts";

/** The values under which the index finds an object; empty if under none. */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

/** Indexes objects by the uid of their controller. */
export const byController: IndexFunction<KubeObject> = (object) => {
  const owner = controllerOf(object);
  return owner ? [owner.uid] : [];
};

/** Indexes objects by the value of a label. */
export function byLabel(label: string): IndexFunction<KubeObject> {
  return ({ metadata }) => {
    const value = metadata.labels?.[label];
    return value === undefined ? [] : [value];
  };
}

/** Indexes objects by one of their fields. */
export function byField<T extends KubeObject>(field: (object: T) => string | undefined): IndexFunction<T> {
  return (object) => {
    const value = field(object);
    return value === undefined ? [] : [value];
  };
}

export class Index<T extends KubeObject> {
  readonly #values: IndexFunction<T>;
  /** Most values have one object; a Set for each would take more memory than the object's key. */
  readonly #keys = new Map<string, string | Set<string>>();

  constructor(values: IndexFunction<T>) {
    this.#values = values;
  }

  keys(value: string): Iterable<string> {
    const keys = this.#keys.get(value);
    if (keys === undefined) return [];
    return typeof keys === "string" ? [keys] : keys;
  }

  has(object: T, value: string): boolean {
    return this.#values(object).includes(value);
  }

  update(key: string, previous: T | undefined, object: T | undefined): void {
    const before = previous ? this.#values(previous) : [];
    const after = object ? this.#values(object) : [];
    for (const value of before) if (!after.includes(value)) this.#drop(value, key);
    for (const value of after) if (!before.includes(value)) this.#add(value, key);
  }

  #add(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys === undefined) this.#keys.set(value, key);
    else if (typeof keys === "string") this.#keys.set(value, new Set([keys, key]));
    else keys.add(key);
  }

  #drop(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (typeof keys === "string") this.#keys.delete(value);
    else if (keys?.delete(key) && keys.size === 0) this.#keys.delete(value);
  }
}
