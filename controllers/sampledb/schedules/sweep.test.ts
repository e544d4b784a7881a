// Which databases the sweep of each minute has looked at.
import { expect, test } from "vitest";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import { overlooked } from "./sweep.ts";

const backup = { schedules: [{ name: "nightly", schedule: "0 3 * * *" }] };
const told = (nextScheduleTime: string) => ({ schedules: [{ name: "nightly", expression: "0 3 * * * UTC", nextScheduleTime }] });
const at = (now: string, db: SampleDB) => overlooked([db], new Date(now)).map(({ name }) => name);
const orders = (next: string, spec: object = {}, metadata: object = {}): SampleDB => ({
  ...sampleDB({ backup, ...spec }, metadata),
  status: told(next),
});

test.each<[string, string, SampleDB, boolean]>([
  ["before its slot", "2026-05-02T02:59:00Z", orders("2026-05-02T03:00:00Z"), false],
  ["after its slot", "2026-05-02T03:00:05Z", orders("2026-05-02T03:00:00Z"), true],
  ["after a clock was set back by a year", "2026-05-02T02:59:00Z", orders("2027-05-02T03:00:00Z"), true],
  ["paused", "2026-05-02T03:00:05Z", orders("2026-05-02T03:00:00Z", { paused: true }), false],
  ["being deleted", "2026-05-02T03:00:05Z", orders("2026-05-02T03:00:00Z", {}, { deletionTimestamp: "2026-05-02T03:00:00Z" }), false],
  ["without schedules", "2026-05-02T03:00:05Z", orders("2026-05-02T03:00:00Z", { backup: {} }), false],
])("a database %s", (_, now, db, expected) => {
  expect(at(now, db)).toEqual(expected ? ["orders"] : []);
});
