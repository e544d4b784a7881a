// The table that the demo ends with.
import { expect, test } from "vitest";
import { table } from "./chronicle.ts";

test("times stand below each other, and outages only where rows were written", () => {
  expect(
    table([
      { title: "a Kubernetes of three nodes", milliseconds: 15_320 },
      { title: "a parameter changed", milliseconds: 9_040, outageMilliseconds: 0 },
      { title: "a node cut off", milliseconds: 121_000, outageMilliseconds: 24_480 },
    ]),
  ).toEqual([
    "    time  no writes  step",
    "  15.3 s             a Kubernetes of three nodes",
    "   9.0 s    < 0.5 s  a parameter changed",
    " 121.0 s     24.5 s  a node cut off",
  ]);
});
