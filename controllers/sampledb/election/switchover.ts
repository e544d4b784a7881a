// Orders a primary to hand over, by Patroni's order in NAME-failover: that needs no connection to an instance.
import { reasons } from "../../../api/reasons.ts";
import type { Instance } from "../../database/instance.ts";
import type { Scope } from "../scope.ts";

export async function switchover({ db, observed, client, deps, findings }: Scope, from: Instance, to: Instance): Promise<void> {
  const { order } = observed.patroni;
  // One order at a time.
  if (!order || findings.switchoverOrdered || order.to !== undefined) return;
  findings.switchoverOrdered = true;
  await order.handOver(client, from.podName, to.podName);
  const note = `from ${from.podName} to ${to.podName}`;
  deps.events.record(db, { type: "Normal", reason: reasons.switchoverOrdered, action: "Switchover", note });
}
