// The operator as make deploy leaves it: whether it is whole, and who leads.
import { eventually } from "../../tools/eventually.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { isReady } from "../cluster/status.ts";

export const operatorNamespace = "sampledb-system";

const replicas = 2;

/** Resolves when there are two replicas and no other, each of them ready. The Kubectl is one for the operator's namespace. */
export async function operatorReady(system: Kubectl): Promise<void> {
  await eventually("both replicas of the operator are ready", 180_000, async () => {
    const pods = await system.list("pods");
    return pods.length === replicas && pods.every(isReady);
  });
}

/** The Pod that holds the lease, and its node. */
export async function leadingOperator(system: Kubectl): Promise<{ name: string; node: string }> {
  return await eventually("a replica of the operator leads", 60_000, async () => {
    const holder: string = (await system.get("lease", "sampledb-operator"))?.["spec"].holderIdentity ?? "";
    const pod = (await system.list("pods")).find(({ metadata }) => holder.startsWith(metadata.name));
    return pod && { name: pod["metadata"].name as string, node: pod["spec"].nodeName as string };
  });
}
