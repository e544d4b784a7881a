import { expect, test } from "vitest";
import { parseLookEnd, parseRestoreEnd } from "./run-end.ts";

test.each([
  ["StoreUnreachable", "StoreUnreachable"],
  ["DataForeign", "DestinationTaken"],
  ["Interrupted", "RestoreLost"],
  ["MoonPhase", "RecoveryFailed"],
])("a failure with the reason %s is told as %s", (reason, told) => {
  const text = JSON.stringify({ outcome: "failed", reason, message: "no" });
  expect(parseRestoreEnd(text)).toEqual({ outcome: "failed", reason: told, message: "no" });
  expect(parseLookEnd(text)).toEqual({ outcome: "failed", reason: told, message: "no" });
});

test.each([undefined, "exit code 137", `{"outcome": "succeeded"}`])("%s is no end", (text) =>
  expect(parseRestoreEnd(text)).toBeUndefined(),
);
