// Schedules and retention that make no sense together.
import { expect, test } from "vitest";
import { parseCron, runsPerDay } from "./cron.ts";
import { checkSampleDB } from "./sampledb.ts";
import { sampleDB, testViolations } from "./violation-table.ts";

const daily = { name: "daily", schedule: "0 3 * * *" };
const backup = (schedules: readonly object[], retention?: object) => ({ backup: { schedules, ...(retention ? { retention } : {}) } });
const at = "spec.backup.schedules";

testViolations({
  "schedules with the same times": [
    [backup([daily, { ...daily, name: "b", type: "Incremental" }]), `${at}[1].schedule`, 'comes at the same times as schedule "daily"'],
    [backup([daily, { ...daily, name: "b", schedule: "00 03 * jan-dec,* ?" }]), `${at}[1].schedule`, "change the times of one of them"],
  ],
  "without full backups": [
    [backup([{ ...daily, type: "Incremental" }]), at, "none of them makes full backups"],
    [backup([{ ...daily, type: "Differential" }]), at, "add a schedule with type Full"],
  ],
  "more than is kept": [
    [
      backup([{ ...daily, schedule: "* * * * *" }]),
      "spec.backup.retention.fullBackupCount",
      "make 1440 full backups a day, and 2 of them are kept: nothing older than 2 minutes could be restored",
    ],
    [
      backup([daily, { name: "often", schedule: "* * * * *", type: "Incremental" }], { fullBackupCount: 30 }),
      at,
      "they make 1441 Backups a day, and retention keeps them for 30 days, some 44671 Backups; at most 10000",
    ],
  ],
});

test.each<[string, object]>([
  [
    "a weekly full one and daily others at the same minute",
    backup([
      { ...daily, schedule: "0 3 * * 0" },
      { ...daily, name: "b", type: "Differential" },
    ]),
  ],
  ["the same times in two zones", backup([daily, { ...daily, name: "b", timeZone: "Europe/Berlin" }])],
  ["the same times, one suspended", backup([daily, { ...daily, name: "b", suspend: true }])],
  [
    "full ones that are suspended for now",
    backup([
      { ...daily, suspend: true },
      { ...daily, name: "b", type: "Incremental", schedule: "@hourly" },
    ]),
  ],
  ["often, with days", backup([{ ...daily, schedule: "*/10 * * * *" }], { periodDays: 7 })],
  ["daily ones for ten years", backup([daily], { periodDays: 3650 })],
])("%s are right", (_, fields) => expect(checkSampleDB(sampleDB(fields))).toEqual([]));

test.each([
  ["* * * * *", 1440],
  ["@hourly", 24],
  ["0 3,15 * * *", 2],
  ["0 3 * * 0", 1 / 7],
  ["0 3 1 * *", 1 / 31],
  ["0 3 * 1 *", 1 / 12],
  ["0 3 1 * 0", 1 - (30 / 31) * (6 / 7)],
])("%s comes %d times a day", (expression, expected) => expect(runsPerDay(parseCron(expression).pattern ?? "")).toBeCloseTo(expected, 10));
