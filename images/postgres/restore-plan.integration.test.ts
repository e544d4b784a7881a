// From which backup a restore goes, along which segments, and what it refuses before a byte is written.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { run } from "../../tools/command.ts";

const checksum = "0123456789abcdef0123456789abcdef01234567";
const name = (timeline: number, number: number) =>
  [timeline, 0, number].map((each) => each.toString(16).toUpperCase().padStart(8, "0")).join("");
const at = (minute: number) => Date.UTC(2026, 10, 18, 2, minute) / 1000;

/** Segments of one timeline. Segment 7 has reached the archive at seven minutes past two. */
const stored = (timeline: number, ...numbers: readonly number[]) =>
  Object.fromEntries(
    numbers.map((number) => [
      `0000000${timeline}00000000/${name(timeline, number)}-${checksum}.zst`,
      { type: "file", size: 1, time: at(number) },
    ]),
  );

/** A backup within one segment, which has ended 30 s before that one reached the archive. */
const backup = (label: string, timeline: number, number: number, more: object = {}) => ({
  label,
  error: false,
  annotation: { "sampledb-verified": "2026-11-18T02:00:00Z" },
  archive: { start: name(timeline, number), stop: name(timeline, number) },
  lsn: { start: `0/${number}000028`, stop: `0/${number}000100` },
  timestamp: { start: at(number) - 40, stop: at(number) - 30 },
  ...more,
});

/** Timeline 2 begins in segment 5. */
const history = { 2: "1\t0/5000A00\tno recovery target specified\n" };
const one = { backups: [backup("first", 1, 2), backup("second", 1, 4)], files: stored(1, 2, 3, 4, 5, 6) };
const switched = { backups: one.backups, files: { ...stored(1, 2, 3, 4), ...stored(2, 5, 6) }, histories: history };
/** The new timeline has no whole segment yet; the former primary's last one came later. */
const switching = { backups: one.backups, files: stored(1, 2, 3, 4, 5), histories: history };
const gap = { backups: one.backups, files: stored(1, 2, 3, 5, 6) };
const late = { backups: one.backups, files: stored(1, 2, 3, 4, 5, 8, 9) };

interface Case {
  readonly of: { backups: readonly object[]; files: object; histories?: object };
  readonly label?: string;
  readonly target: object;
  readonly gives:
    | { backup?: string; last: string; timeline?: number; settings?: object; mayEndBefore?: boolean }
    | { reason: string; message: string };
}

const justBegun =
  "timeline 2 has no segment in the archive yet, as right after a failover: try again in a minute, or ask for Latest or for an LSN up to 0/5000A00";
const time = (value: string) => ({ type: "Time", value });
const cases: Readonly<Record<string, Case>> = {
  "Latest goes from the newest backup to the last segment": {
    of: one,
    target: { type: "Latest" },
    gives: { backup: "second", last: name(1, 6), settings: {}, mayEndBefore: true },
  },
  "a backup that was never found good is not chosen": {
    of: { ...one, backups: [backup("first", 1, 2), backup("second", 1, 4, { annotation: null })] },
    target: { type: "Latest" },
    gives: { backup: "first", last: name(1, 6) },
  },
  "a backup that was never found good is used where it is named": {
    of: { ...one, backups: [backup("first", 1, 2), backup("second", 1, 4, { annotation: null })] },
    label: "second",
    target: { type: "Latest" },
    gives: { backup: "second", last: name(1, 6) },
  },
  "a backup with a damaged page is never used": {
    of: { ...one, backups: [backup("first", 1, 2, { error: true })] },
    label: "first",
    target: { type: "Latest" },
    gives: { reason: "BackupMissing", message: "the repository has no good backup first" },
  },
  "a time goes from the newest backup that has ended a second before": {
    of: one,
    target: time("2026-11-18T02:03:31Z"),
    gives: { backup: "second", last: name(1, 6), settings: { recovery_target_time: "2026-11-18 02:03:31.000000+00" }, mayEndBefore: true },
  },
  "a time within the last second of a backup goes from the one before": {
    of: one,
    target: time("2026-11-18T04:03:30.999999999+02:00"),
    gives: { backup: "first", last: name(1, 6), settings: { recovery_target_time: "2026-11-18 02:03:30.999999+00" } },
  },
  "a time before all backups": {
    of: one,
    target: time("2026-11-18T02:01:30Z"),
    gives: {
      reason: "TargetOutsideWindow",
      message: "2026-11-18T02:01:30Z can't be restored: from 2026-11-18T02:01:31Z to 2026-11-18T02:06:00Z can",
    },
  },
  "a time after the last segment": {
    of: one,
    target: time("2026-11-18T02:06:01Z"),
    gives: {
      reason: "TargetOutsideWindow",
      message: "2026-11-18T02:06:01Z can't be restored: from 2026-11-18T02:01:31Z to 2026-11-18T02:06:00Z can",
    },
  },
  "the place where a backup has ended goes from that one": {
    of: one,
    target: { type: "LSN", value: "0/4000100" },
    gives: { backup: "second", last: name(1, 6), settings: { recovery_target_lsn: "0/4000100" } },
  },
  "a place before that goes from the one before": {
    of: one,
    target: { type: "LSN", value: "0/40000FF" },
    gives: { backup: "first", last: name(1, 6), settings: { recovery_target_lsn: "0/40000FF" } },
  },
  "a restore point is looked for from the oldest backup on": {
    of: one,
    target: { type: "RestorePoint", value: "here" },
    gives: { backup: "first", last: name(1, 6), settings: { recovery_target_name: "here" }, mayEndBefore: false },
  },
  "a restore point is looked for from the oldest backup behind a gap on": {
    of: { backups: [backup("first", 1, 2), backup("second", 1, 5)], files: stored(1, 2, 3, 5, 6) },
    target: { type: "RestorePoint", value: "here" },
    gives: { backup: "second", last: name(1, 6) },
  },
  "a transaction has 32 bits in the log": {
    of: one,
    target: { type: "TransactionID", value: "30064771814" },
    gives: { backup: "first", last: name(1, 6), settings: { recovery_target_xid: "742" } },
  },
  "Immediate stays on the backup's timeline": {
    of: { ...switched, backups: [backup("first", 1, 2)] },
    target: { type: "Immediate" },
    gives: { backup: "first", last: name(1, 4), timeline: 1, settings: { recovery_target: "immediate" }, mayEndBefore: false },
  },
  "Latest follows the newest timeline": {
    of: switched,
    target: { type: "Latest" },
    gives: { backup: "second", last: name(2, 6), timeline: 2 },
  },
  "a timeline that was left ends where it was left": {
    of: switched,
    target: { type: "Latest", timeline: 1 },
    gives: { backup: "second", last: name(1, 4), timeline: 1 },
  },
  "a backup that has ended after its timeline was left leads to no other": {
    of: { ...switched, backups: [backup("first", 1, 2), backup("late", 1, 5, { lsn: { start: "0/5000B28", stop: "0/5000C00" } })] },
    target: { type: "Latest", timeline: 2 },
    gives: { backup: "first", last: name(2, 6), timeline: 2 },
  },
  "a backup that has ended after its timeline was left is not chosen": {
    of: { ...switched, backups: [backup("first", 1, 2), backup("late", 1, 5, { lsn: { start: "0/5000B28", stop: "0/5000C00" } })] },
    target: { type: "Latest" },
    gives: { backup: "first", last: name(2, 6), timeline: 2 },
  },
  "a backup that has ended after its timeline was left is used where it is named": {
    of: {
      ...switched,
      backups: [backup("late", 1, 5, { lsn: { start: "0/5000B28", stop: "0/5000C00" } })],
      files: { ...switched.files, ...stored(1, 5) },
    },
    label: "late",
    target: { type: "Latest" },
    gives: { backup: "late", last: name(1, 5), timeline: 1 },
  },
  "no backup leads to the newest timeline": {
    of: { ...switched, backups: [backup("late", 1, 5, { lsn: { start: "0/5000B28", stop: "0/5000C00" } })] },
    target: { type: "Latest" },
    gives: { reason: "TargetNotFound", message: "no backup leads to timeline 2 of this archive" },
  },
  "a timeline without a history": {
    of: one,
    target: { type: "Latest", timeline: 2 },
    gives: { reason: "TargetNotFound", message: "no backup leads to timeline 2 of this archive" },
  },
  "a timeline that has just begun: not beyond the place where the former one was left": {
    of: switching,
    target: { type: "Latest" },
    gives: {
      backup: "second",
      last: name(1, 5),
      timeline: 2,
      settings: { recovery_target_lsn: "0/5000A00", recovery_target_inclusive: "off" },
    },
  },
  "a timeline that has just begun: a time goes without the segment in which the former one was left": {
    of: switching,
    target: time("2026-11-18T02:04:00Z"),
    gives: { backup: "second", last: name(1, 4), timeline: 2, mayEndBefore: false },
  },
  "a timeline that has just begun: a time that may be in the segment in which the former one was left": {
    of: switching,
    target: time("2026-11-18T02:04:30Z"),
    gives: { reason: "TargetOutsideWindow", message: justBegun },
  },
  "a timeline that has just begun: a time after a backup that ended in the segment in which the former one was left": {
    of: { ...switching, backups: [...one.backups, backup("third", 1, 5)] },
    target: time("2026-11-18T02:04:40Z"),
    gives: { reason: "TargetOutsideWindow", message: justBegun },
  },
  "a timeline that has just begun: a place in the segment in which the former one was left": {
    of: switching,
    target: { type: "LSN", value: "0/5000800" },
    gives: {
      backup: "second",
      last: name(1, 5),
      timeline: 2,
      settings: { recovery_target_lsn: "0/5000801", recovery_target_inclusive: "off" },
    },
  },
  "a timeline that has just begun: the place where the former one was left, and nothing that it had after that": {
    of: switching,
    target: { type: "LSN", value: "0/5000A00" },
    gives: { last: name(1, 5), settings: { recovery_target_lsn: "0/5000A00", recovery_target_inclusive: "off" } },
  },
  "a timeline that has just begun: a place behind the one where the former timeline was left": {
    of: switching,
    target: { type: "LSN", value: "0/5000A01" },
    gives: { reason: "TargetOutsideWindow", message: "0/5000A01 can't be restored: from 0/2000100 to 0/5000A00 can" },
  },
  "a timeline that has just begun, and a segment before it is missing": {
    of: { ...switching, backups: [backup("first", 1, 2)], files: stored(1, 2, 3) },
    target: { type: "Latest" },
    gives: {
      reason: "TargetAcrossGap",
      message: `segment ${name(1, 4)} is missing: from backup first nothing after 2026-11-18T02:03:00Z can be restored`,
    },
  },
  "a gap behind the newest backup": {
    of: late,
    target: { type: "Latest" },
    gives: {
      reason: "TargetAcrossGap",
      message: `segment ${name(1, 6)} and 1 more are missing: from backup second nothing after 2026-11-18T02:05:00Z can be restored`,
    },
  },
  "a time behind a gap": {
    of: late,
    target: time("2026-11-18T02:08:30Z"),
    gives: {
      reason: "TargetAcrossGap",
      message: `segment ${name(1, 6)} and 1 more are missing: from backup second nothing after 2026-11-18T02:05:00Z can be restored`,
    },
  },
  "a time before a gap: nobody knows whether a commit came between": {
    of: late,
    target: time("2026-11-18T02:04:59Z"),
    gives: { backup: "second", last: name(1, 5), mayEndBefore: false },
  },
  "a segment of the backup itself is missing": {
    of: gap,
    target: { type: "Latest" },
    gives: { reason: "TargetAcrossGap", message: `segment ${name(1, 4)} is missing, without which the backup second is not consistent` },
  },
  "no backup at all": {
    of: { ...one, backups: [] },
    target: { type: "Latest" },
    gives: { reason: "BackupMissing", message: "the repository has no good backup" },
  },
};

const program = `
import json, sys
sys.path.insert(0, sys.argv[1])
import restore_plan as it
found = []
for case in json.loads(sys.argv[2]):
    histories = {int(timeline): text for timeline, text in case["of"].get("histories", {}).items()}
    archive = it.Archive(case["of"]["files"], histories)
    try:
        plan = it.plan({"backup": case["of"]["backups"]}, archive, case.get("label"), case["target"])
        way = plan.way
        settings = dict(plan.settings)
        assert settings.pop("recovery_target_timeline") == str(way.timeline)
        assert way.segments[0] == way.backup["archive"]["start"]
        numbers = [int(name[8:], 16) for name in way.segments]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), numbers
        found.append({"backup": way.backup["label"], "last": way.segments[-1], "timeline": way.timeline, "settings": settings, "mayEndBefore": plan.may_end_before})
    except it.Fault as fault:
        found.append({"reason": fault.reason, "message": fault.message})
print(json.dumps(found))
`;

const endProgram = `
import json, sys
sys.path.insert(0, sys.argv[1])
import restore_end as end, restore_plan as it
case = json.loads(sys.argv[2])
backups = case["of"]["backups"]
histories = {int(timeline): text for timeline, text in case["of"].get("histories", {}).items()}
way = it.plan({"backup": backups}, it.Archive(case["of"]["files"], histories), case.get("label"), {"type": "Latest"}).way
try:
    end.refuse_lost_commits(case["asked"], end.known_until(way, backups, case.get("lastCommit")))
    print("null")
except it.Fault as fault:
    assert fault.reason == "TargetOutsideWindow"
    print(json.dumps(fault.message))
`;

let found: unknown[];

beforeAll(async () => {
  found = JSON.parse(await run("python3", ["-ISBc", program, join(import.meta.dirname), JSON.stringify(Object.values(cases))]));
});

test.each(Object.entries(cases).map(([what, { gives }], index) => ({ what, gives, index })))(
  "what a restore does: $what",
  ({ gives, index }) => {
    expect(found[index]).toEqual("reason" in gives ? gives : { ...(found[index] as object), ...gives });
  },
);

describe("a time after the last commit in the archive, however late its last segment came", () => {
  const lost = (moment: string) =>
    `the last commit or backup in the archive is of ${moment}, and later commits may be missing. Choose a time up to that, or Latest, which gives all that is there`;
  const ends: readonly { what: string; of: object; label?: string; lastCommit?: string; asked: string; lost?: string }[] = [
    { what: "is restored within two minutes", of: one, lastCommit: "2026-11-18 02:05:00.25+00", asked: "2026-11-18T02:07:00.25Z" },
    {
      what: "is refused later: a commit may be missing",
      of: one,
      lastCommit: "2026-11-18 02:05:00.25+00",
      asked: "2026-11-18T02:07:00.251Z",
      lost: "2026-11-18T02:05:00.250000Z",
    },
    { what: "is restored within two minutes of a backup without a commit", of: one, asked: "2026-11-18T02:05:31Z" },
    {
      what: "is restored where a later backup has ended without a commit",
      of: one,
      label: "first",
      lastCommit: "2026-11-18 02:01:45+00",
      asked: "2026-11-18T02:05:31Z",
    },
    {
      what: "is refused where nothing came after a backup",
      of: one,
      asked: "2026-11-18T02:05:32Z",
      lost: "2026-11-18T02:03:31.000000Z",
    },
    {
      what: "is refused where a later backup is none of this timeline",
      of: { ...switched, backups: [...one.backups, backup("late", 1, 5, { lsn: { start: "0/5000B28", stop: "0/5000C00" } })] },
      asked: "2026-11-18T02:05:40Z",
      lost: "2026-11-18T02:03:31.000000Z",
    },
  ];

  test.each(ends)("$what", async ({ of, label, lastCommit, asked, lost: known }) => {
    const told = await run("python3", ["-ISBc", endProgram, join(import.meta.dirname), JSON.stringify({ of, label, lastCommit, asked })]);
    expect(JSON.parse(told)).toEqual(known === undefined ? null : `${asked} can't be restored: ${lost(known)}`);
  });
});
