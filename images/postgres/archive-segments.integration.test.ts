// Which segment a restore reaches, and where the archive has gaps: along timelines, with names as pgBackRest 2.55.1 stores them.
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { run } from "../../tools/command.ts";

const checksum = "0123456789abcdef0123456789abcdef01234567";
const name = (timeline: number, number: number) =>
  [timeline, Math.floor(number / 256), number % 256].map((each) => each.toString(16).toUpperCase().padStart(8, "0")).join("");
const stored = (timeline: number, ...numbers: readonly number[]) =>
  numbers.map((number) => `${name(timeline, number).slice(0, 16)}/${name(timeline, number)}-${checksum}.zst`);
const partial = (timeline: number, number: number) =>
  `${name(timeline, number).slice(0, 16)}/${name(timeline, number)}.partial-${checksum}.gz`;
/** Timeline 2 begins in the segment 5, timeline 3 in the segment 7, on timeline 2. */
const second = "1\t0/5000A00\tno recovery target specified\n";
const third = `# a comment\n${second}\n2\t0/70000D8\tbefore 2026-11-18 02:00:00+00\n`;

interface Case {
  readonly paths: readonly string[];
  readonly histories?: Readonly<Record<number, string>>;
  readonly first?: string;
  readonly timeline?: number;
  /** An LSN. */
  readonly after?: string;
  readonly newest: string | null;
  readonly gaps?: readonly [first: string, last: string, count: number][];
  readonly on?: number;
}

const cases: Readonly<Record<string, Case>> = {
  "all of one timeline": { paths: stored(1, 1, 2, 3, 4), newest: name(1, 4) },
  "without compression, and after a boundary of 256": {
    paths: [...stored(1, 2, 254, 255), `0000000100000001/${name(1, 256)}-${checksum}`],
    first: name(1, 254),
    newest: "000000010000000100000000",
  },
  "segments before the first one do not count": { paths: stored(1, 1, 3), first: name(1, 3), newest: name(1, 3) },
  "one is missing": { paths: stored(1, 2, 3, 5, 6), newest: name(1, 3), gaps: [[name(1, 4), name(1, 4), 1]] },
  "two gaps": {
    paths: stored(1, 2, 4, 8),
    newest: name(1, 2),
    gaps: [
      [name(1, 3), name(1, 3), 1],
      [name(1, 5), name(1, 7), 3],
    ],
  },
  "the first one is missing": { paths: stored(1, 3), newest: null, gaps: [[name(1, 2), name(1, 2), 1]] },
  "nothing is there": { paths: [], newest: null },
  "a partial segment and a label are no segments": {
    paths: [...stored(1, 2), partial(1, 3), `0000000100000000/${name(1, 3)}.00000028.backup`, "0000000100000000"],
    newest: name(1, 2),
  },
  "a name without a checksum is being written": { paths: [...stored(1, 2), `0000000100000000/${name(1, 3)}`], newest: name(1, 2) },
  "a new timeline has the segment in which it begins": {
    paths: [...stored(1, 2, 3, 4), ...stored(2, 5, 6)],
    histories: { 2: second },
    newest: name(2, 6),
    on: 2,
  },
  "the former timeline has it too, partial": {
    paths: [...stored(1, 2, 3, 4), partial(1, 5), ...stored(2, 5)],
    histories: { 2: second },
    newest: name(2, 5),
    on: 2,
  },
  "the former timeline has it too, whole, and went on": {
    paths: [...stored(1, 2, 3, 4, 5, 6, 7), ...stored(2, 5)],
    histories: { 2: second },
    newest: name(2, 5),
    on: 2,
  },
  "the new timeline has nothing yet, the former one has the whole segment": {
    paths: stored(1, 2, 3, 4, 5),
    histories: { 2: second },
    newest: name(1, 5),
    on: 2,
  },
  "the new timeline has nothing yet, the former one a partial segment": {
    paths: [...stored(1, 2, 3, 4), partial(1, 5)],
    histories: { 2: second },
    newest: name(1, 4),
    on: 2,
  },
  "the last segments of the former timeline were never pushed": {
    paths: [...stored(1, 2), ...stored(2, 5)],
    histories: { 2: second },
    newest: name(1, 2),
    gaps: [[name(1, 3), name(1, 4), 2]],
    on: 2,
  },
  "the first segment of the new timeline is missing, the former one has it": {
    paths: [...stored(1, 2, 3, 4, 5), ...stored(2, 6)],
    histories: { 2: second },
    newest: name(1, 5),
    gaps: [[name(2, 5), name(2, 5), 1]],
    on: 2,
  },
  "nothing later than the end of the former timeline: it may still come": {
    paths: stored(1, 2),
    histories: { 2: second },
    newest: name(1, 2),
    on: 2,
  },
  "over two switches": {
    paths: [...stored(1, 2, 3, 4), ...stored(2, 5, 6), ...stored(3, 7)],
    histories: { 2: second, 3: third },
    newest: name(3, 7),
    on: 3,
  },
  "two switches in one segment": {
    paths: [...stored(1, 2, 3, 4), ...stored(3, 5, 6)],
    histories: { 3: `${second}2\t0/5000B00\tno recovery target specified\n` },
    newest: name(3, 6),
    on: 3,
  },
  "a switch at the very end of a segment": {
    paths: [...stored(1, 2, 3, 4), ...stored(2, 5)],
    histories: { 2: "1\t0/5000000\tno recovery target specified\n" },
    newest: name(2, 5),
    on: 2,
  },
  "a timeline that left before the first segment is another branch": {
    paths: [...stored(1, 6, 7), ...stored(2, 5, 6, 7, 8)],
    histories: { 2: second },
    first: name(1, 6),
    newest: name(1, 7),
  },
  "a timeline that left in the first segment, before the backup's end, is another branch": {
    paths: [...stored(1, 5), ...stored(2, 5, 6)],
    histories: { 2: second },
    first: name(1, 5),
    after: "0/5000B00",
    newest: name(1, 5),
  },
  "a timeline that left in the first segment, after the backup's end": {
    paths: [...stored(1, 5), ...stored(2, 5, 6)],
    histories: { 2: second },
    first: name(1, 5),
    after: "0/5000900",
    newest: name(2, 6),
    on: 2,
  },
  "to a timeline that is told": {
    paths: [...stored(1, 2, 3, 4), ...stored(2, 5, 6), ...stored(3, 7)],
    histories: { 2: second, 3: third },
    timeline: 2,
    newest: name(2, 6),
    on: 2,
  },
};

/** What is missing, and the archive of which it is. */
const upToFour: Readonly<Record<string, readonly string[]>> = {
  none: stored(1, 2, 3, 4),
  [name(1, 2)]: stored(1, 1),
  [name(1, 3)]: stored(1, 2, 4),
  [name(1, 4)]: stored(1, 2, 3),
};

const program = `
import json, sys
sys.path.insert(0, sys.argv[1])
import archive_segments as it
found = []
for case in json.loads(sys.argv[2]):
    histories = {int(timeline): text for timeline, text in case.get("histories", {}).items()}
    after = it.position(case["after"]) if "after" in case else None
    found.append(it.examine(it.whole_segments(case["paths"]), histories, case["first"], case.get("timeline"), after))
try:
    found.append(it.examine([], {}, "000000010000000000000002", 2))
except ValueError as error:
    found.append(str(error))
found.append([
    it.first_missing(it.examine(it.whole_segments(paths), {}, "000000010000000000000002"), "000000010000000000000002", "000000010000000000000004")
    for paths in json.loads(sys.argv[3])
])
found.append(it.history_paths(["00000002.history", "0000000A.history", "archive.info", "0000000100000000/x"]))
print(json.dumps(found))
`;

let found: unknown[];

beforeAll(async () => {
  const input = JSON.stringify(Object.values(cases).map((each) => ({ first: name(1, 2), ...each })));
  found = JSON.parse(await run("python3", ["-ISBc", program, join(import.meta.dirname), input, JSON.stringify(Object.values(upToFour))]));
});

test.each(Object.entries(cases).map(([what, expected], index) => ({ what, expected, index })))(
  "a restore from an archive: $what",
  ({ expected, index }) => {
    expect(found[index]).toEqual([expected.newest, expected.gaps ?? [], expected.on ?? 1]);
  },
);

test("the first missing segment on the way from the second to the fourth is named, also where nothing is there after it", () => {
  expect(found.at(-2)).toEqual(Object.keys(upToFour).map((each) => (each === "none" ? null : each)));
});

test("a timeline whose history is not there can't be followed", () => {
  expect(found.at(-3)).toBe("the history of timeline 2 does not go through timeline 1");
});

test("histories are found by the number of their timeline", () => {
  expect(found.at(-1)).toEqual({ 2: "00000002.history", 10: "0000000A.history" });
});
