// The phase of a deletion with `Snapshot`: a pure function of what is observed. Only one thing is taken from the stored status: that the
// release was claimed, because volumes may be gone since.
import type { SnapshotPhase } from "../../../api/deletion-policy.ts";

export interface SnapshotInputs {
  /** The stored status says Releasing. */
  readonly claimed: boolean;
  /** Pods of instances, also those that are going, or a StatefulSet that asks for some. */
  readonly running: boolean;
  /** A primary answers SQL and takes writes. */
  readonly serves: boolean;
  /** The clients of the present primary are cut off. */
  readonly cutOff: boolean;
  /** `good`: verified, in the present archive, and of the timeline of the primary that is there now. */
  readonly backup: "missing" | "open" | "failed" | "outdated" | "good";
  /** The Job on the stopped primary's volume. `refused`: the server has to run once more before anything can be said. */
  readonly check: "missing" | "open" | "refused" | "passed";
}

export function snapshotPhase({ claimed, running, serves, cutOff, backup, check }: SnapshotInputs): SnapshotPhase {
  if (claimed && !running) return "Releasing";
  if (backup === "good") {
    // Where it serves again, the refusal has had its effect.
    if (check === "refused" && !serves) return "Waking";
    if (running) return "Stopping";
    return check === "passed" ? "Releasing" : "CheckingArchive";
  }
  if (!serves) return "Waking";
  return cutOff ? "BackingUp" : "CuttingOff";
}

/** Told in the condition: what happens now, and what follows. */
export const phaseWords: Readonly<Record<SnapshotPhase, string>> = {
  Waking: "a primary has to serve, so that a last Backup can be made",
  CuttingOff: "applications are being disconnected",
  BackingUp: "the last Backup is being made",
  Stopping: "the last Backup is good, and the instances stop, the primary last",
  CheckingArchive: "the archive is compared with the log on the primary's volume",
  Releasing: "the last Backup is good and the archive has everything: the volumes are removed",
};
