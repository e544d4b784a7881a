// How a Restore stands, as a value: the status is computed from it.
import type { ConditionReason, EventReason } from "../../api/reasons.ts";
import type { RunProgress } from "../repository/run-progress.ts";
import type { RestoreSuccess } from "./run-end.ts";

export type EndReason = ConditionReason & EventReason;

export type RestoreState =
  | { readonly kind: "waiting"; readonly reason: ConditionReason; readonly message: string }
  | { readonly kind: "running"; readonly reason: ConditionReason; readonly message: string; readonly progress?: RunProgress | undefined }
  /** The repository is asked what it has. Nothing is made yet but the Job that asks. */
  | { readonly kind: "looking"; readonly message: string }
  /** The spec that the new SampleDB is made from, as it was found there. */
  | { readonly kind: "looked"; readonly sampleDBSpec: Record<string, unknown> }
  /** The data is whole and clean. From here on nothing is undone. */
  | { readonly kind: "filled"; readonly end: RestoreSuccess }
  | { readonly kind: "starting"; readonly message: string; readonly firstBackupName: string | undefined }
  | { readonly kind: "succeeded"; readonly firstBackupName: string | undefined }
  | { readonly kind: "failed"; readonly reason: EndReason; readonly message: string };

export const waiting = (reason: ConditionReason, message: string) => ({ kind: "waiting", reason, message }) as const;
export const failed = (reason: EndReason, message: string) => ({ kind: "failed", reason, message }) as const;
