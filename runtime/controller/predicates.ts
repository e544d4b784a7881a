// Which changes cause a reconcile. Additions and removals always do.
import type { Change } from "../cache/store.ts";
import type { KubeObject } from "../kube/object.ts";

export type Predicate<T extends KubeObject = KubeObject> = (change: Change<T>) => boolean;

/**
 * A predicate that compares the two versions of a changed object. If the watch missed a deletion, the object before may be
 * another one of the same name: such a change always causes a reconcile.
 */
export function whenChanged<T extends KubeObject>(differs: (object: T, previous: T) => boolean): Predicate<T> {
  return (change) => change.type !== "changed" || isAnother(change.object, change.previous) || differs(change.object, change.previous);
}

/** The spec was edited or a deletion was requested; ignores status and metadata. For kinds that have a generation. */
export const generationChanged = whenChanged(
  ({ metadata }, previous) =>
    metadata.generation !== previous.metadata.generation || metadata.deletionTimestamp !== previous.metadata.deletionTimestamp,
);

export const labelsChanged = whenChanged(({ metadata }, previous) => differs(metadata.labels, previous.metadata.labels));

export const annotationsChanged = whenChanged(({ metadata }, previous) => differs(metadata.annotations, previous.metadata.annotations));

export function anyOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((predicate) => predicate(change));
}

export function allOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((predicate) => predicate(change));
}

function isAnother(object: KubeObject, previous: KubeObject): boolean {
  return object.metadata.uid !== previous.metadata.uid;
}

function differs(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const names = Object.keys(a);
  return names.length !== Object.keys(b).length || names.some((name) => a[name] !== b[name]);
}
