// What the webhooks say of our kinds: the same checks that the reconcilers make.
import { checkRestore } from "../api/checks/restore.ts";
import { checkSampleDB } from "../api/checks/sampledb.ts";
import { describeViolations, type Violation } from "../api/checks/violation.ts";
import { type Restore, restores, type SampleDB, sampledbs } from "../controllers/resources.ts";
import type { KubeObject } from "../runtime/kube/object.ts";
import type { Resource } from "../runtime/kube/resource.ts";
import { type AdmissionRequest, allowed, denied, type Validation } from "../runtime/webhooks/admission.ts";

export interface Validator {
  readonly resource: Resource;
  readonly path: string;
  readonly validate: (request: AdmissionRequest) => Validation;
}

/** A kind without checks of its own has no webhook: schema and CEL rules say all that can be wrong with it. */
export const validators: readonly Validator[] = [
  validator<SampleDB>(sampledbs, ({ spec }) => checkSampleDB(spec)),
  validator<Restore>(restores, ({ spec }) => checkRestore(spec)),
];

function validator<T extends KubeObject>(resource: Resource<T>, check: (object: T) => readonly Violation[]): Validator {
  return {
    resource,
    path: `/validate-${resource.apiVersion.replace(/[./]/g, "-")}-${resource.kind.toLowerCase()}`,
    // Schema and CEL have passed before a webhook is asked, so the object is of its type.
    validate: ({ object }) => (object === undefined ? allowed() : verdict(check(object as T))),
  };
}

function verdict(violations: readonly Violation[]): Validation {
  if (violations.length === 0) return allowed();
  const causes = violations.map(({ field, message }) => ({ reason: "FieldValueInvalid", field, message }));
  return denied({ message: describeViolations(violations), causes });
}
