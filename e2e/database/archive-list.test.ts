import { expect, test } from "vitest";
import { missingNumbers, segmentNumbers, withoutHistory } from "./archive-list.ts";

const sum = "-0123456789012345678901234567890123456789.zst";
const folder = "17-1/0000000100000000/";

test("segments of all timelines count once; other files do not count", () => {
  const files = [
    `${folder}000000010000000000000001${sum}`,
    `${folder}000000010000000000000002.partial${sum}`,
    `17-1/0000000200000000/000000020000000000000002${sum}`,
    `17-1/0000000200000000/000000020000000100000000${sum}`,
    "17-1/00000002.history",
    `${folder}000000010000000000000001.00000028.backup`,
    "archive.info",
  ];
  expect(segmentNumbers(files)).toEqual([1, 2, 256]);
  expect(withoutHistory(files)).toEqual([]);
  expect(withoutHistory(files.filter((file) => !file.endsWith(".history")))).toEqual(["00000002"]);
});

test("a partial segment of the former timeline is not the whole one", () => {
  expect(segmentNumbers([`${folder}000000010000000000000002.partial${sum}`])).toEqual([]);
});

test("a gap is found, also at the beginning where that is known", () => {
  const names = ["000000010000000000000002", "000000010000000000000004"].map((name) => `${folder}${name}${sum}`);
  expect(missingNumbers(names)).toEqual([3]);
  expect(missingNumbers(names, 1)).toEqual([1, 3]);
  expect(missingNumbers([], 1)).toEqual([]);
});
