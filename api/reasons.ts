// Every reason that the operator gives, in conditions, blockers and Events: once, closed, and described. docs/reasons.md is made from it.
import { archiveReasons } from "./reasons/archive.ts";
import { backupReasons } from "./reasons/backup.ts";
import { blockerReasons } from "./reasons/blockers.ts";
import { conditionReasons } from "./reasons/conditions.ts";
import type { ConditionType, Place } from "./reasons/description.ts";
import { eventReasons } from "./reasons/events.ts";
import { passedOnReasons } from "./reasons/passed-on.ts";
import { restoreReasons } from "./reasons/restore.ts";
import { scheduleReasons } from "./reasons/schedules.ts";

export const describedReasons = {
  ...conditionReasons,
  ...blockerReasons,
  ...archiveReasons,
  ...backupReasons,
  ...restoreReasons,
  ...scheduleReasons,
  ...passedOnReasons,
  ...eventReasons,
} as const;

type Described = typeof describedReasons;

/** The names by which code gives a reason. */
export const reasons = Object.fromEntries(Object.entries(describedReasons).map(([key, { name }]) => [key, name])) as {
  readonly [Key in keyof Described]: Described[Key]["name"];
};

type NamesAt<Where extends Place> = {
  [Key in keyof Described]: Extract<Described[Key]["where"][number], Where> extends never ? never : Described[Key]["name"];
}[keyof Described];

export type ConditionReason = NamesAt<ConditionType>;

/** What Kubernetes says of a Pod that does not start: also a word that is not described here. */
export type PassedOnReason = string & { readonly [passedOnMark]: true };
declare const passedOnMark: unique symbol;

export type BlockerReason = NamesAt<"blocker"> | PassedOnReason;

/** A blocker that is new is told as an Event too. */
export type EventReason = NamesAt<"event"> | BlockerReason;

/** For a reason that comes from Kubernetes or from a status, and never for one that the operator chooses: those are listed. */
export function passedOn(reason: string): PassedOnReason {
  return reason as PassedOnReason;
}
