// The claim of a Restore on a SampleDB whose data it replaces in place: an annotation, so that two Restores can't have it.
import { restoreInPlaceAnnotation } from "../../api/annotations.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";

export interface RestoreClaim {
  readonly name: string;
  readonly uid: string;
}

/** Once a volume may be overwritten, the status counts, too: whoever removes the annotation then must not start two histories. */
export function restoreClaimOf({ metadata: { annotations }, status }: Pick<SampleDB, "metadata" | "status">): RestoreClaim | undefined {
  const [name, uid] = annotations?.[restoreInPlaceAnnotation]?.split("/") ?? [];
  if (name !== undefined && uid !== undefined) return { name, uid };
  const told = status?.restore;
  return told?.podName === undefined || told.phase === "Lifting" ? undefined : { name: told.restoreName, uid: told.restoreUID };
}

/** As the annotation has it. */
export function restoreClaim({ name, uid }: RestoreClaim): string {
  return `${name}/${uid}`;
}
