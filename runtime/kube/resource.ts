// Where the objects of a kind are found in the API.
import type { KubeObject } from "./object.ts";

/** A kind with its place in the API; the type parameter is what its objects look like. */
export interface Resource<T extends KubeObject = KubeObject> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set: it only carries the type. */
  readonly object?: T;
}

export function namespaced<T extends KubeObject>(apiVersion: string, kind: string, plural: string): Resource<T> {
  return { apiVersion, kind, plural, namespaced: true };
}

export function clusterScoped<T extends KubeObject>(apiVersion: string, kind: string, plural: string): Resource<T> {
  return { apiVersion, kind, plural, namespaced: false };
}

/** `configmaps`, `sampledbs.sampledb.io`: how kubectl and people name it. */
export function resourceName({ apiVersion, plural }: Resource): string {
  const [group, version] = apiVersion.split("/");
  return version === undefined ? plural : `${plural}.${group}`;
}

/**
 * The path of all objects, of a namespace's (when it is not empty), or of one. Throws when the name would make it the path
 * of something else: a deletion of the object with an empty name is a deletion of all.
 */
export function resourcePath(resource: Resource, namespace: string, name?: string, subresource?: string): string {
  if (name !== undefined && (unusable(name) || (resource.namespaced && namespace === ""))) {
    throw new Error(`no ${resource.kind} can be named "${name}" in the namespace "${namespace}"`);
  }
  const group = resource.apiVersion.includes("/") ? `/apis/${resource.apiVersion}` : `/api/${resource.apiVersion}`;
  const place = resource.namespaced && namespace !== "" ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  const object = name === undefined ? "" : `/${encodeURIComponent(name)}`;
  return `${group}${place}/${resource.plural}${object}${subresource === undefined ? "" : `/${subresource}`}`;
}

/** As the API server itself judges it. */
function unusable(name: string): boolean {
  return ["", ".", ".."].includes(name) || /[/%]/.test(name);
}
