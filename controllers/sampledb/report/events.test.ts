import { expect, test } from "vitest";
import type { SampleDBStatus } from "../../../api/sampledb-status.ts";
import { eventsBetween } from "./events.ts";

const time = "2026-01-01T00:00:00Z";
const condition = (type: string, status: "True" | "False", reason = "Because", message = "why") => ({
  ...{ type, status, reason, message, lastTransitionTime: time },
});
const ready = (status: "True" | "False", reason?: string): SampleDBStatus => ({ conditions: [condition("Ready", status, reason)] });
const initialized = (status: "True" | "False"): SampleDBStatus => ({ conditions: [condition("Initialized", status)] });
const wal = (status: "True" | "False", reason: string): SampleDBStatus => ({ conditions: [condition("WALComplete", status, reason)] });
const led = (primaryPodName: string): SampleDBStatus => ({ primaryPodName });
const blocked = (message: string, sinceTime = time): SampleDBStatus => ({
  blockers: [{ reason: "Full", message, remedy: "grow", sinceTime }],
});

test.each<[string, SampleDBStatus | undefined, SampleDBStatus, string[]]>([
  ["no Event when nothing happened", ready("True"), ready("True"), []],
  ["an Event when a SampleDB becomes Ready", ready("False"), ready("True"), ["Normal Ready why"]],
  ["an Event when a SampleDB is Ready in its first status", undefined, ready("True"), ["Normal Ready why"]],
  ["a Warning when a SampleDB is no longer Ready", ready("True"), ready("False", "NoPrimary"), ["Warning NotReady NoPrimary: why"]],
  ["no Event when a new SampleDB is not Ready yet", undefined, ready("False"), []],
  ["no Event when only the reason for not being Ready changes", ready("False", "A"), ready("False", "B"), []],
  ["an Event for the first primary", undefined, led("orders-0"), ["Normal PrimaryChanged orders-0 is the primary"]],
  [
    "an Event for another primary",
    led("orders-0"),
    led("orders-1"),
    ["Normal PrimaryChanged orders-1 is the primary now; before it was orders-0"],
  ],
  ["an Event when nothing is missing any more", wal("False", "ArchiveGap"), wal("True", "ArchiveComplete"), ["Normal ArchiveComplete why"]],
  ["an Event when a backup follows the gap", wal("False", "ArchiveGap"), wal("False", "ArchiveGapPassed"), ["Normal ArchiveComplete why"]],
  ["no Event when the Backups before a gap are gone", wal("False", "ArchiveGapPassed"), wal("True", "ArchiveComplete"), []],
  ["no Event for the same primary", led("orders-0"), led("orders-0"), []],
  ["no Event when there is no primary any more", led("orders-0"), {}, []],
  ["an Event when a SampleDB becomes Initialized", initialized("False"), initialized("True"), ["Normal Initialized why"]],
  ["no Event when a SampleDB was Initialized before", initialized("True"), initialized("True"), []],
  ["a Warning for a new blocker", undefined, blocked("disk"), ["Warning Full disk. Way out: grow"]],
  ["no Event for a blocker that is still there", blocked("disk"), blocked("disk", "2027-01-01T00:00:00Z"), []],
  ["a Warning for a blocker with another message", blocked("disk"), blocked("other"), ["Warning Full other. Way out: grow"]],
  ["no Event for a blocker that is gone", blocked("disk"), {}, []],
])("%s", (_, before, now, expected) => {
  expect(eventsBetween(before, now).map(({ type, reason, note }) => `${type} ${reason} ${note}`)).toEqual(expected);
});
