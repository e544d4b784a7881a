import { expect, test } from "vitest";
import type { Begun } from "../../desired/archive-notes.ts";
import type { RepositoryAnswer } from "../../repository/answers.ts";
import { newConflict } from "./conflict.ts";

const now = new Date("2026-05-04T12:00:00Z");
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString();
const begun = (seconds: number): Begun => ({ because: "Conflict", at: ago(seconds), former: "uid-17-1" });
const failing = (reason: "ArchiveConflict" | "StoreDenied", stanza = "uid-17-2"): RepositoryAnswer => ({
  stanza,
  archive: { failure: { name: "000000010000000000000007", reason, message: "in pgBackRest's words", at: ago(5) } },
});

test.each<[string, RepositoryAnswer | undefined, Begun | undefined, boolean]>([
  ["a conflict in the first archive", failing("ArchiveConflict"), undefined, true],
  ["a conflict in an archive that began ten minutes ago", failing("ArchiveConflict"), begun(600), true],
  ["a conflict in an archive that began just now", failing("ArchiveConflict"), begun(599), false],
  ["a conflict in an archive that began in the future, by another clock", failing("ArchiveConflict"), begun(-60), false],
  ["a conflict in the former archive", failing("ArchiveConflict", "uid-17-1"), undefined, false],
  ["another failure", failing("StoreDenied"), undefined, false],
  ["no failure", { stanza: "uid-17-2", archive: {} }, undefined, false],
  ["no answer", undefined, undefined, false],
])("%s: a new archive begins: %s", (_, answer, before, begins) => {
  expect(newConflict({ stanza: "uid-17-2", notes: { generation: 2, begun: before } }, answer, now) !== undefined).toBe(begins);
});
