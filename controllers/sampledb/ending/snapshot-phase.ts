// The phase of a deletion with `Snapshot`: a pure function of what is observed. Only one thing is taken from the stored status: that the
// release was claimed, because volumes may be gone since.
import type { SnapshotPhase } from "../../../api/deletion-policy.ts";
import { type SecuringInputs, securingPhase, securingWords } from "../securing/securing-phase.ts";

export interface SnapshotInputs extends SecuringInputs {
  /** The stored status says Releasing. */
  readonly claimed: boolean;
}

export function snapshotPhase({ claimed, ...inputs }: SnapshotInputs): SnapshotPhase {
  if (claimed && !inputs.running) return "Releasing";
  const phase = securingPhase(inputs);
  return phase === "Secured" ? "Releasing" : phase;
}

/** Told in the condition: what happens now, and what follows. */
export const phaseWords: Readonly<Record<SnapshotPhase, string>> = {
  ...securingWords,
  Releasing: "the last Backup is good and the archive has everything: the volumes are removed",
};
