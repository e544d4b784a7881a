import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { FakeClock } from "../fake-clock.fixture.ts";
import { loopLagCheck } from "./loop-lag.ts";

test("the loop lag is judged by whole windows, without the window before", async () => {
  const clock = new FakeClock();
  const delays = { seconds: 9, percentile: () => delays.seconds * 1e9, reset: () => {} };
  const check = loopLagCheck({ limitSeconds: 2, windowSeconds: 10, clock, delays });
  expect(check()).toBeUndefined(); // nothing is known yet
  await clock.advance(10_000);
  expect(check()).toBe("the event loop is 9.0 s late (limit 2 s)");
  delays.seconds = 1;
  await clock.advance(9000);
  expect(check()).toContain("9.0 s late");
  await clock.advance(1000);
  expect(check()).toBeUndefined();
});

test("a loop that is always late is unhealthy, an idle one is not", async () => {
  const check = loopLagCheck({ limitSeconds: 0.03, windowSeconds: 0.2 });
  for (let turn = 0; turn < 5; turn++) {
    const end = performance.now() + 80;
    while (performance.now() < end);
    await setTimeout(1);
  }
  expect(check()).toMatch(/the event loop is 0\.\d s late/);

  const idle = loopLagCheck({ limitSeconds: 0.5, windowSeconds: 0.1 });
  await setTimeout(150);
  expect(idle()).toBeUndefined();
});
