import { expect, test } from "vitest";
import { microTime } from "./time.ts";

test("microTime has six fractional digits, whatever the milliseconds are", () => {
  expect(microTime(new Date("2026-01-02T03:04:05.678Z"))).toBe("2026-01-02T03:04:05.678000Z");
  expect(microTime(new Date("2026-01-02T03:04:05Z"))).toBe("2026-01-02T03:04:05.000000Z");
});
