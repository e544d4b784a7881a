// The disruption budget: how many instances an eviction may take away at a time.
import type { PodDisruptionBudget } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { instanceSelector, owned } from "./identity.ts";
import { namesOf } from "./names.ts";

/**
 * None for a single instance: it would block a drain for ever. `prepared` means that every replica could take over now. Until then no
 * instance may be evicted. A Pod is Ready when it answers SQL, which is before commits can wait for it. A person who drains one node after
 * the other would take the primary away in between: commits would wait, and with two instances none could lead.
 */
export function disruptionBudget(db: SampleDB, { prepared }: { readonly prepared: boolean }): PodDisruptionBudget | undefined {
  if (db.spec.replicas < 2) return undefined;
  const spec = {
    maxUnavailable: prepared ? 1 : 0,
    unhealthyPodEvictionPolicy: "AlwaysAllow", // an instance that does not serve must not block a drain
    selector: { matchLabels: instanceSelector(db) },
  };
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: owned(db, namesOf(db).disruptionBudget), spec };
}
