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

test.each<[string, boolean, RepositoryAnswer | undefined, Begun | undefined]>([
  ["a conflict in the first archive", true, failing("ArchiveConflict"), undefined],
  ["a conflict in an archive that began ten minutes ago", true, failing("ArchiveConflict"), begun(600)],
  ["a conflict in an archive that began just now", false, failing("ArchiveConflict"), begun(599)],
  ["a conflict in an archive that began in the future, by another clock", false, failing("ArchiveConflict"), begun(-60)],
  ["a conflict in the former archive", false, failing("ArchiveConflict", "uid-17-1"), undefined],
  ["another failure", false, failing("StoreDenied"), undefined],
  ["no failure", false, { stanza: "uid-17-2", archive: {} }, undefined],
  ["no answer", false, undefined, undefined],
])("%s: a new archive begins: %s", (_, begins, answer, before) => {
  expect(newConflict({ stanza: "uid-17-2", notes: { generation: 2, begun: before } }, answer, now) !== undefined).toBe(begins);
});
