// The order to restart the instances, given by annotation.
import { instanceAnnotations } from "../../../api/annotations.ts";
import type { DatabaseView } from "../../database/view.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";

/** The value of the annotation, or the one in the StatefulSet's template. A person who takes the annotation off causes no restart. */
export function restartWord(db: SampleDB, { statefulSet }: Pick<DatabaseView, "statefulSet">): string | undefined {
  const ofPods = statefulSet?.spec?.template.metadata?.annotations?.[instanceAnnotations.restart];
  return db.metadata.annotations?.[instanceAnnotations.restart] ?? ofPods;
}
