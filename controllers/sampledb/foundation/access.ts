// The instances' account, and its rights in the Kubernetes API.
import { wanted } from "../../../runtime/controller/kept.ts";
import { awaitChange } from "../../../runtime/controller/result.ts";
import { done, waitFor } from "../../../runtime/controller/steps.ts";
import { role, roleBinding, serviceAccount } from "../../desired/access.ts";
import { roleBindings, roles, serviceAccounts } from "../../kinds/kubernetes.ts";
import type { Part, SampleDBStep } from "../scope.ts";

export const account: SampleDBStep = async ({ db, choices, objects, findings }) => {
  await objects.keep(db, "account", choices.digest, () => [wanted(serviceAccounts, serviceAccount(db))]);
  findings.confirmed.add("account");
  return done;
};

/**
 * The Role and the binding name these. They wait until each is known to be ours: otherwise they would give rights on, or to, a stranger's
 * object.
 */
const granted: readonly Part[] = ["account", "configuration", "slice"];

export const access: SampleDBStep = async ({ db, choices, objects, findings }) => {
  if (granted.some((part) => !findings.confirmed.has(part))) return waitFor("its account, configuration and slice", awaitChange);
  await objects.keep(db, "access", choices.digest, () => [wanted(roles, role(db)), wanted(roleBindings, roleBinding(db))]);
  return done;
};
