// The slots of a schedule: the minutes at which a Backup is due.
import { expressionOf, nextRun } from "../../../api/checks/schedule.ts";
import type { SampleDBSpec } from "../../../api/sampledb.ts";
import { BoundedMap } from "../../../runtime/bounded-map.ts";

export type Schedule = NonNullable<NonNullable<SampleDBSpec["backup"]>["schedules"]>[number];

type Times = Pick<Schedule, "schedule" | "timeZone">;

/** The next slot of an expression is the same for every moment from `after` on and before `next`. Computing one takes 0.1 ms. */
const known = new BoundedMap<{ readonly after: number; readonly next: Date }>(5_000);

/** The first slot after that moment. */
export function nextSlot(times: Times, after: Date): Date | undefined {
  const expression = expressionOf(times);
  const found = known.get(expression);
  if (found && found.after <= after.getTime() && after < found.next) return found.next;
  const next = nextRun(times.schedule, times.timeZone, after);
  if (next) known.set(expression, { after: after.getTime(), next });
  return next;
}

/** Slots are whole minutes. */
const minute = 60_000;

/** The last slot that is not after `now`; undefined where there is none from `since` on. */
export function lastSlot(times: Times, since: Date, now: Date): Date | undefined {
  const next = (after: number) => nextRun(times.schedule, times.timeZone, new Date(after));
  const isPast = (slot: Date | undefined): slot is Date => slot !== undefined && slot <= now;
  let last = next(since.getTime() - 1);
  if (!isPast(last)) return undefined;
  // The later the moment, the later the slot after it. So halving finds the last one in a few looks, however many were missed.
  for (let end = now.getTime(); end - last.getTime() >= minute; ) {
    const middle = Math.floor((last.getTime() + end) / 2);
    const later = next(middle);
    if (isPast(later)) last = later;
    else end = middle; // there is none between the middle and now
  }
  return last;
}
