// The major version that the data is of. Data of one major can't be started by another: that is an upgrade, with steps of its own.

import { majorAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import type { DatabaseView } from "../../database/view.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import type { Blocker } from "../../telling/blockers.ts";

/** The SampleDB as it can be acted on: with the major of its data, and the reason where that is not the one it asks for. */
export function heldBack(
  db: SampleDB,
  { patroni, initialized }: Pick<DatabaseView, "patroni" | "initialized">,
): { readonly db: SampleDB; readonly upgrade?: Blocker } {
  const major = Number(patroni.settings?.object.metadata.annotations?.[majorAnnotation] ?? db.spec.postgresVersion);
  if (major === db.spec.postgresVersion || !initialized) return { db }; // without data there is nothing to hold back for
  const postgresVersion = major as SampleDB["spec"]["postgresVersion"];
  const upgrade = {
    reason: reasons.upgradeNotSupported,
    message: `the data is of PostgreSQL ${major}, and this version of the operator does not upgrade it to ${db.spec.postgresVersion}: it goes on with ${major}`,
    remedy: "wait for a version of the operator that does, or make a new SampleDB and move the data with pg_dump",
  };
  return { db: { ...db, spec: { ...db.spec, postgresVersion } }, upgrade };
}
