// Objects for tests of the cache.
import type { KubeObject } from "../kube/object.ts";
import { namespaced } from "../kube/resource.ts";

export interface Thing extends KubeObject {
  readonly spec?: { readonly color?: string };
}

export const things = namespaced<Thing>("test.sampledb.io/v1", "Thing", "things");

interface Described {
  readonly version?: number | string;
  readonly uid?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly color?: string;
  readonly owner?: string;
}

export function thing(
  name: string,
  { version = 1, uid = `uid-${name}`, namespace = "default", labels, color, owner }: Described = {},
): Thing {
  const reference = { apiVersion: "v1", kind: "Owner", name: "owner", uid: owner ?? "", controller: true };
  return {
    apiVersion: things.apiVersion,
    kind: things.kind,
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: String(version),
      ...(labels ? { labels } : {}),
      ...(owner === undefined ? {} : { ownerReferences: [reference] }),
    },
    ...(color === undefined ? {} : { spec: { color } }),
  };
}

/** `name@version` of each, in order of their names. */
export function versionsOf(objects: readonly KubeObject[]): string[] {
  return objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();
}
