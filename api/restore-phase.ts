// The phases of a restore in place, as a SampleDB tells them.
import { securingPhases } from "./deletion-policy.ts";

/**
 * In their order. `Restoring`: a Job overwrites one volume. `Starting`: the restored instance starts alone. `Replacing`: it leads, and the
 * volumes of the others go. After a failure: `Reverting` where another volume has the former data, `Overwritten` where none has.
 */
export const restorePhases = [...securingPhases, "Restoring", "Starting", "Replacing", "Reverting", "Overwritten", "Lifting"] as const;

export type RestorePhase = (typeof restorePhases)[number];
