// Schedules and retention together: schedules that hide each other, and more Backups than anybody can keep.
import type { SampleDBSpec } from "../sampledb.ts";
import { parseCron, runsPerDay } from "./cron.ts";
import { expressionOf, schedule } from "./schedule.ts";
import { allOf, type Check, each, shown, within } from "./violation.ts";

type Backup = NonNullable<SampleDBSpec["backup"]>;
type Schedule = NonNullable<Backup["schedules"]>[number];

/** Backup objects of one SampleDB. Beyond it the lists of all clients get slow, and nobody finds anything in them. */
const mostBackups = 10_000;
/** What can be restored must reach back longer than it takes to notice a mistake. */
const shortestWindowHours = 1;

/** Two schedules with the same times: of one minute only the fullest backup is made, so one of the two would never make any. */
const collisions: Check<readonly Schedule[]> = function* (schedules, field) {
  const seen = new Map<string, string>();
  for (const [index, one] of schedules.entries()) {
    const { pattern } = parseCron(one.schedule);
    if (one.suspend || pattern === undefined) continue;
    const times = expressionOf({ schedule: pattern, timeZone: one.timeZone });
    const other = seen.get(times);
    if (other === undefined) seen.set(times, one.name);
    else
      yield {
        field: `${field}[${index}].schedule`,
        message: `${shown(one.schedule)} comes at the same times as schedule ${shown(other)}, and of one minute only the fullest backup is made; change the times of one of them, or suspend or remove it`,
      };
  }
};

/** How often all of these come in a day; those that are suspended or wrong never do. */
function perDay(schedules: readonly Schedule[]): number {
  const patterns = schedules.flatMap((one) => (one.suspend ? [] : (parseCron(one.schedule).pattern ?? [])));
  return patterns.reduce((sum, pattern) => sum + runsPerDay(pattern), 0);
}

/** Retention removes a full backup with all that build on it: how long it keeps them follows from how often full ones are made. */
const kept: Check<Backup> = function* ({ schedules = [], retention }, field) {
  const all = perDay(schedules);
  if (all === 0) return;
  const { fullBackupCount, periodDays = 0 } = retention;
  const fulls = schedules.filter(({ type }) => type === "Full");
  if (fulls.length === 0) {
    yield {
      field: `${field}.schedules`,
      message:
        "none of them makes full backups, so every backup builds on the same one, and retention can never remove any; add a schedule with type Full, as once a week",
    };
    return;
  }
  const fullsPerDay = perDay(fulls);
  if (fullsPerDay === 0) return; // suspended for now
  const days = Math.max(fullBackupCount / fullsPerDay, periodDays);
  if (days * 24 < shortestWindowHours) {
    yield {
      field: `${field}.retention.fullBackupCount`,
      message: `the schedules make ${rounded(fullsPerDay)} full backups a day, and ${fullBackupCount} of them are kept: nothing older than ${rounded(days * 24 * 60)} minutes could be restored; keep more of them, set periodDays, or make them less often (Differential and Incremental cost less)`,
    };
  }
  // The oldest full backup stays until its successor is beyond the limit.
  const held = all * (days + 1 / fullsPerDay);
  if (held > mostBackups) {
    yield {
      field: `${field}.schedules`,
      message: `they make ${rounded(all)} Backups a day, and retention keeps them for ${rounded(days)} days, some ${rounded(held)} Backups; at most ${mostBackups}: make them less often, or keep them for a shorter time`,
    };
  }
};

function rounded(value: number): string {
  return value >= 10 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}

export const backupPolicy: Check<Backup> = allOf(within<Backup, "schedules">("schedules", allOf(each(schedule), collisions)), kept);
