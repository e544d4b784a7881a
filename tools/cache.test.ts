import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fingerprint, forgetOldest, makeOnce } from "./cache.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sampledb-cache-test-"));
  mkdirSync(join(folder, "inputs"));
  writeFileSync(join(folder, "inputs/a"), "1");
});

afterEach(() => rmSync(folder, { recursive: true }));

test("the same inputs have the same fingerprint, in any folder", () => {
  const copy = mkdtempSync(join(tmpdir(), "sampledb-cache-test-"));
  mkdirSync(join(copy, "inputs"));
  writeFileSync(join(copy, "inputs/a"), "1");
  expect(fingerprint([join(folder, "inputs")], ["x"])).toBe(fingerprint([join(copy, "inputs")], ["x"]));
  rmSync(copy, { recursive: true });
});

test.each<[string, () => void]>([
  ["content", () => writeFileSync(join(folder, "inputs/a"), "2")],
  ["a new file", () => writeFileSync(join(folder, "inputs/b"), "")],
  ["an executable bit", () => writeFileSync(join(folder, "inputs/c"), "", { mode: 0o755 })],
])("%s changes the fingerprint", (_, change) => {
  const before = fingerprint([join(folder, "inputs")]);
  change();
  expect(fingerprint([join(folder, "inputs")])).not.toBe(before);
});

test("words of a fingerprint are kept apart", () => {
  expect(fingerprint([], ["ab", "c"])).not.toBe(fingerprint([], ["a", "bc"]));
});

test("a maker that fails leaves nothing in the cache", async () => {
  const target = join(folder, "target");
  const failing = makeOnce(target, async (unfinished) => {
    writeFileSync(unfinished, "half");
    throw new Error("disk on fire");
  });
  await expect(failing).rejects.toThrow("disk on fire");
  expect(readdirSync(folder)).toEqual(["inputs"]);
});

test("leftovers of a killed maker are removed by the next one", async () => {
  mkdirSync(join(folder, ".unfinished-999999999-target"));
  await makeOnce(join(folder, "target"), async (unfinished) => writeFileSync(unfinished, "whole"));
  expect(readdirSync(folder).sort()).toEqual(["inputs", "target"]);
});

test("forgetOldest removes the least recently used entries, and none that do not match", () => {
  for (const [name, second] of [
    ["old-1", 1],
    ["old-2", 3],
    ["old-3", 2],
    ["other", 0],
  ] as const) {
    writeFileSync(join(folder, name), "");
    utimesSync(join(folder, name), second, second);
  }
  forgetOldest(folder, /^old-/, 2);
  expect(readdirSync(folder).sort()).toEqual(["inputs", "old-2", "old-3", "other"]);
});

test("two makers at once both succeed, and one result stays", async () => {
  const target = join(folder, "target");
  const make = async (unfinished: string) => {
    mkdirSync(unfinished);
    await setImmediate(); // lets the other maker begin
    writeFileSync(join(unfinished, "whole"), "yes");
  };
  await Promise.all([makeOnce(target, make), makeOnce(target, make)]);
  expect(readFileSync(join(target, "whole"), "utf8")).toBe("yes");
  expect(existsSync(target)).toBe(true);
});
