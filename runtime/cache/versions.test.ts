import { expect, test } from "vitest";
import { compareVersions } from "./versions.ts";

test.each([
  ["9", "10", "older"],
  ["10", "9", "newer"],
  ["12", "12", "same"],
  ["184467440737095516151", "184467440737095516160", "older"],
  ["abc", "abc", "same"],
  ["abc", "abd", "unknown"],
  ["12", "abc", "unknown"],
  ["012", "13", "unknown"],
  ["0", "13", "unknown"],
  ["", "13", "unknown"],
  [undefined, "13", "unknown"],
  ["13", undefined, "unknown"],
  [undefined, undefined, "unknown"],
])("version %s compared to %s is: %s", (a, b, expected) => {
  const order = compareVersions(a, b);
  expect(order === undefined ? "unknown" : order < 0 ? "older" : order > 0 ? "newer" : "same").toBe(expected);
});
