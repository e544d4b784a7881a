import { expect, test } from "vitest";
import { FakeClock } from "../fake-clock.fixture.ts";
import { Backoff } from "./backoff.ts";

function delays(backoff: Backoff, count: number): number[] {
  return Array.from({ length: count }, () => backoff.next());
}

test("delays double up to the maximum, and start over after a reset", () => {
  const backoff = new Backoff({ clock: new FakeClock(), random: () => 0 });
  expect(delays(backoff, 8)).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
  backoff.reset();
  expect(delays(backoff, 2)).toEqual([800, 1600]);
});

test("jitter makes a delay up to twice as long, never shorter", () => {
  expect(delays(new Backoff({ clock: new FakeClock(), random: () => 0.999 }), 3).map(Math.round)).toEqual([1599, 3198, 6397]);
});

test("a thousand failures do not overflow the delay", () => {
  expect(delays(new Backoff({ clock: new FakeClock(), random: () => 0 }), 2000).at(-1)).toBe(30_000);
});

test("failures are forgotten after calm, counted from the end of the last wait", async () => {
  const clock = new FakeClock();
  const backoff = new Backoff({ clock, random: () => 0, calm: 10_000 });
  expect(delays(backoff, 4)).toEqual([800, 1600, 3200, 6400]);
  await clock.advance(6400 + 10_000);
  expect(backoff.next()).toBe(12_800);
  await clock.advance(12_800 + 10_001);
  expect(backoff.next()).toBe(800);
});
