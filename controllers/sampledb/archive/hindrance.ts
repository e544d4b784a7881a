// What keeps the repository's Pod from working, as Kubernetes tells it. A pure function of what was observed.
import { reasons } from "../../../api/reasons.ts";
import { lostNode, problemOf } from "../../database/instance.ts";
import type { RepositoryView } from "../../database/view.ts";
import type { PersistentVolumeClaim } from "../../kinds/kubernetes.ts";

export interface Hindrance {
  readonly message: string;
  readonly remedy: string;
  /** Kubernetes mends it by itself within a minute or so. It is told only where it lasts. */
  readonly mayPass: boolean;
}

export const describePod = "kubectl describe pod of the repository tells more; segments wait on the primary's volume meanwhile";

export function hindranceOf({ pod, claim, deployment }: RepositoryView): Hindrance | undefined {
  if (!pod) {
    // A quota or an admission rule refuses the Pod.
    const refused = deployment?.status?.conditions?.find(({ type, status }) => type === "ReplicaFailure" && status === "True");
    return refused && doesNotStart(refused.message || reasons.podRefused);
  }
  const problem = problemOf(pod);
  if (problem) return (claim && strandedBy(claim, problem.message)) ?? doesNotStart(problem.message || problem.reason);
  const lost = lostNode(pod);
  return lost && { message: `the repository's Pod is lost: ${lost.message}`, remedy: describePod, mayPass: true };
}

function doesNotStart(why: string): Hindrance {
  return { message: `the repository's Pod does not start: ${why}`, remedy: describePod, mayPass: false };
}

/** In the scheduler's words: the claim has no volume, and no storage class that makes one for it. */
const noVolume = /unbound immediate PersistentVolumeClaim|find available persistent volumes to bind/i;
/** In the scheduler's words: the volume can be used on some nodes only, and none of them can take the Pod. */
const volumeElsewhere = /volume(?:'s)? node affinity/i;
/** The scheduler's note of the node for which the volume was made. */
const madeFor = "volume.kubernetes.io/selected-node";

function strandedBy({ metadata: { name, annotations }, spec }: PersistentVolumeClaim, words: string): Hindrance | undefined {
  if (!spec?.volumeName && noVolume.test(words)) {
    const { storageClassName } = spec ?? {};
    const place = storageClassName === undefined ? "without a storage class" : `of storage class ${storageClassName}`;
    return {
      message: `the repository's Pod waits for its volume (claim ${name}, ${place}), and nobody makes it: ${words}`,
      remedy: `see that the class is there and makes volumes (kubectl get storageclass); for another spec.backup.repository.volume.storageClassName remove spec.backup, delete the claim ${name}, which is empty, and set spec.backup anew`,
      mayPass: false,
    };
  }
  if (!volumeElsewhere.test(words)) return undefined;
  const node = annotations?.[madeFor];
  const place = node === undefined ? "" : `, which was made for node ${node}`;
  return {
    message: `the repository's Pod waits for its volume (claim ${name}${place}), and can't use it on another node: ${words}`,
    remedy: `bring ${node === undefined ? "the volume's node" : `node ${node}`} back; if it is lost for good, begin a new archive (docs/backups.md)`,
    mayPass: false,
  };
}
