// Carries out the order to switch over, given by annotation.
import { switchoverAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import type { Instance } from "../../database/instance.ts";
import { switchover } from "../election/switchover.ts";
import type { SampleDBStep } from "../scope.ts";
import { settleOrder } from "./settle-order.ts";

const lookAgainSeconds = 10;

const canTakeOver = ({ ready, mayTakeOver }: Instance) => ready && mayTakeOver;

export const switchoverOrder: SampleDBStep = async (scope) => {
  const { db, observed, deps, findings } = scope;
  const wanted = db.metadata.annotations?.[switchoverAnnotation];
  if (wanted === undefined) return done;
  const { primary, instances } = observed;
  if (!primary) return doneUntil(lookAgainSeconds);
  if (wanted === primary.podName) {
    await settleOrder(scope, switchoverAnnotation, null);
    return done;
  }
  if (wanted !== "any" && !instances.some(({ podName }) => podName === wanted)) {
    const note = `there is no instance ${wanted} to switch over to; the order is dropped`;
    deps.events.record(db, { type: "Warning", reason: reasons.switchoverImpossible, action: "Switchover", note });
    await settleOrder(scope, switchoverAnnotation, null);
    return done;
  }
  const heir = instances.find(
    (instance) => instance !== primary && canTakeOver(instance) && (wanted === "any" || instance.podName === wanted),
  );
  if (!heir) {
    // During the switchover, the new primary no longer follows and does not lead yet. That is no blocker.
    const underWay = observed.patroni.order?.to === wanted;
    if (!underWay)
      findings.blockers.push({
        reason: reasons.switchoverWaits,
        message: wanted === "any" ? "no replica is ready to take over" : `${wanted} is not ready to take over`,
        remedy: `wait, or take the annotation ${switchoverAnnotation} off`,
      });
    return doneUntil(lookAgainSeconds);
  }
  // The chosen instance is noted first: after a crash, the next operator must not choose another.
  if (wanted === "any") await settleOrder(scope, switchoverAnnotation, heir.podName);
  await switchover(scope, primary, heir);
  return doneUntil(lookAgainSeconds);
};
