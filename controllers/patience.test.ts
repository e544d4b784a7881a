import { expect, test } from "vitest";
import { Patience } from "./patience.ts";

/** Looks after each of these seconds. `isSo` is whether the thing was seen at that look. */
function waited(...looks: readonly (readonly [after: number, isSo: boolean])[]): number {
  let now = Date.parse("2026-01-01T00:00:00Z");
  const patience = new Patience(() => new Date(now));
  let seconds = 0;
  for (const [after, isSo] of looks) {
    now += after * 1000;
    if (isSo) seconds = patience.seconds("a");
    else patience.end("a");
  }
  return seconds;
}

test.each<[string, readonly (readonly [number, boolean])[], number]>([
  ["the first look counts no time", [[0, true]], 0],
  [
    "the time between looks without a gap adds up",
    [
      [0, true],
      [30, true],
      [60, true],
      [30, true],
    ],
    120,
  ],
  [
    "patience begins anew after a look at which the thing was over",
    [
      [0, true],
      [30, true],
      [30, false],
      [30, true],
      [10, true],
    ],
    10,
  ],
  [
    "patience begins anew after a gap in looking, as after a pause",
    [
      [0, true],
      [50, true],
      [3600, true],
    ],
    0,
  ],
  [
    "patience begins anew when the clock was set back",
    [
      [0, true],
      [50, true],
      [-3600, true],
      [20, true],
    ],
    20,
  ],
])("%s", (_, looks, seconds) => {
  expect(waited(...looks)).toBe(seconds);
});
