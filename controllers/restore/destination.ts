// Whether the name of the destination is free. Asked before anything is made: a Restore never touches what is there.
import { reasons } from "../../api/reasons.ts";
import { hasEnded } from "../database/backups.ts";
import type { Restore } from "../kinds/sampledb-io.ts";
import type { Scope } from "./scope.ts";
import { failed, type RestoreState } from "./state.ts";

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
  const [left] = claims;
  return left === undefined
    ? undefined
    : failed(reasons.destinationTaken, `claim ${left} of an earlier SampleDB ${name} is there: a restore needs a name without volumes`);
}

function isBefore({ metadata: a }: Restore, { metadata: b }: Restore): boolean {
  return ((a.creationTimestamp ?? "").localeCompare(b.creationTimestamp ?? "") || a.name.localeCompare(b.name)) < 0;
}
