// Events that follow from two statuses: the stored one and the one that is told now.
import type { Condition } from "../../api/conditions.ts";
import type { EventContent } from "../../runtime/controller/events.ts";
import type { Blocker } from "./blockers.ts";

export interface Told {
  readonly conditions?: readonly Condition[] | undefined;
  readonly blockers?: readonly Blocker[] | undefined;
}

export function conditionOf(status: Told | undefined, wanted: string): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === wanted);
}

/** One for each blocker that was not told before. */
export function newBlockers(before: Told | undefined, { blockers = [] }: Told): EventContent[] {
  const known = new Set(before?.blockers?.map(({ reason, message }) => `${reason} ${message}`));
  return blockers
    .filter(({ reason, message }) => !known.has(`${reason} ${message}`))
    .map(({ reason, message, remedy }) => ({ type: "Warning", reason, action: "Reconcile", note: `${message}. Way out: ${remedy}` }));
}
