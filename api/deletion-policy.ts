// What happens to the data of a SampleDB that is deleted, also where the user has said nothing.

export const deletionPolicies = ["Snapshot", "Retain", "Delete"] as const;

export type DeletionPolicy = (typeof deletionPolicies)[number];

/** Without a word of the user: with a repository a last Backup is made, and without one the volumes stay. */
export function deletionPolicyOf({
  deletionPolicy,
  backup,
}: {
  readonly deletionPolicy?: DeletionPolicy | undefined;
  readonly backup?: object | undefined;
}): DeletionPolicy {
  return deletionPolicy ?? (backup ? "Snapshot" : "Retain");
}

/** The phases in which everything that a database has is brought into the archive, in their order. */
export const securingPhases = ["Waking", "CuttingOff", "BackingUp", "Stopping", "CheckingArchive"] as const;

export type SecuringPhase = (typeof securingPhases)[number];

/** The phases of a deletion with `Snapshot`, in their order. */
export const snapshotPhases = [...securingPhases, "Releasing"] as const;

export type SnapshotPhase = (typeof snapshotPhases)[number];
