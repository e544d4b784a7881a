// The phase of a restore in place. Up to the first byte that is overwritten it is derived from what is observed. From then on the stored phase
// decides, because the observation is gone with the data.
import type { SecuringPhase } from "../../../api/deletion-policy.ts";
import type { RestorePhase } from "../../../api/restore-phase.ts";
import { securingWords } from "../securing/securing-phase.ts";

export interface RestoreInputs {
  /** The stored phase of this Restore, or `Overwritten` where an earlier one has left the data so. */
  readonly stored: RestorePhase | undefined;
  readonly secured: SecuringPhase | "Secured";
  /** `untouched`: it has failed before the first byte. `failed`: later, or nobody knows. */
  readonly restore: "open" | "filled" | "untouched" | "failed";
  /** The volume that is overwritten is the only one. */
  readonly alone: boolean;
  /** The restored instance leads and takes writes. */
  readonly leads: boolean;
  /** No volume has data from before the restore any more. */
  readonly othersGone: boolean;
}

export function restorePhase({ stored, secured, restore, alone, leads, othersGone }: RestoreInputs): RestorePhase {
  switch (stored) {
    case "Restoring":
      return { open: "Restoring", filled: "Starting", untouched: "Lifting", failed: alone ? "Overwritten" : "Reverting" }[
        restore
      ] as RestorePhase;
    case "Starting":
      return leads ? "Replacing" : "Starting";
    case "Replacing":
      return othersGone ? "Lifting" : "Replacing";
    case "Reverting":
      return othersGone ? "Lifting" : "Reverting";
    case "Overwritten":
      return restore === "open" ? "Restoring" : "Overwritten";
    case "Lifting":
      return "Lifting";
    default:
      if (restore !== "open") return "Lifting";
      return secured === "Secured" ? "Restoring" : secured;
  }
}

/** Told in the condition: what happens now. */
export const restoreWords: Readonly<Record<RestorePhase, string>> = {
  ...securingWords,
  Restoring: "the data of one instance is overwritten from the backup, and the log is replayed up to the target",
  Starting: "the restored instance starts, alone",
  Replacing: "the restored instance leads, and the volumes of the others are replaced",
  Reverting: "the Restore has failed: the volume that it has overwritten goes, and the former primary starts again",
  Overwritten: "a Restore has failed after it had begun to overwrite the only volume: no instance is started on it",
  Lifting: "the Restore is over, and the database goes on",
};
