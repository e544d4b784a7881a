// Finding objects by something other than their name.
import { controllerOf, type KubeObject } from "../kube/object.ts";

/** The values under which an object is found; none, and it is not. */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

/** Objects by the uid of the one that controls them. */
export const byController: IndexFunction<KubeObject> = (object) => {
  const owner = controllerOf(object);
  return owner ? [owner.uid] : [];
};

/** Objects by the value of a label. */
export function byLabel(label: string): IndexFunction<KubeObject> {
  return ({ metadata }) => {
    const value = metadata.labels?.[label];
    return value === undefined ? [] : [value];
  };
}

/** Objects by a field of theirs. */
export function byField<T extends KubeObject>(field: (object: T) => string | undefined): IndexFunction<T> {
  return (object) => {
    const value = field(object);
    return value === undefined ? [] : [value];
  };
}

export class Index<T extends KubeObject> {
  readonly #values: IndexFunction<T>;
  /** Most values have one object, and a set for each would cost more than the object's key. */
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
