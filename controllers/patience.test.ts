import { expect, test } from "vitest";
import { Patience } from "./patience.ts";

/** Looks after each of these seconds; true is a look at which it was so. */
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
  ["one look", [[0, true]], 0],
  [
    "looks without a gap add up",
    [
      [0, true],
      [30, true],
      [60, true],
      [30, true],
    ],
    120,
  ],
  [
    "a look at which it was not so begins anew",
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
    "a gap in looking begins anew, as after a pause",
    [
      [0, true],
      [50, true],
      [3600, true],
    ],
    0,
  ],
  [
    "a clock that was set back begins anew",
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
