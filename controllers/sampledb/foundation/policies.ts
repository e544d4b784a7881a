// Lets a drain through, one instance at a time, and only while the others could go on without it.
import { done } from "../../../runtime/controller/steps.ts";
import { unprepared } from "../../database/succession.ts";
import { namesOf } from "../../desired/names.ts";
import { disruptionBudget } from "../../desired/policies.ts";
import { podDisruptionBudgets } from "../../kinds/kubernetes.ts";
import type { SampleDBStep } from "../scope.ts";

export const policies: SampleDBStep = async ({ db, key, objects, observed }) => {
  const budget = { namespace: key.namespace, name: namesOf(db).disruptionBudget };
  const prepared = observed.primary !== undefined && unprepared(observed).length === 0;
  await objects.ensure(podDisruptionBudgets, budget, db, disruptionBudget(db, { prepared }));
  return done;
};
