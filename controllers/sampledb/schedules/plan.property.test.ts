// Whatever the schedule, the zone, the outages and the clock: no slot is made twice, at most one is made up for, and none is lost.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { nextRun } from "../../../api/checks/schedule.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import { planOf, type ScheduleState } from "./plan.ts";
import type { Schedule } from "./slots.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

const schedule = fc
  .record({
    schedule: fc.constantFrom(
      "* * * * *",
      "*/15 * * * *",
      "30 2 * * *",
      "0 * * * *",
      "0 3 * * 0",
      "15 1,2,3 * * *",
      "0 0 13 * 5",
      "@monthly",
    ),
    timeZone: fc.constantFrom(undefined, "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kolkata"),
    startingDeadlineSeconds: fc.constantFrom(1, 60, 3600, 604_800),
  })
  .map(({ timeZone, ...rest }): Schedule => {
    const one = { name: "s", ...rest, ...(timeZone ? { timeZone } : {}) };
    return sampleDB({ backup: { schedules: [one] } }).spec.backup?.schedules?.[0] as Schedule;
  });

/** Around the days on which clocks are put forward or back, and others. */
const begin = fc
  .constantFrom("2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z", "2026-10-03T00:00:00Z", "2026-07-01T00:00:30Z")
  .map(Date.parse);
/** How long it is until the next look: at the very moment, seconds, an outage of hours or of a week. */
const pause = fc.oneof(
  fc.constant("wake" as const),
  fc.integer({ min: 0, max: 90_000 }),
  fc.integer({ min: 0, max: 6 * 60 }).map((minutes) => minutes * minute),
  fc.constant(7 * day),
);

function look(asked: Schedule, told: readonly ScheduleState[], now: number) {
  const plan = planOf({ schedules: [asked], told, now: new Date(now), hibernated: false, open: () => undefined });
  return { ...plan, slot: plan.make?.slot.getTime() };
}

/** The last slot after `from` and up to `to`, found by going through them. A short time first: a minute's schedule has many of them. */
function newestSlot({ schedule: expression, timeZone }: Schedule, from: number, to: number): number | undefined {
  for (const length of [2 * minute, 120 * minute, 2 * day, 40 * day]) {
    const since = Math.max(from, to - length);
    let newest: number | undefined;
    let next = nextRun(expression, timeZone, new Date(since))?.getTime();
    while (next !== undefined && next <= to) {
      newest = next;
      next = nextRun(expression, timeZone, new Date(next))?.getTime();
    }
    if (newest !== undefined || since === from) return newest;
  }
  return undefined;
}

test("with a clock that goes forward, each look makes the last slot since the one before, if it is within the deadline", () => {
  fc.assert(
    fc.property(schedule, begin, fc.array(pause, { maxLength: 12 }), (asked, start, pauses) => {
      let now = start;
      let { states, wake } = look(asked, [], now);
      let last = Number.NEGATIVE_INFINITY;
      for (const length of pauses) {
        const before = now;
        now = length === "wake" ? (wake?.getTime() ?? now) : now + length;
        const result = look(asked, states, now);
        const newest = newestSlot(asked, before, now);
        const isInTime = newest !== undefined && now - newest <= asked.startingDeadlineSeconds * 1000;
        expect(result.slot).toBe(isInTime ? newest : undefined);
        if (result.slot !== undefined) expect(result.slot).toBeGreaterThan(last);
        last = result.slot ?? last;
        expect(look(asked, result.states, now).make).toBeUndefined(); // at the same moment nothing more is due
        ({ states, wake } = result);
      }
    }),
    { numRuns: 150 },
  );
});

test("with a clock that is wrong by up to half a day, forward and back, no slot is made twice, and the next one is always ahead", () => {
  const step = fc.record({ passed: fc.integer({ min: 0, max: 2 * day }), wrongBy: fc.integer({ min: -day / 2, max: day / 2 }) });
  fc.assert(
    fc.property(schedule, begin, fc.array(step, { maxLength: 12 }), (asked, start, steps) => {
      let time = start;
      let { states } = look(asked, [], time);
      const made = new Set<number>();
      for (const { passed, wrongBy } of steps) {
        time += passed;
        const result = look(asked, states, time + wrongBy);
        if (result.slot !== undefined) {
          expect(made).not.toContain(result.slot);
          made.add(result.slot);
        }
        expect(result.wake?.getTime()).toBeGreaterThan(time + wrongBy);
        ({ states } = result);
      }
    }),
    { numRuns: 150 },
  );
});

test("after a clock that was years ahead, the slots of the present come", () => {
  fc.assert(
    fc.property(schedule, begin, (asked, start) => {
      const { states: ahead } = look(asked, [], start + 5 * 365 * day);
      const { states: wrong } = look(asked, ahead, Date.parse(ahead[0]?.nextScheduleTime ?? ""));
      const { states, wake } = look(asked, wrong, start);
      expect(wake).toEqual(nextRun(asked.schedule, asked.timeZone, new Date(start)));
      expect(look(asked, states, wake?.getTime() ?? 0).slot).toBe(wake?.getTime());
    }),
    { numRuns: 50 },
  );
});
