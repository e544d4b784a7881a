import { expect, test } from "vitest";
import { parseInstanceAnswer, parseRepositoryAnswer } from "./answers.ts";

const at = "2026-11-18T02:00:00Z";

test("the answers of the programs are understood", () => {
  const failure = { name: "000000010000000000000004", reason: "StoreDenied", message: "403", at };
  const told = { stanza: "uid-17-1", probe: { at, ok: false, reason: "StoreDenied", step: "write", message: "403", seconds: 0.2 } };
  expect(parseRepositoryAnswer(JSON.stringify({ ...told, archive: { failure } }))).toEqual({ ...told, archive: { failure } });
  const instance = { waiting: 2, newest: "00000002.history", oldestSeconds: 61.5, failure: null, sizeBytes: 10, availableBytes: 5 };
  expect(parseInstanceAnswer(JSON.stringify(instance))).toEqual(instance);
});

test("what can be restored is understood, and nothing of it where a part is nonsense", () => {
  const names = { first: "000000010000000000000003", last: "000000010000000000000004" };
  const end = { last: { name: "000000010000000000000002", at }, first: { label: "20261118-020000F", at } };
  const window = { at, complete: false, timeline: 1, backupCount: 1, ...end, gaps: [{ ...names, count: 2, before: at }], gapCount: 1 };
  expect(parseRepositoryAnswer(JSON.stringify({ stanza: "s", window })).window).toEqual(window);
  const hostile = { ...window, gaps: [{ ...names, first: "<script>", count: 2 }] };
  expect(parseRepositoryAnswer(JSON.stringify({ stanza: "s", window: hostile }))).toEqual({ stanza: "s" });
});

test("a reason that only a newer image knows is a failure of the store", () => {
  const probe = { at, ok: false, reason: "MoonPhase" };
  expect(parseRepositoryAnswer(JSON.stringify({ stanza: "s", probe })).probe?.reason).toBe("StoreFailed");
});

test.each([
  ["000000010000000000000007", true],
  ["000000010000000000000007.partial", true],
  ["000000010000000000000007.00000028.backup", true],
  ["0000000A.history", true],
  ["zzz", false],
  ["00000001000000000000000g", false],
  ["000000010000000000000007\n", false],
  [7, false],
])("the name %j of a waiting file is understood: %s", (newest, isUnderstood) => {
  const told = { waiting: 1, newest, oldestSeconds: 0, sizeBytes: 1, availableBytes: 1 };
  expect(parseInstanceAnswer(JSON.stringify(told)).newest).toBe(isUnderstood ? newest : undefined);
});

test.each(["", "{}", "[]", "null", `{"stanza": 7}`, `{"stanza": "${"x".repeat(5000)}"}`, `{"waiting": -1}`])("%s is no answer", (text) => {
  expect(() => parseRepositoryAnswer(text)).toThrow();
  expect(() => parseInstanceAnswer(text)).toThrow();
});
