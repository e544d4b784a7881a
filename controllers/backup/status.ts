// The status of a Backup: a value that is computed once, from how the Backup stands.
import type { BackupStatus } from "../../api/backup.ts";
import { conditionTypes } from "../../api/conditions.ts";
import { reasons } from "../../api/reasons.ts";
import { type ConditionNow, conditionsNow, secondsOnly } from "../../runtime/controller/conditions.ts";
import { type Archived, toldPlaceOf } from "../desired/store.ts";
import type { Backup } from "../kinds/sampledb-io.ts";
import type { RunProgress } from "../repository/run-progress.ts";
import type { RunSuccess } from "./run-end.ts";
import type { BackupState } from "./state.ts";

export interface StatusInputs {
  readonly backup: Backup;
  readonly state: BackupState;
  /** The SampleDB while there is one with a repository, and the stanza of its archive now. */
  readonly source: { readonly db: Archived; readonly stanza: string } | undefined;
  readonly now: () => Date;
}

/** Told in steps, so that a long backup does not write its status all the time. */
const percentStep = 5;

export function computeStatus({ backup, state, source, now }: StatusInputs): BackupStatus {
  const before = backup.status;
  const { generation } = backup.metadata;
  const isOver = state.kind === "succeeded" || state.kind === "failed";
  const startTime = before?.startTime ?? (state.kind === "waiting" || state.kind === "failed" ? undefined : secondsOnly(now()));
  const completionTime = isOver ? (before?.completionTime ?? secondsOnly(now())) : undefined;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    conditions: conditionsNow(before?.conditions, [conditionOf(state)], generation, now),
    ...(startTime === undefined ? {} : { startTime }),
    ...progressOf(before, state),
    ...(completionTime === undefined ? {} : { completionTime }),
    ...(startTime !== undefined && completionTime !== undefined
      ? { durationSeconds: Math.max(0, Math.round((Date.parse(completionTime) - Date.parse(startTime)) / 1000)) }
      : {}),
    ...(state.kind === "succeeded" ? resultOf(state.end) : {}),
    ...(startTime === undefined ? {} : placeOf(before, source)),
  };
}

function conditionOf(state: BackupState): ConditionNow {
  const type = conditionTypes.succeeded;
  switch (state.kind) {
    case "waiting":
    case "running":
      return { type, status: "Unknown", reason: state.reason, message: state.message };
    case "failed":
      return { type, status: "False", reason: state.reason, message: state.message };
    case "succeeded":
      return {
        type,
        status: "True",
        reason: reasons.backupSucceeded,
        message: `${state.end.label} is in the repository, and all of it was checked`,
      };
  }
}

function progressOf(before: BackupStatus | undefined, state: BackupState): Pick<BackupStatus, "progress"> {
  if (state.kind === "succeeded") return { progress: { percent: 100 } };
  if (state.kind !== "running" || state.progress === undefined) return before?.progress ? { progress: before.progress } : {};
  return { progress: inSteps(before?.progress, state.progress) };
}

function inSteps(before: BackupStatus["progress"], { phase, percent = 0, bytesDone, bytesTotal }: RunProgress): BackupStatus["progress"] {
  const step = phase === "Verifying" ? 100 : Math.floor(percent / percentStep) * percentStep;
  if (before?.percent === step) return before;
  return {
    percent: step,
    ...(bytesDone === undefined ? {} : { copiedBytes: bytesDone }),
    ...(bytesTotal === undefined ? {} : { totalBytes: bytesTotal }),
  };
}

function resultOf(end: RunSuccess): Partial<BackupStatus> {
  const { outcome, type, startTime, stopTime, source, verification, ...result } = end;
  const seconds = end.copySeconds ?? 0;
  return {
    ...result,
    ...(source === undefined ? {} : { sourcePodName: source.split(".")[0] ?? source }),
    ...(seconds > 0 ? { bytesPerSecond: Math.round(end.copiedBytes / seconds) } : {}),
    consistentTime: stopTime,
    verification,
  };
}

/** As it was when the backup began: a SampleDB that is changed or deleted meanwhile changes nothing of it. */
function placeOf(before: BackupStatus | undefined, source: StatusInputs["source"]): Pick<BackupStatus, "repository" | "sampleDBSpec"> {
  if (before?.repository) {
    const { repository, sampleDBSpec } = before;
    return { repository, ...(sampleDBSpec ? { sampleDBSpec } : {}) };
  }
  if (!source) return {};
  const { db, stanza } = source;
  return { repository: { stanza, ...toldPlaceOf(db) }, sampleDBSpec: { ...db.spec } };
}
