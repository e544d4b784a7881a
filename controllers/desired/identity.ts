// Labels and owners: how what belongs to a SampleDB is found, and what goes with it.
import { labelNames } from "../../api/labels.ts";
import { controlledBy, type KubeObject, type ObjectMeta } from "../../runtime/kube/object.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";

export const managedBy = { "app.kubernetes.io/managed-by": "sampledb-operator" } as const;

/** As the API takes it: what has all of these labels. */
export function selectorOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
}

/** Instances and what Patroni keeps of them. */
export const instanceComponent = "postgresql";

/** On all that belongs to the SampleDB. */
export function labelsOf({ metadata: { name } }: Pick<SampleDB, "metadata">): Record<string, string> {
  return { ...managedBy, "app.kubernetes.io/name": "sampledb", "app.kubernetes.io/instance": name, [labelNames.database]: name };
}

/** A database whether or not its SampleDB is still there. A type of its own, so that no other object is taken for a SampleDB by mistake. */
export interface DatabaseIdentity {
  readonly namespace: string;
  readonly name: string;
  /** Of the SampleDB: a later one of the same name is another database. */
  readonly uid: string;
}

export function identityOf({ metadata: { namespace = "", name, uid = "" } }: SampleDB): DatabaseIdentity {
  return { namespace, name, uid };
}

/** Finds the instances, and what Patroni keeps of them; never a Pod of a Job. */
export function instanceSelector({ metadata: { name } }: Pick<SampleDB, "metadata">): Record<string, string> {
  return { [labelNames.database]: name, [labelNames.component]: instanceComponent };
}

export function instanceLabels(db: Pick<SampleDB, "metadata">): Record<string, string> {
  return { ...labelsOf(db), ...instanceSelector(db) };
}

/** Of what goes when the SampleDB goes. */
export function owned(db: SampleDB, name: string): ObjectMeta {
  return { ...kept(db, name), ownerReferences: [controlledBy(db)] };
}

/** Of what must outlive the SampleDB, because data can't be had again: a new SampleDB of that name takes it up. */
export function kept(db: Pick<SampleDB, "metadata">, name: string): ObjectMeta {
  const { namespace = "" } = db.metadata;
  return { name, namespace, labels: labelsOf(db) };
}

/** Whether an object was made for the SampleDB of this name, this one or one before it. */
export function belongsTo(
  { metadata: { name } }: Pick<SampleDB, "metadata">,
  { metadata: { labels } }: Pick<KubeObject, "metadata">,
): boolean {
  return Object.entries({ ...managedBy, [labelNames.database]: name }).every(([label, value]) => labels?.[label] === value);
}
