import { expect, test } from "vitest";
import { type Figure, figureLines, median } from "./figures.ts";

test("the median is the middle, or between the two in the middle", () => {
  expect(median([9, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(() => median([])).toThrow("nothing was measured");
});

test.each<[string, Omit<Figure, "what" | "unit">, RegExp]>([
  ["within the limit", { ours: 3, wanted: { most: 3 } }, /3\s+at most 3: met$/],
  ["above it", { ours: 3.01, peer: 3.01, wanted: { most: 3 } }, /1\.00\s+at most 3: MISSED$/],
  ["within the ratio", { ours: 12, peer: 10, wanted: { mostTimesPeer: 1.2 } }, /1\.20\s+at most 1\.2 times: met$/],
  ["above the ratio", { ours: 13, peer: 10, wanted: { mostTimesPeer: 1.2 } }, /1\.30\s+at most 1\.2 times: MISSED$/],
  ["not much above the peer", { ours: 0.25, peer: 0.16, wanted: { mostAbovePeer: 0.1 } }, /1\.56\s+at most 0\.1 more: met$/],
  ["too far above the peer", { ours: 0.27, peer: 0.16, wanted: { mostAbovePeer: 0.1 } }, /1\.69\s+at most 0\.1 more: MISSED$/],
  ["not below the ratio", { ours: 9, peer: 10, wanted: { leastTimesPeer: 0.9 } }, /0\.90\s+at least 0\.9 times: met$/],
  ["below the ratio", { ours: 8, peer: 10, wanted: { leastTimesPeer: 0.9 } }, /0\.80\s+at least 0\.9 times: MISSED$/],
  ["no peer to compare with", { ours: 13, wanted: { mostTimesPeer: 1.2 } }, /not measured$/],
  ["nothing wanted", { ours: 13 }, /13\s*$/],
])("%s", (_, figure, line) => {
  expect(figureLines([{ what: "it", unit: "s", ...figure }]).at(-1)).toMatch(line);
});
