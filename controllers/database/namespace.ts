// The namespace of a database, and the objects beside it that only a cluster-wide operator may read.
import type { KubeClient } from "../../runtime/kube/client.ts";
import { Forbidden } from "../../runtime/kube/errors.ts";
import { namespaces } from "../kinds/kubernetes.ts";

/** Nothing can be made in a namespace that is going. */
export async function namespaceGoes(client: KubeClient, name: string): Promise<boolean> {
  const namespace = await client.find(namespaces, { namespace: "", name }).catch(unknownWithoutRights);
  return namespace?.metadata.deletionTimestamp !== undefined;
}

/** An operator that is limited to some namespaces has no right to cluster-wide objects. */
export function unknownWithoutRights(error: unknown): undefined {
  if (!(error instanceof Forbidden)) throw error;
}
