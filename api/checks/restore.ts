// What is wrong with a Restore beyond what its schema and CEL rules can say.
import { type RestoreSpec, restoreSpec } from "../restore.ts";
import { withinBounds } from "./bounds.ts";
import { placement } from "./placement.ts";
import { allOf, type Check, shown, type Violation, violationsOf, within } from "./violation.ts";

/** A new SampleDB can't have the name of the one it is made from, and a SampleDB goes back in time from its own backups. */
const destinationFitsSource: Check<RestoreSpec> = function* ({ source, destination }, field) {
  const { sampleDBName: name, type } = destination;
  const place = `${field}.destination.sampleDBName`;
  if (type === "InPlace" && source.repository)
    yield {
      field: `${field}.source.repository`,
      message: "goes with destination.type: New; InPlace needs source.backupName or source.sampleDBName",
    };
  if (source.sampleDBName === undefined) return;
  if (type === "New" && name === source.sampleDBName) {
    yield {
      field: place,
      message: `${shown(name)} is the source itself; New needs another name, or use type: InPlace to replace its data`,
    };
  }
  if (type === "InPlace" && name !== source.sampleDBName) {
    yield {
      field: place,
      message: `${shown(name)} is not the source; InPlace needs ${shown(source.sampleDBName)}, or use type: New for another SampleDB`,
    };
  }
};

/** Without a stored spec only the person knows how large the volumes are. */
const sizeIsKnown: Check<RestoreSpec> = function* ({ source, destination }, field) {
  if (source.repository?.sampleDBSpec === "FromOverrides" && destination.overrides?.storage?.size === undefined)
    yield { field: `${field}.destination.overrides.storage.size`, message: "is needed with source.repository.sampleDBSpec: FromOverrides" };
};

const everything = allOf<RestoreSpec>(
  destinationFitsSource,
  sizeIsKnown,
  within("destination", within<RestoreSpec["destination"], "overrides">("overrides", placement)),
);

const bounded = withinBounds(restoreSpec, everything);

/** What is wrong, up to a hundred places; nothing when the Restore can begin. */
export function checkRestore(spec: RestoreSpec): Violation[] {
  return violationsOf(bounded, spec, "spec");
}
