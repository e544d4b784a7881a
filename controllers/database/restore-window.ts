// What is wrong with a Restore's source and target by the Backups that are known. Pure functions, asked at admission and again by the
// controller before it makes anything. They refuse only what can't become right: the newest moment moves, so its end is the Job's to judge.
import { reasons } from "../../api/reasons.ts";
import type { RestoreSpec } from "../../api/restore.ts";
import { majors } from "../../api/sampledb.ts";
import { compareQuantities } from "../../kubernetes/quantity.ts";
import { majorIn } from "../desired/store.ts";
import type { Backup } from "../kinds/sampledb-io.ts";
import { isGood } from "./backups.ts";
import { hasEnded } from "./ended.ts";

export interface KnownBackups {
  /** The Backup that `source.backupName` names. */
  readonly backup: Backup | undefined;
  /** All Backups of the SampleDB that `source.sampleDBName` names, in the order of their creation. */
  readonly backups: readonly Backup[];
}

export interface Objection {
  readonly field: string;
  readonly reason: (typeof reasons)["sourceMissing" | "sourceNotReady" | "sourceBad" | "targetOutsideWindow" | "volumeTooSmall"];
  readonly message: string;
}

type Target = RestoreSpec["target"];

/** Clocks differ, and a Restore to the present moment is no mistake. */
const clockSkewMs = 60_000;
/** pgBackRest tells whole seconds: a target within the last one may be before the backup's end. */
const wholeSecondMs = 1000;

export function objectionTo(spec: RestoreSpec, known: KnownBackups, now: Date): Objection | undefined {
  return sourceObjection(spec, known) ?? targetObjection(spec, known, now);
}

export function sourceObjection({ source }: RestoreSpec, { backup, backups }: KnownBackups): Objection | undefined {
  const { backupName: name, sampleDBName, repository } = source;
  if (repository) return repositoryObjection(repository.stanza);
  if (name === undefined) {
    return backups.some(isGood)
      ? undefined
      : missing("spec.source.sampleDBName", `SampleDB ${sampleDBName} has no good Backup in this namespace`);
  }
  const field = "spec.source.backupName";
  if (!backup) return missing(field, `there is no Backup ${name} in this namespace`);
  if (!hasEnded(backup)) return { field, reason: reasons.sourceNotReady, message: `Backup ${name} is still being made` };
  return isGood(backup) ? undefined : { field, reason: reasons.sourceBad, message: `Backup ${name} has failed` };
}

export function targetObjection(spec: RestoreSpec, { backup, backups }: KnownBackups, now: Date): Objection | undefined {
  if (spec.source.repository) return isInFuture(spec.target, now);
  const good = backup ? [backup] : backups.filter(isGood);
  const together = inArchiveOf(chosenBackup(spec.target, good), good);
  return (
    isInFuture(spec.target, now) ??
    isBeforeTime(spec.target, good) ??
    isBeforePlace(spec.target, together) ??
    isBeforeTimeline(spec.target, together) ??
    isTooSmall(spec.destination, together)
  );
}

/**
 * The newest one that ended before the target; the newest of all where none did. It names the archive that is restored from: an archive may
 * have begun anew since the target.
 */
export function chosenBackup({ time }: Target, good: readonly Backup[]): Backup | undefined {
  const before = time === undefined ? [] : good.filter((backup) => (beginOf(backup) ?? Number.NaN) <= Date.parse(time));
  return before.toSorted((a, b) => (beginOf(a) ?? 0) - (beginOf(b) ?? 0)).at(-1) ?? good.at(-1);
}

function inArchiveOf(chosen: Backup | undefined, good: readonly Backup[]): Backup[] {
  return good.filter(({ status }) => status?.repository?.stanza === chosen?.status?.repository?.stanza);
}

function missing(field: string, message: string): Objection {
  return { field, reason: reasons.sourceMissing, message };
}

function repositoryObjection(stanza: string): Objection | undefined {
  const [field, major] = ["spec.source.repository.stanza", majorIn(stanza)];
  if (Number.isNaN(major)) return missing(field, `${stanza} is no archive of this operator: its name ends with major and generation`);
  if (!(majors as readonly number[]).includes(major))
    return {
      field,
      reason: reasons.sourceBad,
      message: `${stanza} is of PostgreSQL ${major}, and this operator runs ${majors.join(" and ")}`,
    };
  return undefined;
}

function outside(field: string, message: string): Objection {
  return { field: `spec.target.${field}`, reason: reasons.targetOutsideWindow, message };
}

function isInFuture({ time }: Target, now: Date): Objection | undefined {
  if (time === undefined || Date.parse(time) <= now.getTime() + clockSkewMs) return undefined;
  return outside("time", `${time} is in the future: it is ${told(now.getTime())} now. The end of the archive is target.type: Latest`);
}

function isBeforeTime({ time }: Target, good: readonly Backup[]): Objection | undefined {
  const first = least(good, beginOf);
  if (time === undefined || !first || Date.parse(time) >= first.value) return undefined;
  return outside(
    "time",
    `${time} can't be restored: from ${told(first.value)}, when Backup ${first.name} had ended, to the end of the archive can. An older backup is named by source.backupName or source.repository`,
  );
}

function isBeforePlace({ lsn }: Target, together: readonly Backup[]): Objection | undefined {
  const first = least(together, ({ status }) => (status?.stopLSN === undefined ? undefined : positionOf(status.stopLSN)));
  if (lsn === undefined || !first || positionOf(lsn) >= first.value) return undefined;
  const begin = together.find(({ metadata }) => metadata.name === first.name)?.status?.stopLSN;
  return outside("lsn", `${lsn} can't be restored: from ${begin}, where Backup ${first.name} ended, to the end of the archive can`);
}

/** A timeline goes on from those with smaller numbers. */
function isBeforeTimeline({ timeline }: Target, together: readonly Backup[]): Objection | undefined {
  const first = least(together, ({ status }) => status?.timeline);
  if (timeline === undefined || !first || timeline >= first.value) return undefined;
  return outside(
    "timeline",
    `timeline ${timeline} can't be restored: Backup ${first.name} is on timeline ${first.value}, which began later`,
  );
}

function isTooSmall({ overrides }: RestoreSpec["destination"], together: readonly Backup[]): Objection | undefined {
  const size = overrides?.storage?.size;
  const smallest = least(together, ({ status }) => status?.databaseBytes);
  if (size === undefined || !smallest || (compareQuantities(size, smallest.value) ?? 0) >= 0) return undefined;
  const message = `${size} is too small: the data in Backup ${smallest.name} has ${smallest.value} bytes, and needs room to grow`;
  return { field: "spec.destination.overrides.storage.size", reason: reasons.volumeTooSmall, message };
}

/** The first moment that a backup can be restored to. */
function beginOf({ status }: Backup): number | undefined {
  return status?.consistentTime === undefined ? undefined : Date.parse(status.consistentTime) + wholeSecondMs;
}

/** Places in the log have 64 bits. */
function positionOf(lsn: string): bigint {
  const [high = "0", low = "0"] = lsn.split("/");
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

/** Undefined where one of them does not tell: then nothing is proven. */
function least<Value extends number | bigint>(
  all: readonly Backup[],
  read: (backup: Backup) => Value | undefined,
): { readonly name: string; readonly value: Value } | undefined {
  const found = all.map((backup) => ({ name: backup.metadata.name, value: read(backup) }));
  const known = found.filter((each): each is { name: string; value: Value } => each.value !== undefined);
  if (known.length < all.length) return undefined;
  return known.reduce<{ name: string; value: Value } | undefined>((a, b) => (a && a.value <= b.value ? a : b), undefined);
}

function told(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
}
