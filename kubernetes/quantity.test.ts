import { expect, test } from "vitest";
import { compareQuantities, parseQuantity } from "./quantity.ts";

test.each([
  ["1Gi", "1024Mi", 0],
  ["1Gi", "1G", 1],
  ["1.5Gi", "1536Mi", 0],
  ["100m", "0.1", 0],
  ["100m", ".1", 0],
  ["1e3", "1k", 0],
  ["1E3", 1000, 0],
  ["1e-3", "1m", 0],
  [".5", "500m", 0],
  ["5.", 5, 0],
  [0, "0Gi", 0],
  ["1n", "1u", -1],
  ["0.1n", "1n", 0], // rounded up, as Kubernetes does
  ["-1", 0, -1],
  ["9007199254740993", "9007199254740992", 1], // equal as JavaScript numbers
  ["2", 10, -1],
])("quantity %s compared with %s is %i", (a, b, order) => {
  expect(compareQuantities(a, b)).toBe(order);
});

test.each(["", ".", "1gi", "1 Gi", "Gi", "1Kii", "1e", "0x10", "1e999", "1e9999999999", "1,5", "9".repeat(65)])(
  "%j is no quantity",
  (text) => {
    expect(parseQuantity(text)).toBeUndefined();
    expect(compareQuantities(text, 1)).toBeUndefined();
  },
);
