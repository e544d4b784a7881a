// The metrics of a SampleDB's backups, read at the scrape from the cache. Series grow with SampleDBs and types, and never with Backups.
import { nextRun } from "../../../api/checks/schedule.ts";
import { BoundedMap } from "../../../runtime/bounded-map.ts";
import type { Cache } from "../../../runtime/cache/cache.ts";
import type { Metrics } from "../../../runtime/observability/metrics.ts";
import type { Family } from "../../../runtime/observability/observed-metrics.ts";
import { backupsOf, isGood } from "../../database/backups.ts";
import { hasEnded } from "../../database/ended.ts";
import { type Backup, type SampleDB, sampledbs } from "../../kinds/sampledb-io.ts";

/** A SampleDB with `spec.backup`, and its own Backups in the order of their creation. */
export interface BackedUp {
  readonly db: SampleDB;
  readonly backups: readonly Backup[];
}

export interface OfType extends BackedUp {
  readonly type: Backup["spec"]["type"];
  /** The last good one. */
  readonly last: Backup | undefined;
}

export interface InState extends BackedUp {
  readonly type: Backup["spec"]["type"];
  readonly state: "succeeded" | "failed" | "open";
  readonly count: number;
}

export const backupFamilies: readonly Family<BackedUp>[] = [
  gauge<BackedUp>("sampledb_backup_next_timestamp_seconds", "The next slot of the schedules", ({ db }) =>
    least((db.status?.schedules ?? []).flatMap(({ nextScheduleTime }) => seconds(nextScheduleTime) ?? [])),
  ),
  gauge<BackedUp>(
    "sampledb_backup_due_timestamp_seconds",
    "When the last good Backup is too old: the second slot of the schedules after it",
    dueTime,
  ),
  gauge<BackedUp>("sampledb_backup_failures", "Backups that have failed since the last good one", failures),
];

export const typeFamilies: readonly Family<OfType>[] = [
  gauge<OfType>("sampledb_backup_last_success_timestamp_seconds", "When the last good Backup of the type ended", ({ last }) =>
    seconds(last?.status?.completionTime),
  ),
  gauge<OfType>("sampledb_backup_last_duration_seconds", "How long it took", ({ last }) => last?.status?.durationSeconds),
  gauge<OfType>("sampledb_backup_last_size_bytes", "What it takes in the repository", ({ last }) => last?.status?.repositoryBytes),
];

export const stateFamilies: readonly Family<InState>[] = [
  gauge<InState>("sampledb_backups", "Backups that there are, by type and state", ({ count }) => count),
];

function gauge<T>(name: string, help: string, read: Family<T>["read"]): Family<T> {
  return { type: "gauge", name, help, read };
}

function seconds(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time) / 1000;
}

function least(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.min(...values);
}

/** The end of the last good one; where there is none, when the first of the others was made. */
function sinceWhen(backups: readonly Backup[]): string | undefined {
  const ends = backups.filter(isGood).flatMap(({ status }) => status?.completionTime ?? []);
  return ends.sort().at(-1) ?? backups[0]?.metadata.creationTimestamp;
}

/** Computing slots takes longer than all the rest of a scrape, and changes with the last good Backup only. */
const known = new BoundedMap<number>(5_000);

/** One slot may fail: the next one mends it. Nobody expects backups of a hibernated database. */
function dueTime({ db, backups }: BackedUp): number | undefined {
  const schedules = db.spec.backup?.schedules?.filter(({ suspend }) => !suspend) ?? [];
  const since = sinceWhen(backups);
  if (schedules.length === 0 || since === undefined || db.spec.powerState === "Hibernated") return undefined;
  const place = `${since} ${schedules.map(({ schedule, timeZone }) => `${schedule} ${timeZone}`).join()}`;
  const found = known.get(place);
  if (found !== undefined) return found;
  const slots = schedules.flatMap(({ schedule, timeZone }) => {
    const first = nextRun(schedule, timeZone, new Date(since));
    const second = first && nextRun(schedule, timeZone, first);
    return [first, second].flatMap((slot) => (slot ? slot.getTime() / 1000 : []));
  });
  const due = [...new Set(slots)].sort((a, b) => a - b)[1];
  if (due !== undefined) known.set(place, due);
  return due;
}

function failures({ backups }: BackedUp): number {
  const lastGood = backups.findLastIndex(isGood);
  return backups.slice(lastGood + 1).filter((backup) => hasEnded(backup) && !isGood(backup)).length;
}

const types = ["Full", "Differential", "Incremental"] as const;

export function byType(backedUp: BackedUp): OfType[] {
  const good = backedUp.backups.filter(isGood);
  return types.map((type) => ({ ...backedUp, type, last: good.findLast(({ spec }) => spec.type === type) }));
}

/** Every state of every type, also with none in it: a count that is gone and a count of 0 are told apart by nobody. */
export function byState(backedUp: BackedUp): InState[] {
  const stateOf = (backup: Backup) => (isGood(backup) ? "succeeded" : hasEnded(backup) ? "failed" : "open");
  return types.flatMap((type) =>
    (["succeeded", "failed", "open"] as const).map((state) => ({
      ...{ ...backedUp, type, state },
      count: backedUp.backups.filter((backup) => backup.spec.type === type && stateOf(backup) === state).length,
    })),
  );
}

/** `leads` as for the metrics of SampleDBs. */
export function reportBackups(
  metrics: Pick<Metrics, "observe">,
  { cache, leads }: { readonly cache: Cache; readonly leads: () => boolean },
): void {
  const all = () => (leads() ? cache.watched(sampledbs).list() : []).flatMap((db) => (db.spec.backup ? ownBackups(db, cache) : []));
  const labels = ({ db }: BackedUp) => ({ namespace: db.metadata.namespace ?? "", name: db.metadata.name });
  metrics.observe<BackedUp>({ labelNames: ["namespace", "name"], labels, families: backupFamilies, things: all });
  metrics.observe<OfType>({
    labelNames: ["namespace", "name", "type"],
    labels: (one) => ({ ...labels(one), type: one.type }),
    families: typeFamilies,
    things: () => all().flatMap(byType),
  });
  metrics.observe<InState>({
    labelNames: ["namespace", "name", "type", "state"],
    labels: (one) => ({ ...labels(one), type: one.type, state: one.state }),
    families: stateFamilies,
    things: () => all().flatMap(byState),
  });
}

/** Without those of an earlier SampleDB of the same name: they lie in another archive. */
function ownBackups(db: SampleDB, cache: Cache): BackedUp {
  const key = { namespace: db.metadata.namespace ?? "", name: db.metadata.name };
  const isOwn = ({ status }: Backup) => status?.repository === undefined || status.repository.stanza.startsWith(`${db.metadata.uid}-`);
  return { db, backups: backupsOf(cache, key).filter(isOwn) };
}
