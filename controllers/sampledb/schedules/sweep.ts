// Each minute a look at all SampleDBs in the cache, for slots that no timer has brought: a timer counts the seconds that the machine was
// awake, and knows nothing of a clock that was set.
import { schedule } from "node-cron";
import type { Cache } from "../../../runtime/cache/cache.ts";
import type { Prompt } from "../../../runtime/controller/builder.ts";
import { type Key, keyOf } from "../../../runtime/kube/object.ts";
import { type SampleDB, sampledbs } from "../../kinds/sampledb-io.ts";
import { planOf } from "./plan.ts";

/** At second 5: the timers, which are exact, have done their work by then. */
const eachMinute = "5 * * * * *";

export function sweepEachMinute(cache: Cache, now: () => Date): Prompt {
  return (enqueue) => {
    const sweep = () => overlooked(cache.watched(sampledbs).list(), now()).forEach(enqueue);
    const task = schedule(eachMinute, sweep, { timezone: "UTC", noOverlap: true, suppressMissedWarning: true });
    return () => void task.destroy();
  };
}

/** Those whose status would change by their schedules: a slot has passed, or the clock was set back and the next slot is another one. */
export function overlooked(all: readonly SampleDB[], now: Date): Key[] {
  return all.filter((db) => isOverlooked(db, now)).map(keyOf);
}

function isOverlooked({ metadata, spec, status }: SampleDB, now: Date): boolean {
  const schedules = spec.backup?.schedules ?? [];
  if (schedules.length === 0 || spec.paused || metadata.deletionTimestamp !== undefined) return false;
  const told = status?.schedules ?? [];
  const { states } = planOf({ schedules, told, now, hibernated: false, open: () => undefined });
  return states.some(({ name, nextScheduleTime }) => told.find((one) => one.name === name)?.nextScheduleTime !== nextScheduleTime);
}
