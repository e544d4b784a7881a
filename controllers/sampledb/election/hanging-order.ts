// Takes back Patroni's order to hand over when no instance carries it out.
//
// If the primary is lost before it hands over, Patroni waits for the candidate that the order names. If that instance may not lead, Patroni
// elects none. An order that was carried out leaves a note of its candidate, which this step removes.
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import type { SampleDBStep } from "../scope.ts";

/**
 * A handover takes some seconds. If the primary takes longer to stop, as with much to write at its end, Patroni elects its successor.
 * The time counts from the order, not from the loss of the primary: a lost node looks healthy for most of a minute.
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
