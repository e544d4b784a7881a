// Sets of objects that were found to be as they should be, so that nothing is built and compared again before something has changed.
import { BoundedMap } from "../bounded-map.ts";
import type { Cache, Cached } from "../cache/cache.ts";
import { type KubeObject, keyOf, keyText } from "../kube/object.ts";
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
  readonly kind: Cached<KubeObject>;
  readonly key: string;
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
  is(place: string, cause: string): boolean {
    const finding = this.#findings.get(place);
    return finding?.cause === cause && finding.found.every(({ kind, key, version }) => versionOf(kind.at(key)) === version);
  }

  remember(place: string, cause: string, objects: readonly Wanted[], cache: Cache): void {
    const foundAs = ({ resource, object }: Wanted): Found => ({
      kind: cache.watched(resource),
      key: keyText(keyOf(object)),
      version: versionOf(object) ?? "",
    });
    this.#findings.set(place, { cause, found: objects.map(foundAs) });
  }
}

/** Of an object that was made anew under the same name it is another one too. */
function versionOf(object: KubeObject | undefined): string | undefined {
  return object?.metadata.resourceVersion;
}
