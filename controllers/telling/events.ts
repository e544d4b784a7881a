// Events that follow from the difference between the stored status and the next one.
import type { Condition } from "../../api/conditions.ts";
import { passedOn } from "../../api/reasons.ts";
import type { ToldBlocker } from "./blockers.ts";
import type { DescribedEvent } from "./described-events.ts";

export interface Told {
  readonly conditions?: readonly Condition[] | undefined;
  readonly blockers?: readonly ToldBlocker[] | undefined;
}

export function conditionOf(status: Told | undefined, wanted: string): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === wanted);
}

/** One Event for each blocker that the stored status does not have. */
export function newBlockers(before: Told | undefined, { blockers = [] }: Told): DescribedEvent[] {
  const known = new Set(before?.blockers?.map(({ reason, message }) => `${reason} ${message}`));
  return blockers
    .filter(({ reason, message }) => !known.has(`${reason} ${message}`))
    .map(({ reason, message, remedy }) => ({
      type: "Warning",
      reason: passedOn(reason),
      action: "Reconcile",
      note: `${message}. Way out: ${remedy}`,
    }));
}
