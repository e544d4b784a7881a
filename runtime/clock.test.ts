import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "./clock.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const day = 24 * 60 * 60 * 1000;

test.each([
  ["nothing", 0, 0],
  ["a fraction", 10.5, 11],
  ["more than a timeout can hold", 60 * day, 60 * day],
])("a wait for %s ends once, after all of its time", (_, ms, expected) => {
  const calls: number[] = [];
  const begin = systemClock.now();
  systemClock.schedule(ms, () => calls.push(systemClock.now() - begin));
  vi.advanceTimersByTime(100 * day);
  expect(calls.map(Math.round)).toEqual([expected]);
  expect(calls[0]).toBeGreaterThanOrEqual(ms);
});

test.each([
  ["before its first timeout", 0],
  ["between two timeouts", 30 * day],
])("a timer that is cancelled %s does not fire", (_, passed) => {
  const calls: string[] = [];
  const cancel = systemClock.schedule(60 * day, () => calls.push("called"));
  vi.advanceTimersByTime(passed);
  cancel();
  vi.advanceTimersByTime(100 * day);
  expect(calls).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});
