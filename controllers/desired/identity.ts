// Labels and owners: how the operator finds the objects of a SampleDB, and which of them go with it.
import { labelNames } from "../../api/labels.ts";
import { controlledBy, type KubeObject, type ObjectMeta } from "../../runtime/kube/object.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";

export const managedBy = { "app.kubernetes.io/managed-by": "sampledb-operator" } as const;

/** A label selector in the API's syntax, for objects that have all of these labels. */
export function selectorOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
}

/** The component of instances, their claims and Patroni's objects. */
export const instanceComponent = "postgresql";

/** The labels of every object of the SampleDB. */
export function labelsOf({ metadata: { name } }: Pick<SampleDB, "metadata">): Record<string, string> {
  return { ...managedBy, "app.kubernetes.io/name": "sampledb", "app.kubernetes.io/instance": name, [labelNames.database]: name };
}

/** A database, whether or not its SampleDB is still there. A type of its own, so that no other object passes for a SampleDB by mistake. */
export interface DatabaseIdentity {
  readonly namespace: string;
  readonly name: string;
  /** The SampleDB's uid: a later SampleDB of the same name is another database. */
  readonly uid: string;
}

export function identityOf({ metadata: { namespace = "", name, uid = "" } }: SampleDB): DatabaseIdentity {
  return { namespace, name, uid };
}

/** Selects the instances, their claims and Patroni's objects; never a Pod of a Job. */
export function instanceSelector({ metadata: { name } }: Pick<SampleDB, "metadata">): Record<string, string> {
  return { [labelNames.database]: name, [labelNames.component]: instanceComponent };
}

export function instanceLabels(db: Pick<SampleDB, "metadata">): Record<string, string> {
  return { ...labelsOf(db), ...instanceSelector(db) };
}

/** Metadata of an object that goes when the SampleDB goes. */
export function owned(db: SampleDB, name: string): ObjectMeta {
  return { ...kept(db, name), ownerReferences: [controlledBy(db)] };
}

/** Metadata of an object that has no owner, and so outlives the SampleDB: a new SampleDB of that name takes it up. */
export function kept(db: Pick<SampleDB, "metadata">, name: string): ObjectMeta {
  const { namespace = "" } = db.metadata;
  return { name, namespace, labels: labelsOf(db) };
}

/** Whether the operator made the object for a SampleDB of this name: for this one, or for one before it. */
export function belongsTo(
  { metadata: { name } }: Pick<SampleDB, "metadata">,
  { metadata: { labels } }: Pick<KubeObject, "metadata">,
): boolean {
  return Object.entries({ ...managedBy, [labelNames.database]: name }).every(([label, value]) => labels?.[label] === value);
}
