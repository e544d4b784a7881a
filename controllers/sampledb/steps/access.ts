// What the instances may do in the Kubernetes API.
import { done } from "../../../runtime/controller/steps.ts";
import { role, roleBinding, serviceAccount } from "../../desired/access.ts";
import { roleBindings, roles, serviceAccounts } from "../../kinds.ts";
import type { SampleDBStep } from "../scope.ts";

export const access: SampleDBStep = async ({ db, objects }) => {
  await Promise.all([
    objects.apply(serviceAccounts, serviceAccount(db)),
    objects.apply(roles, role(db)),
    objects.apply(roleBindings, roleBinding(db)),
  ]);
  return done;
};
