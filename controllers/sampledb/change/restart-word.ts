// A person's word to restart the instances, by annotation.
import { instanceAnnotations } from "../../../api/annotations.ts";
import type { DatabaseView } from "../../database/view.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";

/** The newest value that a person has given, or the one that the Pods were made with. */
export function restartWord(db: SampleDB, { statefulSet }: Pick<DatabaseView, "statefulSet">): string | undefined {
  const ofPods = statefulSet?.spec?.template.metadata?.annotations?.[instanceAnnotations.restart];
  return db.metadata.annotations?.[instanceAnnotations.restart] ?? ofPods;
}
