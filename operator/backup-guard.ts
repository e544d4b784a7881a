// Refuses to delete a Backup whose artefact would go with it and is still needed. The controller asks the same again.
import { hasExpired, readersOf, whyNeeded } from "../controllers/database/backups.ts";
import { backups } from "../controllers/kinds/sampledb-io.ts";
import { allowed, denied } from "../runtime/webhooks/admission.ts";
import { type Validator, validatorPath } from "./validator.ts";

export const backupGuard: Validator = {
  resource: backups,
  path: validatorPath(backups),
  operations: ["DELETE"],
  failurePolicy: "Ignore", // without an operator the finalizer keeps the object, and with it the artefact
  validate: ({ name, namespace = "" }, known) => {
    const backup = known.backups.get({ namespace, name });
    if (!backup || hasExpired(backup) || backup.spec.deletionPolicy === "Retain" || backup.status?.label === undefined) return allowed();
    const siblings = known.backups.list(namespace).filter((other) => other.spec.sampleDBName === backup.spec.sampleDBName);
    const needed = whyNeeded(backup, siblings, readersOf(backup, known.restores.list(namespace)));
    return needed === undefined ? allowed() : denied({ message: `Backup ${name} can't be deleted: ${needed}` });
  },
};
