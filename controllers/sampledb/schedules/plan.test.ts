// Given the schedules, what the status says of them, and the clock: this Backup is made, and this is told.
import { expect, test } from "vitest";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import { type Inputs, type Plan, planOf, type ScheduleState } from "./plan.ts";
import type { Schedule } from "./slots.ts";

const hour = 3600;

function scheduled(fields: Partial<Schedule> = {}): Schedule {
  const [found] = sampleDB({ backup: { schedules: [{ name: "nightly", schedule: "0 3 * * *", ...fields }] } }).spec.backup?.schedules ?? [];
  if (!found) throw new Error("there is one");
  return found;
}

/** As after a look at `next` of the day before. */
const waitsFor = (next: string, fields: Partial<ScheduleState> = {}): ScheduleState => ({
  name: "nightly",
  expression: "0 3 * * * UTC",
  nextScheduleTime: next,
  ...fields,
});

function plan(schedules: readonly Schedule[], told: readonly ScheduleState[], now: string, rest: Partial<Inputs> = {}): Plan {
  return planOf({ schedules, told, now: new Date(now), hibernated: false, open: () => undefined, ...rest });
}

const made = ({ make }: Plan) => make && `${make.schedule.name} ${make.slot.toISOString()}`;

test("a new schedule waits for its next slot", () => {
  const first = plan([scheduled()], [], "2026-05-01T12:00:00Z");
  expect(first).toEqual({
    make: undefined,
    states: [{ name: "nightly", expression: "0 3 * * * UTC", nextScheduleTime: "2026-05-02T03:00:00Z" }],
    wake: new Date("2026-05-02T03:00:00Z"),
  });
});

test("a slot that has come makes its Backup, and the next one is told", () => {
  const now = plan(
    [scheduled()],
    [waitsFor("2026-05-02T03:00:00Z", { reason: "SlotMissed", message: "of the day before" })],
    "2026-05-02T03:00:00Z",
  );
  expect(made(now)).toBe("nightly 2026-05-02T03:00:00.000Z");
  expect(now.states).toEqual([waitsFor("2026-05-03T03:00:00Z", { lastScheduleTime: "2026-05-02T03:00:00Z" })]);
});

test.each<[string, string, Partial<Schedule>, string, string | undefined]>([
  ["a millisecond before a slot", "2026-05-02T02:59:59.999Z", {}, "2026-05-02T03:00:00Z", undefined],
  ["within the deadline after an outage", "2026-05-02T03:59:59Z", {}, "2026-05-02T03:00:00Z", "2026-05-02T03:00:00.000Z"],
  ["beyond the deadline after an outage", "2026-05-02T04:00:01Z", {}, "2026-05-02T03:00:00Z", undefined],
  ["after an outage of a week the last slot", "2026-05-09T03:10:00Z", {}, "2026-05-02T03:00:00Z", "2026-05-09T03:00:00.000Z"],
  ["after an outage of a week at noon nothing", "2026-05-09T12:00:00Z", {}, "2026-05-02T03:00:00Z", undefined],
  [
    "with a deadline of a week the last slot, at noon",
    "2026-05-09T12:00:00Z",
    { startingDeadlineSeconds: 168 * hour },
    "2026-05-02T03:00:00Z",
    "2026-05-09T03:00:00.000Z",
  ],
  ["suspended", "2026-05-02T03:00:00Z", { suspend: true }, "2026-05-02T03:00:00Z", undefined],
  ["changed to another hour", "2026-05-02T05:00:00Z", { schedule: "0 4 * * *" }, "2026-05-02T03:00:00Z", undefined],
  [
    "changed to every hour: from now on, and no slot before",
    "2026-05-02T03:10:00Z",
    { schedule: "0 * * * *" },
    "2026-05-02T03:00:00Z",
    undefined,
  ],
  ["with another time zone", "2026-05-02T03:00:00Z", { timeZone: "Europe/Berlin" }, "2026-05-02T03:00:00Z", undefined],
])("what is made %s", (_, now, fields, next, slot) => {
  const { make } = plan([scheduled(fields)], [waitsFor(next)], now);
  expect(make?.slot.toISOString()).toBe(slot);
});

test("a slot that is left out is told, and the next one is not concerned", () => {
  const { states } = plan([scheduled()], [waitsFor("2026-05-02T03:00:00Z")], "2026-05-02T09:00:00Z");
  expect(states).toEqual([
    waitsFor("2026-05-03T03:00:00Z", {
      reason: "SlotMissed",
      message: "slot 2026-05-02T03:00:00Z is left out: it was missed by more than 3600 s (startingDeadlineSeconds)",
    }),
  ]);
});

test("what was told of a slot stays until a Backup is made", () => {
  const told = waitsFor("2026-05-03T03:00:00Z", { reason: "SlotMissed", message: "why" });
  expect(plan([scheduled()], [told], "2026-05-02T10:00:00Z").states).toEqual([told]);
});

test("while a Backup of a schedule is not over, a slot waits, without another word for each look", () => {
  const told = [waitsFor("2026-05-02T03:00:00Z")];
  const first = plan([scheduled()], told, "2026-05-02T03:00:00Z", { open: () => "orders-weekly-1" });
  const waits = { reason: "SlotWaits", message: "slot 2026-05-02T03:00:00Z waits for the end of Backup orders-weekly-1" };
  expect(first).toMatchObject({ make: undefined, states: [waitsFor("2026-05-02T03:00:00Z", waits)] });
  expect(first.wake).toEqual(new Date("2026-05-02T04:00:01Z"));
  const later = plan([scheduled()], first.states, "2026-05-02T03:30:00Z", { open: () => "orders-weekly-1" });
  expect(later.states).toEqual(first.states);
  expect(made(plan([scheduled()], later.states, "2026-05-02T03:40:00Z"))).toBe("nightly 2026-05-02T03:00:00.000Z");
  expect(plan([scheduled()], later.states, "2026-05-02T04:00:01Z", { open: () => "orders-weekly-1" }).states[0]?.reason).toBe("SlotMissed");
});

test("a hibernated database skips its slots, and says so", () => {
  const open = () => {
    throw new Error("nobody asks");
  };
  const { make, states } = plan([scheduled()], [waitsFor("2026-05-02T03:00:00Z")], "2026-05-02T03:00:00Z", { hibernated: true, open });
  expect(make).toBeUndefined();
  expect(states).toMatchObject([{ nextScheduleTime: "2026-05-03T03:00:00Z", reason: "SlotHibernated" }]);
});

test("of one minute only the fullest backup is made, and the others say so", () => {
  const schedules = [
    scheduled({ name: "hourly", schedule: "0 * * * *", type: "Incremental" }),
    scheduled({ name: "weekly", schedule: "0 3 * * 0", type: "Full" }),
    scheduled({ name: "daily", type: "Differential" }),
  ];
  const before = plan(schedules, [], "2026-05-03T02:30:00Z"); // a Sunday
  const now = plan(schedules, before.states, "2026-05-03T03:00:00Z");
  expect(made(now)).toBe("weekly 2026-05-03T03:00:00.000Z");
  expect(now.states).toEqual([
    expect.objectContaining({ name: "hourly", nextScheduleTime: "2026-05-03T04:00:00Z", reason: "SlotCovered" }),
    expect.objectContaining({ name: "weekly", nextScheduleTime: "2026-05-10T03:00:00Z", lastScheduleTime: "2026-05-03T03:00:00Z" }),
    expect.objectContaining({ name: "daily", nextScheduleTime: "2026-05-04T03:00:00Z", reason: "SlotCovered" }),
  ]);
  expect(now.wake).toEqual(new Date("2026-05-03T04:00:00Z"));
});

test("a clock that is set back makes no slot twice, and one that was far ahead loses none", () => {
  const after = waitsFor("2026-05-03T03:00:00Z", { lastScheduleTime: "2026-05-02T03:00:00Z" });
  expect(plan([scheduled()], [after], "2026-05-02T02:10:00Z").states).toEqual([after]);
  const wrong = waitsFor("2031-05-03T03:00:00Z", { lastScheduleTime: "2031-05-02T03:00:00Z" });
  expect(plan([scheduled()], [wrong], "2026-05-02T02:10:00Z").states[0]?.nextScheduleTime).toBe("2026-05-02T03:00:00Z");
});

test("a schedule that is gone is not told any more", () => {
  expect(plan([], [waitsFor("2026-05-02T03:00:00Z")], "2026-05-02T03:00:00Z")).toEqual({ make: undefined, states: [], wake: undefined });
});
