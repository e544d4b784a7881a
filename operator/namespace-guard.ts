// Refuses to delete a namespace with databases whose data must stay: its deletion removes Pods and claims first, whatever their
// deletionPolicy. config/policy/namespace_deletion.yaml has the same rule for while no operator runs; change both.
import { namespaces } from "../controllers/kinds/kubernetes.ts";
import type { SampleDB } from "../controllers/kinds/sampledb-io.ts";
import { allowed, denied, type Validation } from "../runtime/webhooks/admission.ts";
import { type Validator, validatorPath } from "./validator.ts";

const namesShown = 3;

export const namespaceGuard: Validator = {
  resource: namespaces,
  path: validatorPath(namespaces),
  operations: ["DELETE"],
  failurePolicy: "Ignore", // with Fail, no namespace of the cluster could be deleted without an operator
  validate: ({ name }, { databases }) => {
    if (!databases.isSynced) return notKnownYet(name);
    const staying = databases.list(name).filter((database) => !mayGo(database));
    return staying.length === 0 ? allowed() : refusal(name, staying);
  },
};

function mayGo({ spec: { deletionPolicy, deletionProtection } }: SampleDB): boolean {
  return deletionPolicy === "Delete" && !deletionProtection;
}

function refusal(namespace: string, staying: readonly SampleDB[]): Validation {
  const names = staying.map(({ metadata }) => metadata.name).sort();
  const more = names.length - namesShown;
  const listed = [...names.slice(0, namesShown), ...(more > 0 ? [`${more} more`] : [])].join(", ");
  return denied({
    message: `namespace ${namespace} holds SampleDBs whose data would go with it: ${listed}. Delete them first; or, where the data may go, set spec.deletionPolicy to Delete and spec.deletionProtection to false`,
  });
}

function notKnownYet(namespace: string): Validation {
  const message = `it is not known yet whether namespace ${namespace} holds SampleDBs, because the operator has just started; try again in a moment`;
  return denied({ message, reason: "ServiceUnavailable", code: 503 });
}
