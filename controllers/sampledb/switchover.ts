// Hands the primary's part over, by Patroni's own way: the order is an object, so it needs no connection to an instance.
import { keyOf } from "../../runtime/kube/object.ts";
import { configMaps } from "../kinds.ts";
import type { Instance } from "./instance.ts";
import type { Scope } from "./scope.ts";

export async function switchover(
  { db, observed: { failover }, client, deps, findings }: Scope,
  from: Instance,
  to: Instance,
): Promise<void> {
  // One order at a time: Patroni takes it away when it is carried out, or when it can't be.
  if (!failover || findings.switchoverOrdered || failover.metadata.annotations?.["member"] !== undefined) return;
  findings.switchoverOrdered = true;
  await client.mergePatch(configMaps, keyOf(failover), { metadata: { annotations: { leader: from.podName, member: to.podName } } });
  deps.events.record(db, {
    type: "Normal",
    reason: "SwitchoverOrdered",
    action: "Switchover",
    note: `from ${from.podName} to ${to.podName}`,
  });
}
