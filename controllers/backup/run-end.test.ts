import { expect, test } from "vitest";
import { succeeded } from "./backup.fixture.ts";
import { parseRunEnd } from "./run-end.ts";

test("the words of a good backup are understood, with 64-bit numbers as they are", () => {
  expect(parseRunEnd(JSON.stringify(succeeded))).toEqual(succeeded);
});

test("a backup that was removed is told apart from one that was made", () => {
  expect(parseRunEnd(`{"outcome": "succeeded", "removed": 2}`)).toEqual({ outcome: "expired" });
});

test.each([
  ["StoreDenied", "StoreDenied"],
  ["PageChecksumsBad", "PageChecksumsBad"],
  ["BackupLost", "Interrupted"],
  ["MoonPhase", "BackupFailed"],
])("a failure with the reason %s is told as %s", (reason, told) => {
  expect(parseRunEnd(JSON.stringify({ outcome: "failed", reason, message: "no" }))).toEqual({
    outcome: "failed",
    reason: told,
    message: "no",
  });
});

test.each<[string, string | undefined]>([
  ["nothing", undefined],
  ["no JSON", "exit code 137"],
  ["a run that was told to end", `{"outcome": "failed", "reason": "Interrupted", "message": "it was told to end"}`],
  ["a success that was not verified", JSON.stringify({ ...succeeded, verification: { ...succeeded.verification, walComplete: false } })],
  ["a success without a label", JSON.stringify({ ...succeeded, label: "../../etc" })],
  ["an identifier as a number", JSON.stringify({ ...succeeded, systemIdentifier: 755 })],
])("%s is no end", (_, text) => expect(parseRunEnd(text)).toBeUndefined());
