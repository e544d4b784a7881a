// How many instances may be away on purpose.
import type { PodDisruptionBudget } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { instanceSelector, owned } from "./identity.ts";
import { namesOf } from "./names.ts";

/**
 * None for a single instance: it would hold up a drain for ever. `prepared` is that every replica could take over now. Until then nobody
 * may go: a Pod is Ready when it answers SQL, which is before commits can wait for it. Who drains one node after the other would
 * take the primary away in between, and commits would wait for it, or with two instances nobody could lead.
 */
export function disruptionBudget(db: SampleDB, { prepared }: { readonly prepared: boolean }): PodDisruptionBudget | undefined {
  if (db.spec.replicas < 2) return undefined;
  const spec = {
    maxUnavailable: prepared ? 1 : 0,
    unhealthyPodEvictionPolicy: "AlwaysAllow", // one that does not serve holds up nobody's drain
    selector: { matchLabels: instanceSelector(db) },
  };
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: owned(db, namesOf(db).disruptionBudget), spec };
}
