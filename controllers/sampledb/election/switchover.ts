// Hands the primary's part over, by Patroni's own way: the order is an object, so it needs no connection to an instance.
import { namedAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import type { Instance } from "../../database/instance.ts";
import { configMaps } from "../../kinds/kubernetes.ts";
import type { Scope } from "../scope.ts";

export async function switchover(
  { db, observed: { failover }, client, deps, findings }: Scope,
  from: Instance,
  to: Instance,
): Promise<void> {
  // One order at a time: Patroni takes it away when it is carried out, or when it can't be.
  if (!failover || findings.switchoverOrdered || failover.metadata.annotations?.["member"] !== undefined) return;
  findings.switchoverOrdered = true;
  const annotations = { leader: from.podName, member: to.podName, [namedAnnotation]: to.podName };
  await client.mergePatch(configMaps, keyOf(failover), { metadata: { annotations } });
  deps.events.record(db, {
    type: "Normal",
    reason: reasons.switchoverOrdered,
    action: "Switchover",
    note: `from ${from.podName} to ${to.podName}`,
  });
}
