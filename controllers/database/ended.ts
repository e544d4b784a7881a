// Whether a Backup or a Restore is over.
import { conditionTypes } from "../../api/conditions.ts";
import type { Backup, Restore } from "../kinds/sampledb-io.ts";
import { conditionOf } from "../telling/events.ts";

/** Succeeded or Failed: nothing changes any more. */
export function hasEnded({ status }: Pick<Backup | Restore, "status">): boolean {
  const told = conditionOf(status, conditionTypes.succeeded)?.status;
  return told === "True" || told === "False";
}
