// Whether the name of the destination is free. Asked before anything is made: a Restore never touches what is there.
import { reasons } from "../../api/reasons.ts";
import { hasEnded } from "../database/ended.ts";
import type { PersistentVolumeClaim } from "../kinds/kubernetes.ts";
import type { Restore } from "../kinds/sampledb-io.ts";
import type { Scope } from "./scope.ts";
import { failed, type RestoreState, waiting } from "./state.ts";

export function taken({
  restore,
  destination,
  claims,
  rivals,
}: Pick<Scope, "restore" | "destination" | "claims" | "rivals">): RestoreState | undefined {
  const name = restore.spec.destination.sampleDBName;
  if (destination) return failed(reasons.destinationTaken, `SampleDB ${name} is there already`);
  const first = rivals.find((rival) => !hasEnded(rival) && isBefore(rival, restore));
  if (first) return failed(reasons.destinationTaken, `Restore ${first.metadata.name} makes SampleDB ${name} already`);
  const left = claims.find((claim) => !isGoing(claim)) ?? claims[0];
  return left && takenBy(left, name);
}

/** What a Restore that has failed leaves goes when its Pod has ended. The next one to the same name waits for that. */
export function takenBy(claim: PersistentVolumeClaim, name: string): RestoreState {
  const left = `claim ${claim.metadata.name} of an earlier SampleDB ${name}`;
  return isGoing(claim)
    ? waiting(reasons.destinationTaken, `${left} is being deleted: it begins when that is gone`)
    : failed(reasons.destinationTaken, `${left} is there: a restore needs a name without volumes`);
}

function isGoing({ metadata }: PersistentVolumeClaim): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isBefore({ metadata: a }: Restore, { metadata: b }: Restore): boolean {
  return ((a.creationTimestamp ?? "").localeCompare(b.creationTimestamp ?? "") || a.name.localeCompare(b.name)) < 0;
}
