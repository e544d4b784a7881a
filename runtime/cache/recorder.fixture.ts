// Records what a cache reports to its subscribers, and checks that the reports are consistent.
import { type KubeObject, keyOf, keyText } from "../kube/object.ts";
import type { Cached } from "./cache.ts";
import type { Change } from "./store.ts";

/** `namespace/name uid@version` */
export function describe({ metadata }: KubeObject): string {
  return `${keyText(keyOf({ metadata }))} ${metadata.uid}@${metadata.resourceVersion}`;
}

export class Recorder {
  /** Reported objects that were not reported as removed. */
  readonly #present = new Map<string, KubeObject>();
  /** Changes that contradict earlier reports, and uids that were removed twice. */
  readonly mistakes: string[] = [];
  readonly #removed = new Set<string>();
  changes = 0;

  constructor(cached: Cached<KubeObject>) {
    cached.subscribe((change) => this.#take(change));
  }

  get removals(): number {
    return this.#removed.size;
  }

  get present(): string[] {
    return [...this.#present.values()].map(describe).sort();
  }

  #take(change: Change): void {
    this.changes += 1;
    const { type, object } = change;
    const [key, uid] = [keyText(keyOf(object)), object.metadata.uid ?? ""];
    const known = this.#present.get(key);
    if ((type === "added") === (known !== undefined)) this.mistakes.push(`${type} ${describe(object)}, known ${known && describe(known)}`);
    if (type === "changed" && known && describe(change.previous) !== describe(known)) this.mistakes.push(`previous of ${describe(object)}`);
    if (type !== "removed") this.#present.set(key, object);
    else if (this.#removed.has(uid)) this.mistakes.push(`removed again: ${describe(object)}`);
    else {
      this.#present.delete(key);
      this.#removed.add(uid);
    }
  }
}
