// Which Backups go by `spec.backup.retention`. Pure functions of the policy and the Backups: docs/designs/0010-retention.md.
import { isFull, isGood } from "../../database/backups.ts";
import { type Archived, isInRepositoryOf, uidIn } from "../../desired/store.ts";
import type { Backup, SampleDB } from "../../kinds/sampledb-io.ts";

export type Policy = NonNullable<SampleDB["spec"]["backup"]>["retention"];

/** A full backup with all that build on it, or a backup that failed: goes as one, or stays. */
export interface Chain {
  readonly head: Backup;
  /** Those that build on it. */
  readonly dependents: readonly Backup[];
}

export interface Going extends Chain {
  /** The newest good backup alone is the cause, under the policy that its like were made with. Otherwise somebody changed something. */
  readonly byNewBackup: boolean;
}

const dayMs = 24 * 3600 * 1000;

/**
 * The chains that go. `uid` is the SampleDB's: Backups of an earlier SampleDB of the name are none of its own.
 *
 * Guarantees: the newest good backup stays, whatever the policy. Nothing goes that a Backup with the policy Retain builds on. While no
 * backup succeeds nothing becomes too old, because ages are measured at the end of the newest good one.
 */
export function goingOf(policy: Policy, uid: string, backups: readonly Backup[]): Going[] {
  const own = backups.filter((backup) => uidIn(backup.status?.repository?.stanza ?? "") === uid || hasNothing(backup));
  const chains = Map.groupBy(own, chainName);
  const good = own.filter(isGood).toSorted(byEnd);
  const former = good.slice(-2).map((backup) => new Set(headsThatGo(policyIn(backup), chains, good)));
  const withoutNewest = new Set(headsThatGo(policy, chains, good.slice(0, -1)));
  return headsThatGo(policy, chains, good).map((head) => ({
    head,
    dependents: (chains.get(chainName(head)) ?? []).filter((backup) => backup !== head),
    byNewBackup: former.every((going) => going.has(head)) && !withoutNewest.has(head),
  }));
}

/** The same, by the SampleDB's own policy. The operator reaches nothing in a repository that it had before: that stays. */
export function goingFrom(db: Archived, backups: readonly Backup[]): Going[] {
  const reached = backups.filter(({ status }) => isInRepositoryOf(db, status?.repository));
  return goingOf(db.spec.backup.retention, db.metadata.uid ?? "", reached);
}

/** The oldest first. `good`: those that count, in the order of their end. An undefined policy keeps everything. */
function headsThatGo(policy: Policy | undefined, chains: ReadonlyMap<string, readonly Backup[]>, good: readonly Backup[]): Backup[] {
  const last = good.at(-1);
  if (!policy || !last) return [];
  const mayGo = (backup: Backup) => chains.get(chainName(backup))?.every(isRemovable) ?? false;
  const fulls = good.filter((backup) => isFull(backup) && mayGo(backup)).toReversed();
  const kept = new Set([...fulls.slice(0, policy.fullBackupCount), ...withinPeriod(policy, fulls, endOf(last))]);
  const failed = [...chains.values()].flat().filter((backup) => hasFailed(backup) && isRemovable(backup) && byEnd(backup, last) < 0);
  const going = fulls.filter((full) => !kept.has(full) && chainName(full) !== chainName(last));
  return [...going.toReversed(), ...failed];
}

/** The same for a full backup and all that build on it: their labels begin with its label. A failed one is alone. */
function chainName({ metadata, status }: Backup): string {
  const { label, repository } = status ?? {};
  return label === undefined ? `alone ${metadata.uid}` : `${repository?.stanza} ${label.split("_")[0]}`;
}

/** From the newest to the first that is as old as the period: with its log, every moment of the period can be restored. */
function withinPeriod({ periodDays }: Policy, newestFirst: readonly Backup[], end: number): readonly Backup[] {
  if (periodDays === undefined) return [];
  const begin = end - periodDays * dayMs;
  const covering = newestFirst.findIndex(({ status }) => Date.parse(status?.consistentTime ?? "") <= begin);
  return covering < 0 ? newestFirst : newestFirst.slice(0, covering + 1);
}

/** Whoever deletes a Backup deletes the artefact with it; `Retain` keeps both from retention. */
function isRemovable({ spec, metadata }: Backup): boolean {
  return spec.deletionPolicy === "Delete" && metadata.deletionTimestamp === undefined;
}

export function hasFailed({ status }: Backup): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Succeeded" && is === "False") ?? false;
}

/** It failed before its Job was made. */
export function hasNothing(backup: Backup): boolean {
  return hasFailed(backup) && backup.status?.startTime === undefined;
}

/** By the time of their end; within a second by label, and then by name. */
function byEnd(a: Backup, b: Backup): number {
  const order = endOf(a) - endOf(b) || (a.status?.label ?? "").localeCompare(b.status?.label ?? "");
  return order || a.metadata.name.localeCompare(b.metadata.name);
}

function endOf({ status }: Backup): number {
  return Date.parse(status?.completionTime ?? "") || 0;
}

/** The policy of the SampleDB when that backup began. It is input, like all that a status holds. */
function policyIn({ status }: Backup): Policy | undefined {
  const { backup } = (status?.sampleDBSpec ?? {}) as { backup?: { retention?: Partial<Policy> } };
  const { fullBackupCount, periodDays } = backup?.retention ?? {};
  if (typeof fullBackupCount !== "number") return undefined;
  return { fullBackupCount, ...(typeof periodDays === "number" ? { periodDays } : {}) };
}
