// Which databases the sweep of each minute has looked at.
import { afterEach, expect, test, vi } from "vitest";
import type { Cache } from "../../../runtime/cache/cache.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import { overlooked, sweepEachMinute } from "./sweep.ts";

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

afterEach(() => vi.useRealTimers());

test("each minute the cache is looked at, until the controller ends", async () => {
  vi.useFakeTimers({ now: Date.parse("2026-05-02T02:58:30Z") });
  const cache = { watched: () => ({ list: () => [orders("2026-05-02T03:00:00Z")] }) } as unknown as Cache;
  const enqueued: string[] = [];
  const end = sweepEachMinute(cache, () => new Date())(({ name }) => enqueued.push(`${name} ${new Date().toISOString()}`));
  await vi.advanceTimersByTimeAsync(80_000);
  expect(enqueued).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(enqueued).toEqual([expect.stringMatching(/^orders 2026-05-02T03:00:05/)]);
  end();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(enqueued).toHaveLength(1);
});
