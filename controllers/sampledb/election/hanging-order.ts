// Takes an order to hand over back that nobody carries out.
//
// Where the primary is lost before it could hand over, Patroni waits for the named candidate. Where that one may not lead, nobody is elected.
// An order that was carried out leaves a note of its candidate, which goes here when it is of no use any more.
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import type { SampleDBStep } from "../scope.ts";

/**
 * Handing over takes some seconds. A primary that stops for longer, as with much to write at its end, hands over to an elected instance.
 * Counted from the order, because a lost node looks well for most of a minute.
 */
const patienceSeconds = 30;

export const hangingOrder: SampleDBStep = async ({ db, observed, client, deps }) => {
  const { order } = observed.patroni;
  if (!order || order.isScheduled || (!order.isOpen && order.named === undefined)) {
    deps.patience.end(order?.uid ?? "");
    return done;
  }
  const isCarriedOut = !order.isOpen && observed.primary?.takesWrites === true;
  const left = patienceSeconds - deps.patience.seconds(order.uid);
  if (!isCarriedOut && left > 0) return doneUntil(left);
  await order.takeBack(client);
  deps.patience.end(order.uid);
  if (!order.isOpen) return done;
  const note = `from ${order.from ?? "the primary"} to ${order.to ?? "an elected instance"}: not carried out for ${patienceSeconds} s`;
  deps.events.record(db, { type: "Warning", reason: reasons.switchoverTakenBack, action: "Switchover", note });
  return done;
};
