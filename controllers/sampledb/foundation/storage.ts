// The claims: made before their Pods, and grown whatever state the database is in, because growth mends a full disk.
import { reasons } from "../../../api/reasons.ts";
import { compareQuantities } from "../../../kubernetes/quantity.ts";
import { Occupied } from "../../../runtime/controller/objects.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { AlreadyExists, Forbidden, Invalid, ignoreNotFound } from "../../../runtime/kube/errors.ts";
import { controllerOf, keyOf, keyText } from "../../../runtime/kube/object.ts";
import { belongsTo } from "../../desired/identity.ts";
import { claim } from "../../desired/instances.ts";
import { claimName } from "../../desired/names.ts";
import { type PersistentVolumeClaim, persistentVolumeClaims } from "../../kinds/kubernetes.ts";
import { restores } from "../../kinds/sampledb-io.ts";
import type { SampleDBStep, Scope } from "../scope.ts";

/** StorageClasses are not watched, so a claim that can't grow is tried again after this. */
export const tryAgainSeconds = 30;

export const storage: SampleDBStep = async (scope) => {
  const { db, observed, findings } = scope;
  const filling = [...observed.claims.values()].find((existing) => controllerOf(existing)?.kind === restores.kind);
  if (filling)
    throw new Occupied(`PersistentVolumeClaim ${filling.metadata.name} is being filled by Restore ${controllerOf(filling)?.name}`);
  let outcome = done;
  for (const existing of observed.claims.values())
    if (!(await growClaim(scope, existing, db.spec.storage.size))) outcome = doneUntil(tryAgainSeconds);
  // A hibernated database needs no new claims. They are made when it wakes.
  const wanted = db.spec.powerState === "Hibernated" ? 0 : db.spec.replicas;
  for (let ordinal = 0; ordinal < wanted; ordinal++) {
    if (!observed.claims.has(claimName(db, ordinal))) await createClaim(scope, claim(db, ordinal));
  }
  findings.confirmed.add("volumes");
  return outcome;
};

export async function createClaim({ db, client }: Scope, wanted: PersistentVolumeClaim): Promise<void> {
  try {
    await client.create(persistentVolumeClaims, wanted);
  } catch (error) {
    if (!(error instanceof AlreadyExists)) throw error;
    const there = await client.get(persistentVolumeClaims, keyOf(wanted));
    if (belongsTo(db, there)) return; // the StatefulSet was faster
    // A Pod would start on someone else's data.
    throw new Occupied(`PersistentVolumeClaim ${keyText(keyOf(there))} is there already and was not made for SampleDB ${db.metadata.name}`);
  }
}

/** A claim that never got a volume has no data, unless it is to begin with a copy of another volume or a snapshot. */
export function mayHaveData({ spec }: PersistentVolumeClaim): boolean {
  return Boolean(spec?.volumeName || spec?.dataSource || spec?.dataSourceRef);
}

/** Removes a claim without data. Kubernetes lets nobody change such a claim, so a wrong size or class could not be corrected otherwise. */
export async function removeEmpty({ client }: Pick<Scope, "client">, existing: PersistentVolumeClaim): Promise<void> {
  const { uid, resourceVersion } = existing.metadata; // as it was read: it may have got a volume since
  await client.delete(persistentVolumeClaims, keyOf(existing), { uid, resourceVersion }).catch(ignoreNotFound);
}

/** Returns false where the claim can't grow. Claims beyond `replicas` grow, too: their instances may be wanted again. */
export async function growClaim(scope: Scope, existing: PersistentVolumeClaim, size: string): Promise<boolean> {
  const { db, client, findings, deps } = scope;
  const asked = existing.spec?.resources?.requests?.["storage"] ?? "0";
  if (existing.metadata.deletionTimestamp || (compareQuantities(size, asked) ?? 0) <= 0) return true;
  if (!mayHaveData(existing)) {
    await removeEmpty(scope, existing); // the watch reports its end, and the next reconcile makes a new one
    return true;
  }
  try {
    await client.mergePatch(persistentVolumeClaims, keyOf(existing), { spec: { resources: { requests: { storage: size } } } });
    const note = `claim ${existing.metadata.name} grows from ${asked} to ${size}`;
    deps.events.record(db, { type: "Normal", reason: reasons.volumeGrowing, action: "Grow", note });
    return true;
  } catch (error) {
    if (!(error instanceof Forbidden || error instanceof Invalid)) throw error;
    const { storageClassName = "of the claim" } = existing.spec ?? {};
    findings.blockers.push({
      reason: reasons.volumeCannotGrow,
      message: `claim ${existing.metadata.name} can't grow from ${asked} to ${size}: ${error.message}`,
      remedy: `let StorageClass ${storageClassName} grow volumes (allowVolumeExpansion: true), or make a SampleDB with another class and move the data`,
    });
    return false;
  }
}
