// Kinds and their paths in the API.
import type { KubeObject } from "./object.ts";

/** A kind and its place in the API. The type parameter is the type of its objects. */
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

/** `configmaps`, `sampledbs.sampledb.io`: the name that kubectl uses. */
export function resourceName({ apiVersion, plural }: Resource): string {
  const [group, version] = apiVersion.split("/");
  return version === undefined ? plural : `${plural}.${group}`;
}

/**
 * The path of all objects, of the objects in a namespace (if not empty), or of one object. Throws for a name that would change
 * the path's meaning: deleting the object with the empty name would delete all objects.
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

/** The API server's own rule. */
function unusable(name: string): boolean {
  return ["", ".", ".."].includes(name) || /[/%]/.test(name);
}
