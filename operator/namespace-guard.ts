// Refuses to delete a namespace with databases whose data must stay: its deletion removes Pods and claims first, whatever their
// deletionPolicy. config/policy/namespace_deletion.yaml has the same rule for while no operator runs; change both.
import { deletionPolicyOf } from "../api/deletion-policy.ts";
import { labelNames } from "../api/labels.ts";
import { isGood } from "../controllers/database/backups.ts";
import { namespaces } from "../controllers/kinds/kubernetes.ts";
import type { Backup, SampleDB } from "../controllers/kinds/sampledb-io.ts";
import { allowed, denied, type Validation } from "../runtime/webhooks/admission.ts";
import { type Validator, validatorPath } from "./validator.ts";

const namesShown = 3;

export const namespaceGuard: Validator = {
  resource: namespaces,
  path: validatorPath(namespaces),
  operations: ["DELETE"],
  failurePolicy: "Ignore", // with Fail, no namespace of the cluster could be deleted without an operator
  validate: ({ name }, { databases, backups }) => {
    if (!databases.isSynced || !backups.isSynced) return notKnownYet(name);
    const staying = databases.list(name).filter((database) => !mayGo(database));
    if (staying.length > 0) return refusal(name, staying);
    const only = backups.list(name).filter(isOnlyCopy);
    return only.length === 0 ? allowed() : refusalForBackups(name, only);
  },
};

/** The last Backup of a SampleDB that was deleted, in a volume that goes with the namespace. One in a bucket stays there. */
function isOnlyCopy(backup: Backup): boolean {
  const { labels, deletionTimestamp } = backup.metadata;
  const isFinal = labels?.[labelNames.finalBackup] === "true" && deletionTimestamp === undefined;
  return isFinal && isGood(backup) && backup.status?.repository?.volumeClaimName !== undefined;
}

function mayGo({ spec }: SampleDB): boolean {
  return deletionPolicyOf(spec) === "Delete" && !spec.deletionProtection;
}

function listed(objects: readonly (SampleDB | Backup)[]): string {
  const names = objects.map(({ metadata }) => metadata.name).sort();
  const more = names.length - namesShown;
  return [...names.slice(0, namesShown), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function refusalForBackups(namespace: string, only: readonly Backup[]): Validation {
  return denied({
    message: `namespace ${namespace} holds all that is left of deleted SampleDBs, and their repository's volume would go with it: Backups ${listed(only)}. Restore them elsewhere; or, where the data may go, delete these Backups first`,
  });
}

function refusal(namespace: string, staying: readonly SampleDB[]): Validation {
  return denied({
    message: `namespace ${namespace} holds SampleDBs whose data would go with it: ${listed(staying)}. Delete them first; or, where the data may go, set spec.deletionPolicy to Delete and spec.deletionProtection to false`,
  });
}

function notKnownYet(namespace: string): Validation {
  const message = `it is not known yet whether namespace ${namespace} holds SampleDBs, because the operator has just started; try again in a moment`;
  return denied({ message, reason: "ServiceUnavailable", code: 503 });
}
