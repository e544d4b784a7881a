// How a Restore stands, as a value: the status is computed from it.
import type { ConditionReason, EventReason } from "../../api/reasons.ts";
import type { RunProgress } from "../repository/run-progress.ts";
import type { RestoreSuccess } from "./run-end.ts";

export type EndReason = ConditionReason & EventReason;

export interface Failed {
  readonly kind: "failed";
  readonly reason: EndReason;
  readonly message: string;
  /** In place: nothing was overwritten. */
  readonly untouched?: boolean | undefined;
}

export type RestoreState =
  | { readonly kind: "waiting"; readonly reason: ConditionReason; readonly message: string }
  | { readonly kind: "running"; readonly reason: ConditionReason; readonly message: string; readonly progress?: RunProgress | undefined }
  /** The repository is asked what it has. Nothing is made yet but the Job that asks. */
  | { readonly kind: "looking"; readonly message: string }
  /** The spec that the new SampleDB is made from, as it was found there. */
  | { readonly kind: "looked"; readonly sampleDBSpec: Record<string, unknown> }
  /** In place: the SampleDB is claimed, and everything that it has is brought into the archive. */
  | { readonly kind: "securing"; readonly message: string; readonly safetyBackupName: string }
  /** In place: everything is secured, and the Job may be made once this is stored. */
  | { readonly kind: "overwriting" }
  /** The data is whole and clean. From here on nothing is undone. */
  | { readonly kind: "filled"; readonly end: RestoreSuccess }
  | { readonly kind: "starting"; readonly message: string; readonly firstBackupName: string | undefined }
  | { readonly kind: "succeeded"; readonly firstBackupName: string | undefined }
  | Failed;

export const waiting = (reason: ConditionReason, message: string) => ({ kind: "waiting", reason, message }) as const;
export const failed = (reason: EndReason, message: string, more: Pick<Failed, "untouched"> = {}): Failed => ({
  ...{ kind: "failed", reason, message },
  ...more,
});
