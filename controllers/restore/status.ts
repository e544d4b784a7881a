// The status of a Restore: a value that is computed once, from how the Restore stands.
import { conditionTypes } from "../../api/conditions.ts";
import { reasons } from "../../api/reasons.ts";
import type { RestoreStatus } from "../../api/restore.ts";
import { type ConditionNow, conditionsNow, secondsOnly } from "../../runtime/controller/conditions.ts";
import type { Restore } from "../kinds/sampledb-io.ts";
import { phases } from "../repository/run-progress.ts";
import type { RestoreState } from "./state.ts";

/** Told in steps, so that a long restore does not write its status all the time. */
const percentStep = 5;

export function computeStatus(
  { metadata: { generation }, spec: { destination }, status: before = {} }: Restore,
  state: RestoreState,
  now: () => Date,
): RestoreStatus {
  const { conditions, completionTime: _, ...kept } = before;
  const isOver = state.kind === "succeeded" || state.kind === "failed";
  const isInPlace = destination.type === "InPlace";
  const hasBegun = !notBegun.includes(state.kind);
  return {
    ...kept,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    conditions: conditionsNow(conditions, [conditionNow(state, before)], generation, now),
    ...(hasBegun ? { startTime: before.startTime ?? secondsOnly(now()) } : {}),
    ...(isOver ? { completionTime: before.completionTime ?? secondsOnly(now()) } : {}),
    ...progressOf(state),
    ...resultOf(state),
    ...(state.kind === "overwriting" ? { overwriteTime: before.overwriteTime ?? secondsOnly(now()) } : {}),
    ...(state.kind === "failed" && isInPlace ? { dataUntouched: state.untouched === true } : {}),
  };
}

const notBegun: readonly RestoreState["kind"][] = ["waiting", "looking", "looked", "failed"];

function conditionNow(state: RestoreState, { recoveredToTime, recoveredToLSN, note }: RestoreStatus): ConditionNow {
  const type = conditionTypes.succeeded;
  switch (state.kind) {
    case "waiting":
    case "running":
      return { type, status: "Unknown", reason: state.reason, message: state.message };
    case "looking":
      return { type, status: "Unknown", reason: reasons.runPreparing, message: state.message };
    case "looked":
      return { type, status: "Unknown", reason: reasons.runPreparing, message: "the repository has a backup for the target" };
    case "securing":
      return { type, status: "Unknown", reason: reasons.restoreSecuring, message: state.message };
    case "overwriting":
      return { type, status: "Unknown", ...phases.Preparing };
    case "filled":
      return { type, status: "Unknown", reason: reasons.restoreStarting, message: "the data is whole; the SampleDB starts with it next" };
    case "starting":
      return { type, status: "Unknown", reason: reasons.restoreStarting, message: state.message };
    case "failed":
      return { type, status: "False", reason: state.reason, message: state.message };
    case "succeeded": {
      const time = recoveredToTime === undefined ? "" : `, the last transaction is of ${recoveredToTime}`;
      const words = note === undefined ? "" : `; ${note}`;
      return { type, status: "True", reason: reasons.restoreSucceeded, message: `it serves; ${recoveredToLSN} was reached${time}${words}` };
    }
  }
}

function progressOf(state: RestoreState): Pick<RestoreStatus, "progressPercent"> {
  if (state.kind !== "running" || state.progress === undefined) return {};
  const { phase, percent = 0 } = state.progress;
  if (phase === "Preparing") return {};
  return { progressPercent: phase === "Copying" ? Math.floor(percent / percentStep) * percentStep : 100 };
}

function resultOf(state: RestoreState): Partial<RestoreStatus> {
  if (state.kind === "starting" || state.kind === "succeeded")
    return state.firstBackupName === undefined ? {} : { firstBackupName: state.firstBackupName };
  if (state.kind === "securing") return { safetyBackupName: state.safetyBackupName };
  if (state.kind === "looked") return { sampleDBSpec: state.sampleDBSpec };
  if (state.kind !== "filled") return {};
  const { label, reachedTime, reachedLSN, timeline, systemIdentifier, note } = state.end;
  return {
    backupLabel: label,
    ...(reachedTime === undefined ? {} : { recoveredToTime: reachedTime }),
    recoveredToLSN: reachedLSN,
    timeline,
    systemIdentifier,
    ...(note === undefined ? {} : { note }),
  };
}
