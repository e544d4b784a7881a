// Remembers sets of objects that were found converged, so that they are not built and compared again until something changes.
import { BoundedMap } from "../bounded-map.ts";
import type { Cache, Cached } from "../cache/cache.ts";
import { type KubeObject, keyOf, keyText } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";

/** A desired object and its kind. */
export interface Wanted {
  readonly resource: Resource;
  readonly object: KubeObject;
  /** Written onto this version only: for an object that follows from its own last state. */
  readonly onto?: string | undefined;
}

export function wanted<T extends KubeObject>(resource: Resource<T>, object: T, onto?: string): Wanted {
  return { resource, object, onto };
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

  /** Whether the objects that followed from this cause were converged at the last look, and the cache still has those versions. */
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

/** Also differs for an object that was deleted and created again under the same name. */
function versionOf(object: KubeObject | undefined): string | undefined {
  return object?.metadata.resourceVersion;
}
