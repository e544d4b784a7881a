// Events that follow from two statuses: the stored one and the one that is told now.
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

/** One for each blocker that was not told before. */
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
