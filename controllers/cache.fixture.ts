// For tests of pure reads: a cache with the given objects, and with the indexes of watches.ts.
import type { Cache, WatchedKind } from "../runtime/cache/cache.ts";
import { type Key, type KubeObject, keyOf, keyText } from "../runtime/kube/object.ts";
import { type Resource, resourceName } from "../runtime/kube/resource.ts";
import { declareWatches } from "./watches.ts";

export function cacheOf(...objects: readonly KubeObject[]): Cache {
  const kinds = new Map<string, WatchedKind<KubeObject>>();
  declareWatches({
    watch: (resource: Resource, watched: WatchedKind<KubeObject> = {}) => kinds.set(resourceName(resource), watched),
  } as never);
  const watched = (resource: Resource) => {
    const indexes = kinds.get(resourceName(resource))?.indexes ?? {};
    const own = objects.filter(({ kind }) => kind === resource.kind);
    return {
      get: (key: Key) => own.find((object) => keyText(keyOf(object)) === keyText(key)),
      list: () => own,
      listBy: (index: string, value: string) => own.filter((object) => indexes[index]?.(object).includes(value)),
    };
  };
  return { watched } as unknown as Cache;
}
