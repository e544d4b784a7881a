// Sets of objects that were found to be as they should be, so that nothing is built and compared again before something has changed.
import { BoundedMap } from "../bounded-map.ts";
import type { Cache } from "../cache/cache.ts";
import { type Key, type KubeObject, keyOf } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";

/** An object as it is to be. */
export interface Wanted {
  readonly resource: Resource;
  readonly object: KubeObject;
}

export function wanted<T extends KubeObject>(resource: Resource<T>, object: T): Wanted {
  return { resource, object };
}

interface Found {
  readonly resource: Resource;
  readonly key: Key;
  readonly version: string;
}

interface Finding {
  readonly cause: string;
  readonly found: readonly Found[];
}

const mostRemembered = 20_000;

export class Kept {
  readonly #findings = new BoundedMap<Finding>(mostRemembered);

  /** Whether what followed from this cause was right when it was looked at last, and is what the cache still has. */
  is(place: string, cause: string, cache: Cache): boolean {
    const finding = this.#findings.get(place);
    return (
      finding?.cause === cause && finding.found.every((found) => versionOf(cache.watched(found.resource).get(found.key)) === found.version)
    );
  }

  remember(place: string, cause: string, objects: readonly Wanted[]): void {
    const found = objects.map(({ resource, object }) => ({ resource, key: keyOf(object), version: versionOf(object) ?? "" }));
    this.#findings.set(place, { cause, found });
  }
}

/** Of an object that was made anew under the same name it is another one too. */
function versionOf(object: KubeObject | undefined): string | undefined {
  return object?.metadata.resourceVersion;
}
