// The major version that the data is of. Data of one major can't be started by another: that is an upgrade, with steps of its own.
import { majorAnnotation } from "../../../api/annotations.ts";
import { refusedParameters } from "../../../api/checks/parameters.ts";
import { reasons } from "../../../api/reasons.ts";
import { majors } from "../../../api/sampledb.ts";
import type { DatabaseView } from "../../database/view.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import type { Blocker } from "../../telling/blockers.ts";

type Spec = SampleDB["spec"];
type Major = Spec["postgresVersion"];

/**
 * The SampleDB as it can be acted on: with the major of its data, and without the settings that only the major it asks for takes. Where
 * the two majors differ, `upgrade` says so and names those settings. A spec that is valid for the asked major is acted on as a valid one.
 */
export function heldBack(
  db: SampleDB,
  { patroni, initialized, bootstrapping }: Pick<DatabaseView, "patroni" | "initialized" | "bootstrapping">,
): { readonly db: SampleDB; readonly upgrade?: Blocker } {
  const asked = db.spec.postgresVersion;
  const major = majorOfData(db, patroni.settings?.object.metadata.annotations?.[majorAnnotation]) ?? asked;
  if (major === asked || !(initialized || bootstrapping)) return { db }; // without data there is nothing to hold back for
  const waiting = waitingSettings(db.spec, major);
  const those = waiting.length > 0 ? `, and these settings, which ${major} does not take, wait for the upgrade: ${waiting.join(", ")}` : "";
  const upgrade = {
    reason: reasons.upgradeNotSupported,
    message: `the data is of PostgreSQL ${major}, and this version of the operator does not upgrade it to ${asked}: it goes on with ${major}${those}`,
    remedy: `set postgresVersion to ${major}${those && " and take those settings out"}, wait for a version of the operator that does, or make a new SampleDB and move the data with pg_dump`,
  };
  return { db: { ...db, spec: without(waiting, { ...db.spec, postgresVersion: major }) }, upgrade };
}

/** By the operator's note, or by the last primary that was asked: a superuser of the database can write garbage over the note. */
function majorOfData({ status }: SampleDB, note: string | undefined): Major | undefined {
  const isMajor = (number: number): number is Major => majors.some((major) => major === number);
  return [note, status?.postgresVersion?.split(".")[0]].map(Number).find(isMajor);
}

/** Settings that the asked major takes and the data's major does not. One that both refuse is a fault of the spec, and waits for nothing. */
function waitingSettings({ postgresVersion: asked, postgresql }: Spec, major: Major): string[] {
  const values = postgresql?.parameters ?? {};
  const refused = refusedParameters(values, asked);
  return [...refusedParameters(values, major)].filter((name) => !refused.has(name)).sort();
}

/**
 * Removes these settings, and `postgresql` itself if nothing is left in it. The spec and its digests are then as before the user added them.
 */
function without(names: readonly string[], spec: Spec): Spec {
  if (names.length === 0) return spec;
  const { postgresql: { parameters = {}, ...others } = {}, ...rest } = spec;
  const left = Object.entries(parameters).filter(([name]) => !names.includes(name));
  const postgresql = { ...others, ...(left.length > 0 ? { parameters: Object.fromEntries(left) } : {}) };
  return { ...rest, ...(Object.keys(postgresql).length > 0 ? { postgresql } : {}) };
}
