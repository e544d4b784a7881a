import { expect, test } from "vitest";
import { nextRun, schedule } from "./schedule.ts";

const faults = (value: { schedule: string; timeZone?: string }) =>
  [...schedule(value, "s")].map(({ field, message }) => `${field}: ${message}`);

test.each([
  "* * * * *",
  "0 3 * * *",
  "*/15 0-6,22-23 1,15 * mon-fri",
  "5/10 * ? JAN,dec Sun",
  "@daily",
  "@hourly",
  "@annually",
  "0 0 29 2 *",
  "0 0 30 2 1",
  " 0  3 * * *",
])("%s is a schedule", (text) => expect(faults({ schedule: text })).toEqual([]));

test.each([
  ["", "has 1 fields; it needs five"],
  ["0 3 * *", "has 4 fields; it needs five (minute hour day-of-month month weekday)"],
  ["0 0 3 * * *", "has 6 fields; it needs five"],
  ["60 * * * *", 'has "60" as minute; allowed are * and 0 to 59'],
  ["0 24 * * *", 'has "24" as hour; allowed are * and 0 to 23'],
  ["0 0 0 * *", 'has "0" as day of month; allowed are * and 1 to 31'],
  ["0 0 L * *", 'has "L" as day of month'],
  ["0 0 15W * *", 'has "15W" as day of month'],
  ["0 0 * 13 *", 'has "13" as month; allowed are * and 1 to 12 or jan to dec'],
  ["0 0 * * 5#2", 'has "5#2" as weekday'],
  ["0 0 * * 7", 'has "7" as weekday; allowed are * and 0 to 6 or sun to sat'],
  ["0 0 * * +1", 'has "+1" as weekday'],
  ["0 5-3 * * *", 'has "5-3" as hour'],
  ["*/0 * * * *", 'has "*/0" as minute'],
  ["1,,2 * * * *", 'has "" as minute'],
  ["TZ=UTC 0 3 * * *", "has a time zone in it; it belongs in the field timeZone"],
  ["CRON_TZ=UTC 0 3 * * *", "has a time zone in it"],
  ["@every 1h", "is not a macro; allowed are @yearly"],
  ["@reboot", "is not a macro"],
  ["0 0 30 2 *", "never comes: none of its months has such a day"],
  ["0 0 31 4,6,9,11 *", "never comes"],
])("%s is none: %s", (text, message) => {
  expect(faults({ schedule: text })).toEqual([expect.stringContaining(`s.schedule: ${JSON.stringify(text)} ${message}`)]);
});

test.each([
  "UTC",
  "Europe/Berlin",
  "Asia/Kolkata",
  "US/Pacific",
  "Etc/GMT+5",
  "America/Argentina/Buenos_Aires",
  "America/Port-au-Prince",
  "EST5EDT",
])("%s is a time zone", (zone) => expect(faults({ schedule: "@daily", timeZone: zone })).toEqual([]));

test.each([
  "Local",
  "local",
  "+01:00",
  "UTC+1",
  "GMT+1",
  "PST",
  "europe/berlin",
  "Europe/berlin",
  "Europe/Nowhere",
  "SystemV/AST4",
  "",
  "../etc/passwd",
])("%j is no time zone", (zone) => {
  expect(faults({ schedule: "@daily", timeZone: zone })).toEqual([
    `s.timeZone: ${JSON.stringify(zone)} is not a time zone; allowed are names of the IANA list such as Europe/Berlin or UTC, not Local and not offsets`,
  ]);
  expect(nextRun("@daily", zone, new Date(0))).toBeUndefined();
});

test.each([
  // Friday or the 13th
  ["0 0 13 * 5", "UTC", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"],
  ["0 0 13 * 5", "UTC", "2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z"],
  // A step is a list: odd days or Mondays
  ["0 0 */2 * 1", "UTC", "2026-01-11T00:00:00Z", "2026-01-12T00:00:00Z"],
  ["0 0 */2 * 1", "UTC", "2026-01-12T00:00:00Z", "2026-01-13T00:00:00Z"],
  // A star is not: Mondays only, the 5th only
  ["0 0 * * 1", "UTC", "2026-01-01T00:00:00Z", "2026-01-05T00:00:00Z"],
  ["0 0 ? * 1", "UTC", "2026-01-01T00:00:00Z", "2026-01-05T00:00:00Z"],
  ["0 0 5 * ?", "UTC", "2026-01-06T00:00:00Z", "2026-02-05T00:00:00Z"],
  // Macros, and steps without an end
  ["@weekly", "UTC", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"],
  ["@yearly", undefined, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"],
  ["50/5 * * * *", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:50:00Z"],
  ["0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"],
  // After a moment: never that moment
  ["0 3 * * *", "UTC", "2026-01-01T03:00:00Z", "2026-01-02T03:00:00Z"],
  ["0 3 * * *", "UTC", "2026-01-01T02:59:59.999Z", "2026-01-01T03:00:00Z"],
  ["0 3 * * *", "Europe/Berlin", "2026-01-01T00:00:00Z", "2026-01-01T02:00:00Z"],
  // 02:30 is not there on 29 March: when the clock has been put forward, then as always
  ["30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"],
  ["30 2 * * *", "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"],
  ["15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", "2026-10-03T15:30:00Z"],
  // 02:30 is there twice on 25 October: the first one only
  ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"],
  ["30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
  // Every hour is every hour
  ["0 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"],
  ["0 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"],
])("%s in %s after %s comes %s", (text, zone, after, next) => {
  expect(nextRun(text, zone, new Date(after))).toEqual(new Date(next));
});

test("what is no schedule never comes", () => {
  expect(nextRun("0 0 30 2 *", "UTC", new Date(0))).toBeUndefined();
  expect(nextRun("nonsense", "UTC", new Date(0))).toBeUndefined();
});
