// The common parts of Kubernetes objects, as raw JSON, so that unknown fields survive.

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** A type of the client library in its JSON form: times are strings. */
export type Raw<T> = T extends Date ? string : T extends (infer U)[] ? Raw<U>[] : T extends object ? { [K in keyof T]: Raw<T[K]> } : T;

/** The client library's model of a kind, with the fields that every object from the API server has. */
export type Model<T> = Raw<Omit<T, "apiVersion" | "kind" | "metadata">> & KubeObject;

/** Names one object of a kind. The namespace is empty for a cluster-scoped kind. */
export interface Key {
  readonly namespace: string;
  readonly name: string;
}

export function keyOf({ metadata }: Pick<KubeObject, "metadata">): Key {
  return { namespace: metadata.namespace ?? "", name: metadata.name };
}

/** `namespace/name`, or the name alone for a cluster-scoped kind: unique within a kind. */
export function keyText({ namespace, name }: Key): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

export function parseKey(text: string): Key {
  const slash = text.indexOf("/");
  return slash < 0 ? { namespace: "", name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** The reference that makes `owner` the controller of an object: Kubernetes deletes the object with its owner. */
export function controlledBy(owner: KubeObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  if (metadata.uid === undefined) throw new Error(`${kind} ${keyText(keyOf(owner))} has no uid yet, so nothing can belong to it`);
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true };
}

export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** By uid: an object whose owner was deleted and made again under the same name is not the new owner's. */
export function isControlledBy(object: KubeObject | undefined, { metadata: { uid } }: KubeObject): boolean {
  return object !== undefined && uid !== undefined && controllerOf(object)?.uid === uid;
}
