// How a Backup stands, as a value: the status is computed from it.
import type { ConditionReason, EventReason } from "../../api/reasons.ts";
import type { RunProgress } from "../repository/run-progress.ts";
import type { RunSuccess } from "./run-end.ts";

export type EndReason = ConditionReason & EventReason;

export type BackupState =
  /** Its Job is not made yet. */
  | { readonly kind: "waiting"; readonly reason: ConditionReason; readonly message: string }
  | { readonly kind: "running"; readonly reason: ConditionReason; readonly message: string; readonly progress?: RunProgress | undefined }
  | { readonly kind: "succeeded"; readonly end: RunSuccess }
  | { readonly kind: "failed"; readonly reason: EndReason; readonly message: string };

export const waiting = (reason: ConditionReason, message: string): BackupState => ({ kind: "waiting", reason, message });
export const failed = (reason: EndReason, message: string): BackupState => ({ kind: "failed", reason, message });
