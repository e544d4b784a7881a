// What the instances may do in the Kubernetes API.
import { wanted } from "../../../runtime/controller/kept.ts";
import { done } from "../../../runtime/controller/steps.ts";
import { role, roleBinding, serviceAccount } from "../../desired/access.ts";
import { roleBindings, roles, serviceAccounts } from "../../kinds/kubernetes.ts";
import type { SampleDBStep } from "../scope.ts";

export const access: SampleDBStep = async ({ db, choices, objects }) => {
  await objects.keep(db, "access", choices.digest, () => [
    wanted(serviceAccounts, serviceAccount(db)),
    wanted(roles, role(db)),
    wanted(roleBindings, roleBinding(db)),
  ]);
  return done;
};
