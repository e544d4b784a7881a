// The operator as make deploy leaves it: whether it is whole, and who leads.
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { isReady } from "../cluster/status.ts";

export const operatorNamespace = "sampledb-system";

const replicas = 2;
const leaseMilliseconds = 15_000;

/** Resolves when there are two replicas and no other, each of them ready. The Kubectl is one for the operator's namespace. */
export async function operatorReady(system: Kubectl): Promise<void> {
  await eventually("both replicas of the operator are ready", 180_000, async () => {
    const pods = await system.list("pods");
    return pods.length === replicas && pods.every(isReady);
  });
}

/** As the replicas themselves say it: of a node that was lost the API server tells for up to 50 s what was so before. */
export async function operatorAnswers(system: Kubectl): Promise<void> {
  await operatorReady(system);
  await eventuallySucceeds("both replicas of the operator answer", 120_000, async () => {
    for (const { metadata } of await system.list("pods")) {
      await system.run("get", "--raw", `/api/v1/namespaces/${operatorNamespace}/pods/${metadata.name}:8081/proxy/readyz`);
    }
  });
  await operatorReady(system);
}

/** The Pod that holds the lease, and its node. A lease that is not renewed any more is held by nobody who works. */
export async function leadingOperator(system: Kubectl): Promise<{ name: string; node: string }> {
  return await eventually("a replica of the operator leads", 120_000, async () => {
    const { holderIdentity = "", renewTime = 0 } = (await system.get("lease", "sampledb-operator"))?.["spec"] ?? {};
    const isFresh = Date.now() - Date.parse(renewTime) < leaseMilliseconds;
    const pod = (await system.list("pods")).find(({ metadata }) => (holderIdentity as string).startsWith(metadata.name));
    return isFresh && pod !== undefined && isReady(pod) && { name: pod["metadata"].name as string, node: pod["spec"].nodeName as string };
  });
}
