// What the webhooks say: of our kinds the same checks that the reconcilers make, and of namespaces whether they may go.
import { checkSampleDB } from "../api/checks/sampledb.ts";
import { describeViolations, type Violation } from "../api/checks/violation.ts";
import { type SampleDB, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import type { KubeObject } from "../runtime/kube/object.ts";
import type { Resource } from "../runtime/kube/resource.ts";
import { allowed, denied, type Validation } from "../runtime/webhooks/admission.ts";
import { backupGuard } from "./backup-guard.ts";
import { namespaceGuard } from "./namespace-guard.ts";
import { restoreGuard } from "./restore-guard.ts";
import { type Validator, validatorPath } from "./validator.ts";

/** A kind without checks of its own has no webhook: schema and CEL rules say all that can be wrong with it. */
export const validators: readonly Validator[] = [
  checker<SampleDB>(sampledbs, ({ spec }) => checkSampleDB(spec)),
  restoreGuard,
  backupGuard,
  namespaceGuard,
];

function checker<T extends KubeObject>(resource: Resource<T>, check: (object: T) => readonly Violation[]): Validator {
  return {
    resource,
    path: validatorPath(resource),
    operations: ["CREATE", "UPDATE"],
    failurePolicy: "Fail",
    // The API server asks after schema and CEL rules. Any Pod may ask as well, so the checks begin with the schema's types and bounds.
    validate: ({ object }) => (object === undefined ? allowed() : verdict(check(object as T))),
  };
}

function verdict(violations: readonly Violation[]): Validation {
  if (violations.length === 0) return allowed();
  const causes = violations.map(({ field, message }) => ({ reason: "FieldValueInvalid", field, message }));
  return denied({ message: describeViolations(violations), causes });
}
