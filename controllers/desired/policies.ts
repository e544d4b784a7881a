// How many instances may be away on purpose.
import type { PodDisruptionBudget } from "../kinds.ts";
import type { SampleDB } from "../resources.ts";
import { instanceSelector, owned } from "./identity.ts";
import { namesOf } from "./names.ts";

/** None for a single instance: it would hold up a drain for ever. */
export function disruptionBudget(db: SampleDB): PodDisruptionBudget | undefined {
  if (db.spec.replicas < 2) return undefined;
  const spec = { maxUnavailable: 1, selector: { matchLabels: instanceSelector(db) } };
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: owned(db, namesOf(db).disruptionBudget), spec };
}
