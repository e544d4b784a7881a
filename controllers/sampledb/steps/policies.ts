// Lets a drain through, one instance at a time.
import { done } from "../../../runtime/controller/steps.ts";
import { namesOf } from "../../desired/names.ts";
import { disruptionBudget } from "../../desired/policies.ts";
import { podDisruptionBudgets } from "../../kinds.ts";
import type { SampleDBStep } from "../scope.ts";

export const policies: SampleDBStep = async ({ db, key, objects }) => {
  const budget = { namespace: key.namespace, name: namesOf(db).disruptionBudget };
  await objects.ensure(podDisruptionBudgets, budget, db, disruptionBudget(db));
  return done;
};
