// Hands the primary's part over, by Patroni's own way: the order is an object, so it needs no connection to an instance.
import { keyOf } from "../../runtime/kube/object.ts";
import { configMaps } from "../kinds.ts";
import type { Instance } from "./instance.ts";
import type { Scope } from "./scope.ts";

/** Patroni takes the order away when it is carried out. Ordering the same again changes nothing. */
export async function switchover({ db, observed: { failover }, client, deps }: Scope, from: Instance, to: Instance): Promise<void> {
  if (!failover) return; // it is made in the same run; the next one finds it
  const ordered = failover.metadata.annotations;
  if (ordered?.["leader"] === from.podName && ordered["member"] === to.podName) return;
  await client.mergePatch(configMaps, keyOf(failover), { metadata: { annotations: { leader: from.podName, member: to.podName } } });
  deps.events.record(db, {
    type: "Normal",
    reason: "SwitchoverOrdered",
    action: "Switchover",
    note: `from ${from.podName} to ${to.podName}`,
  });
}
