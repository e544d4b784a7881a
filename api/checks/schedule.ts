// When backups are due: schedules that a CronJob would take, and the next time of one.
import { Cron } from "croner";
import { parseCron } from "./cron.ts";
import { isTimeZone, timeZone } from "./time-zone.ts";
import { type Check, shown } from "./violation.ts";

interface Schedule {
  readonly schedule: string;
  readonly timeZone?: string | undefined;
}

export const cronExpression: Check<string> = function* (expression, field) {
  const { fault } = parseCron(expression);
  if (fault !== undefined) yield { field, message: `${shown(expression)} ${fault}` };
};

export const schedule: Check<Schedule> = function* (value, field) {
  yield* cronExpression(value.schedule, `${field}.schedule`);
  if (value.timeZone !== undefined) yield* timeZone(value.timeZone, `${field}.timeZone`);
};

/** The times of a schedule in one text: the same text means the same times. */
export function expressionOf({ schedule: expression, timeZone: zone = "UTC" }: Schedule): string {
  return `${expression} ${zone}`;
}

/**
 * The first time of the schedule after that moment; undefined when the expression or the zone is none.
 * Day of month and weekday together mean either. Where the clock is put forward over a daily time, that day's run comes
 * when the clock has been put forward, in place of not at all; where it is put back, it comes once.
 */
export function nextRun(expression: string, zone: string | undefined, after: Date): Date | undefined {
  const { pattern } = parseCron(expression);
  const timezone = zone ?? "UTC";
  if (pattern === undefined || !isTimeZone(timezone)) return undefined;
  return new Cron(pattern, { mode: "5-part", domAndDow: false, timezone, paused: true }).nextRun(after) ?? undefined;
}
