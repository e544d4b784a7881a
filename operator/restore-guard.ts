// Refuses a Restore that can't succeed: by its spec alone, by the Backups that are known, and by the SampleDB whose data it would replace. The controller asks the same again.
import { checkRestore } from "../api/checks/restore.ts";
import { describeViolations, type Violation } from "../api/checks/violation.ts";
import { objectionTo } from "../controllers/database/restore-window.ts";
import { unfit } from "../controllers/database/unfit.ts";
import { type Restore, restores } from "../controllers/kinds/sampledb-io.ts";
import { allowed, denied } from "../runtime/webhooks/admission.ts";
import { type Known, type Validator, validatorPath } from "./validator.ts";

export const restoreGuard: Validator = {
  resource: restores,
  path: validatorPath(restores),
  operations: ["CREATE", "UPDATE"],
  failurePolicy: "Fail",
  validate: ({ operation, object, namespace }, known) => {
    if (object === undefined) return allowed();
    const restore = object as Restore;
    const { spec } = restore;
    const violations = checkRestore(spec);
    // Later the spec can't change any more, and Backups come and go.
    const found = violations.length === 0 && operation === "CREATE" ? objections(restore, namespace, known) : violations;
    if (found.length === 0) return allowed();
    const causes = found.map(({ field, message }) => ({ reason: "FieldValueInvalid", field, message }));
    return denied({ message: describeViolations(found), causes });
  },
};

/** Nothing while the operator does not know all Backups yet: the controller will. */
function objections(restore: Restore, namespace: string, { databases, backups, now }: Known): Violation[] {
  if (!backups.isSynced || !databases.isSynced) return [];
  const { source, destination } = restore.spec;
  const { backupName, sampleDBName } = source;
  const all = backups.list(namespace).filter((backup) => backup.spec.sampleDBName === sampleDBName);
  const inOrder = all.toSorted((a, b) => (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? ""));
  const backup = backupName === undefined ? undefined : backups.get({ namespace, name: backupName });
  const known = { backup, backups: inOrder };
  const name = destination.sampleDBName;
  const problem = destination.type === "InPlace" ? unfit({ restore, ...known }, databases.get({ namespace, name })) : undefined;
  if (problem !== undefined) return [{ field: "spec.destination.sampleDBName", message: problem }];
  const objection = objectionTo(restore.spec, known, now());
  return objection ? [objection] : [];
}
