// The condition Expiring of a Backup: what retention has decided about it. It is stored, so a restart of the operator changes nothing.
import { type Condition, conditionTypes } from "../../../api/conditions.ts";
import { reasons } from "../../../api/reasons.ts";
import { conditionsNow } from "../../../runtime/controller/conditions.ts";
import { type Backup, backups } from "../../kinds/sampledb-io.ts";
import { conditionOf } from "../../telling/events.ts";
import type { Scope } from "../scope.ts";
import { type Going, hasFailed } from "./beyond.ts";

export type MarkReason =
  | typeof reasons.retentionChanged
  | typeof reasons.beyondRetention
  | typeof reasons.artefactExpiring
  | typeof reasons.artefactExpired
  | typeof reasons.expiryFailed;

/** What a change would remove is told for so long before it goes. */
export const noticeSeconds = 3600;
/** A failed expiry is tried again after this. */
export const retrySeconds = 600;

export function markOf({ status }: Backup): Condition | undefined {
  return conditionOf(status, conditionTypes.expiring);
}

/**
 * In how many seconds a chain with this mark may go: 0 for now. Undefined: when another Backup has succeeded.
 * After a change of rules a chain waits for two things: an hour since the stored mark, and a Backup that succeeded after the mark.
 */
export function secondsUntilDue(mark: Condition, siblings: readonly Backup[], now: Date): number | undefined {
  const since = Date.parse(mark.lastTransitionTime);
  const left = (seconds: number) => Math.max(0, seconds - (now.getTime() - since) / 1000);
  if (mark.reason === reasons.expiryFailed) return left(retrySeconds);
  if (mark.reason !== reasons.retentionChanged) return 0;
  const succeededSince = siblings.some(
    ({ status }) => conditionOf(status, conditionTypes.succeeded)?.status === "True" && Date.parse(status?.completionTime ?? "") > since,
  );
  return succeededSince ? left(noticeSeconds) : undefined;
}

/** Why a chain goes, for people. */
export function whyGoing({ head }: Going, { spec }: NonNullable<Scope["db"]>): string {
  if (hasFailed(head)) return "it has failed, and a later Backup succeeded";
  const { fullBackupCount = 2, periodDays } = spec.backup?.retention ?? {};
  const count = `retention keeps the last ${fullBackupCount === 1 ? "full backup" : `${fullBackupCount} full backups`}`;
  return periodDays === undefined ? count : `${count}, and what ${periodDays} days need`;
}

/** Writes the mark, onto the version that the cache has. */
export async function mark({ objects, deps }: Scope, backup: Backup, reason: MarkReason, message: string): Promise<void> {
  const status = reason === reasons.expiryFailed ? "False" : "True";
  const others = withoutMark(backup);
  const now = { type: conditionTypes.expiring, status, reason, message } as const;
  const marked = conditionsNow(backup.status?.conditions, [now], backup.metadata.generation, deps.now);
  await objects.applyStatus(backups, backup, { ...backup.status, conditions: [...others, ...marked] });
}

export async function unmark({ objects }: Scope, backup: Backup): Promise<void> {
  if (markOf(backup)) await objects.applyStatus(backups, backup, { ...backup.status, conditions: withoutMark(backup) });
}

function withoutMark({ status }: Backup): Condition[] {
  return (status?.conditions ?? []).filter(({ type }) => type !== conditionTypes.expiring);
}
