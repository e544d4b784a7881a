import { describe, expect, test } from "vitest";
import type { Condition } from "../../../api/conditions.ts";
import type { RecoveryWindow } from "../../repository/answers.ts";
import { walBlocker, walVerdict } from "./wal-complete.ts";

const gap = (number: number, count = 1) => ({
  first: `00000001000000000000000${number}`,
  last: `00000001000000000000000${number + count - 1}`,
  count,
  before: `2026-05-04T0${number}:00:00Z`,
});
const window = (told: Partial<RecoveryWindow> = {}): RecoveryWindow => ({
  at: "2026-05-04T12:00:00Z",
  complete: true,
  timeline: 1,
  backupCount: 1,
  oldest: { label: "20260504-000000F", at: "2026-05-04T00:10:00Z" },
  first: { label: "20260504-000000F", at: "2026-05-04T00:10:00Z" },
  last: { name: "000000010000000000000004", at: "2026-05-04T04:00:00Z" },
  gaps: [],
  gapCount: 0,
  ...told,
});
const next = { label: "20260504-080000F", at: "2026-05-04T08:10:00Z" };
const { oldest: _, first: __, last: ___, ...nowhere } = window({ complete: false });
const { timeline: ____, ...without } = nowhere;

test.each<[string, RecoveryWindow | undefined, string, string, RegExp, boolean]>([
  ["nobody has looked", undefined, "Unknown", "ArchiveUnlisted", /has not listed its archive yet/, false],
  [
    "the store refuses to list",
    { complete: false, backupCount: 0, gaps: [], gapCount: 0, failure: { reason: "StoreDenied", message: "403", at: "" } },
    ...(["Unknown", "ArchiveUnlisted", /can't list its archive: StoreDenied$/, false] as const),
  ],
  ["there is no good backup", { ...without, backupCount: 0 }, "Unknown", "NoBackupYet", /nothing can be restored/, false],
  [
    "no backup leads to the newest timeline",
    { ...nowhere, backupCount: 0, timeline: 3 },
    ...(["False", "ArchiveGap", /no good backup leads to timeline 3/, true] as const),
  ],
  ["nothing is missing", window(), "True", "ArchiveComplete", /^every moment from firstRecoverableTime/, false],
  [
    "a segment is missing after the last backup",
    window({ complete: false, gaps: [gap(5)], gapCount: 1 }),
    "False",
    "ArchiveGap",
    /^segment 000000010000000000000005 is missing in the archive\. From 2026-05-04T00:10:00Z to 2026-05-04T04:00:00Z can be restored, and nothing later until there is a full backup$/,
    true,
  ],
  [
    "several are, and a gap before",
    window({ complete: false, gaps: [gap(2), gap(5, 3)], gapCount: 2 }),
    ...(["False", "ArchiveGap", /^the 3 segments from 0{7}10{15}5 to 0{7}10{15}7 are missing.*, and there are 1 more gaps/, true] as const),
  ],
  [
    "a segment of the only backup itself is missing",
    { ...nowhere, gaps: [gap(5)], gapCount: 1 },
    ...(["False", "ArchiveGap", /Nothing can be restored from this archive/, true] as const),
  ],
  [
    "a backup was made after the gap",
    window({ first: next, gaps: [gap(5)], gapCount: 1 }),
    "False",
    "ArchiveGapPassed",
    /Every moment from 2026-05-04T08:10:00Z to now can be restored; .* From 2026-05-04T00:10:00Z to 2026-05-04T05:00:00Z can be restored up to the gap/,
    false,
  ],
])("when %s", (_, told, status, reason, message, blocks) => {
  const verdict = walVerdict(told, undefined);
  expect(verdict).toMatchObject({ status, reason, message: expect.stringMatching(message) });
  expect(walBlocker(verdict)?.reason).toBe(blocks ? "ArchiveGap" : undefined);
});

describe("converged means quiet", () => {
  const before: Condition = {
    type: "WALComplete",
    status: "True",
    reason: "ArchiveComplete",
    message: "as before",
    lastTransitionTime: "",
  };

  test("the message does not move with the archive", () => {
    const later = window({ at: "2026-05-04T12:05:00Z", last: { name: "000000010000000000000009", at: "2026-05-04T12:04:00Z" } });
    expect(walVerdict(later, undefined)).toEqual(walVerdict(window(), undefined));
  });

  test.each([
    ["nobody has looked since a restart", undefined],
    ["something is missing since just now", { ...nowhere, backupCount: 1 }],
  ])("what was told stays while %s", (_, told) => {
    expect(walVerdict(told, before)).toMatchObject({ message: "as before" });
  });
});
