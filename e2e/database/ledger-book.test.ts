// What a ledger concludes from its entries.
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { acknowledgedBy, BookReader, BookWriter, type Entry, nextId, readBook, report, verdict } from "./ledger-book.ts";

const first = { address: "10.0.0.1", started: "2026-01-01 00:00:00+00" };
const second = { address: "10.0.0.2", started: "2026-01-01 00:00:05+00" };
const begun: Entry = { kind: "begun", at: 0, id: 5 };
const acknowledged = (id: number, at: number, server = first): Entry => ({ kind: "acknowledged", id, at, server });
const unknown = (id: number): Entry => ({ kind: "unknown", id, at: 0, why: "lost" });
const refused = (id: number): Entry => ({ kind: "refused", id, at: 0, why: "read-only" });

test("a gap above half a second is an outage, with who served before and after; the last one may be open", () => {
  const book = [begun, acknowledged(5, 100), acknowledged(6, 600), unknown(7), acknowledged(8, 3000, second)];
  const told = report(book, 4000);
  expect(told.outages).toEqual([
    { start: 600, milliseconds: 2400, before: first, after: second },
    { start: 3000, milliseconds: 1000, before: second },
  ]);
  expect(told.servers.map(({ address, acknowledged: rows }) => [address, rows])).toEqual([
    ["10.0.0.1", 2],
    ["10.0.0.2", 1],
  ]);
  expect(told.errors).toEqual([{ why: "unknown: lost", count: 1, lastAt: 0 }]);
  expect(told).toMatchObject({ acknowledged: 3, unknown: 1, refused: 0, last: { id: 8, at: 3000, server: second } });
});

test.each<[string, Entry[], number[], Entry[], object]>([
  ["all there", [acknowledged(5, 0), acknowledged(6, 0)], [5, 6], [], { acknowledged: 2, lost: 0, unexpected: 0 }],
  ["an acknowledged row is missing", [acknowledged(5, 0), acknowledged(6, 0)], [6], [], { lost: 1, firstLost: [{ id: 5 }] }],
  ["an unknown row is missing", [unknown(5)], [], [], { acknowledged: 0, lost: 0, unexpected: 0 }],
  ["an unknown row is there", [unknown(5)], [5], [], { lost: 0, unexpected: 0 }],
  ["a refused row is there", [refused(5)], [5], [], { unexpected: 1, firstUnexpected: [refused(5)] }],
  [
    "a row that nobody sent is there",
    [acknowledged(5, 0), acknowledged(7, 0)],
    [5, 6, 7],
    [],
    { unexpected: 1, firstUnexpected: [{ id: 6 }] },
  ],
  ["rows of an earlier ledger", [acknowledged(5, 0)], [1, 2, 5], [], { lost: 0, unexpected: 0 }],
  ["rows written while it was read", [acknowledged(5, 0)], [5, 6, 7], [acknowledged(6, 0)], { acknowledged: 1, lost: 0, unexpected: 0 }],
])("verdict: %s", (_, entries, stored, later, expected) => {
  const before = [begun, ...entries];
  expect(verdict(before, new Set(stored), [...before, ...later])).toMatchObject(expected);
});

test("a reader goes on where it has ended, and leaves a half-written line for the next time", () => {
  const directory = mkdtempSync(join(tmpdir(), "sampledb-ledger-"));
  try {
    const path = join(directory, "entries");
    using writer = new BookWriter(path);
    writer.append(begun);
    using reader = new BookReader(path);
    expect(reader.more()).toEqual([begun]);
    const line = JSON.stringify(acknowledged(5, 0, second));
    appendFileSync(path, line.slice(0, 20));
    expect(reader.more()).toEqual([]);
    appendFileSync(path, `${line.slice(20)}\n`);
    writer.append(acknowledged(6, 0));
    const more = reader.more();
    expect([acknowledgedBy(more, undefined), acknowledgedBy(more, first), acknowledgedBy([unknown(7)], undefined)]).toEqual([2, 1, 0]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("a writer that starts again never uses an id twice, and a half-written line is not read", () => {
  const directory = mkdtempSync(join(tmpdir(), "sampledb-ledger-"));
  try {
    const path = join(directory, "entries");
    expect(nextId(readBook(path))).toBeUndefined();
    using book = new BookWriter(path);
    book.append(begun);
    expect(nextId(readBook(path))).toEqual({ lostTrackOf: 5, next: 6 });
    book.append(acknowledged(5, 0));
    book.append({ kind: "unconnected", at: 0, why: "refused" });
    appendFileSync(path, '{"kind":"ackn');
    expect(nextId(readBook(path))).toEqual({ lostTrackOf: 6, next: 7 });
  } finally {
    rmSync(directory, { recursive: true });
  }
});
