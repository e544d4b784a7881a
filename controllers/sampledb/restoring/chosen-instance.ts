// The instance whose volume a restore in place overwrites. Pure: a replica's where there is one, so that the former primary's stays as it is
// until the restored data is proven.
import { lastPrimary } from "../../database/view.ts";
import { ordinalOf, podName } from "../../desired/names.ts";
import type { PersistentVolumeClaim } from "../../kinds/kubernetes.ts";
import type { Scope } from "../scope.ts";

/** The scheduler writes it on a claim that waits for its first Pod: many volumes can be used on that node alone. */
const selectedNode = "volume.kubernetes.io/selected-node";

export interface Chosen {
  readonly podName: string;
  readonly formerPrimaryPodName: string;
}

/** Undefined while there is no volume at all. */
export function chooseInstance({ db, observed }: Pick<Scope, "db" | "observed">): Chosen | undefined {
  const last = lastPrimary(db, observed) ?? 0;
  const ordinals = (claim: PersistentVolumeClaim) => ordinalOf(claim.metadata.name);
  const usable = [...observed.claims.values()].filter(
    (claim) => claim.spec?.volumeName && !claim.metadata.deletionTimestamp && ordinals(claim) < db.spec.replicas,
  );
  const replicas = usable.filter((claim) => ordinals(claim) !== last).sort((a, b) => ordinals(a) - ordinals(b));
  // The Job needs both volumes at once: this one, and the repository's where that is a volume.
  const beside = replicas.find(({ metadata }) => metadata.annotations?.[selectedNode] === observed.repository.pod?.spec?.nodeName);
  const chosen = beside ?? replicas[0] ?? usable.find((claim) => ordinals(claim) === last);
  return chosen && { podName: podName(db, ordinals(chosen)), formerPrimaryPodName: podName(db, last) };
}
