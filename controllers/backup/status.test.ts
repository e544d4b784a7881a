import { expect, test } from "vitest";
import { backupStatus } from "../../api/backup.ts";
import { reasons } from "../../api/reasons.ts";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import type { Archived } from "../desired/store.ts";
import { backup, succeeded } from "./backup.fixture.ts";
import type { RunSuccess } from "./run-end.ts";
import type { BackupState } from "./state.ts";
import { computeStatus, type StatusInputs } from "./status.ts";

const now = () => new Date("2026-05-04T12:01:00Z");
const source = { db: sampleDB({ backup: {} }) as Archived, stanza: "uid-17-1" };
const copying = (percent: number, bytesDone: number): BackupState => ({
  ...{ kind: "running", reason: reasons.runCopying, message: "" },
  progress: { phase: "Copying", percent, bytesDone, bytesTotal: 1000 },
});
const status = (state: BackupState, before?: StatusInputs["backup"]["status"]) =>
  computeStatus({ backup: backup("nightly", before ? { status: before } : {}), state, source, now });

test("a Backup that waits has no time of its beginning, and says for what it waits", () => {
  const told = status({ kind: "waiting", reason: reasons.backupWaits, message: "it waits for Backup first" });
  expect(told).toMatchObject({ conditions: [{ type: "Succeeded", status: "Unknown", reason: "BackupWaits" }] });
  expect(told.startTime).toBeUndefined();
});

test("a Backup that runs says since when, where it goes to, and from which spec it is made", () => {
  const told = status(copying(42, 420));
  expect(told).toMatchObject({
    startTime: "2026-05-04T12:01:00Z",
    progress: { percent: 40, copiedBytes: 420, totalBytes: 1000 },
    repository: { stanza: "uid-17-1", volumeClaimName: "orders-repository" },
    sampleDBSpec: { postgresVersion: 17 },
  });
});

test("progress is told in steps of five percent", () => {
  const first = status(copying(41, 410));
  expect(status(copying(44, 440), first).progress).toEqual(first.progress);
  expect(status(copying(46, 460), first).progress).toMatchObject({ percent: 45, copiedBytes: 460 });
});

test("a Backup that succeeded tells size, time and place, and the API server would store it", () => {
  const begun = { ...status(copying(10, 100)), startTime: "2026-05-04T12:00:05Z" };
  const told = status({ kind: "succeeded", end: succeeded as RunSuccess }, begun);
  expect(told).toMatchObject({
    conditions: [{ status: "True", reason: "BackupSucceeded" }],
    durationSeconds: 55,
    bytesPerSecond: 2_000_000,
    label: "20260504-120000F",
    sourcePodName: "orders-1",
    consistentTime: "2026-05-04T12:00:20Z",
    systemIdentifier: "7550000000000000001",
    verification: { walComplete: true, checksumsGood: true },
    repository: { stanza: "uid-17-1" },
  });
  expect(backupStatus.strict().parse(told)).toEqual(told);
});

test("a Backup that failed keeps what was known, and says why", () => {
  const told = status({ kind: "failed", reason: reasons.segmentMissing, message: "no 02" }, status(copying(10, 100)));
  expect(told).toMatchObject({ conditions: [{ status: "False", reason: "SegmentMissing", message: "no 02" }], progress: { percent: 10 } });
  expect(told.label).toBeUndefined();
});
