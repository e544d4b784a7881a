// What is wrong with a SampleDB beyond what its schema and CEL rules can say. Pure: the webhook and the reconciler ask alike.
import { type SampleDBSpec, sampleDBSpec } from "../sampledb.ts";
import { backupPolicy } from "./backup-policy.ts";
import { withinBounds } from "./bounds.ts";
import { hba } from "./hba.ts";
import { annotations, labelKeys, notOurs } from "./names.ts";
import { parameters } from "./parameters.ts";
import { placement, topologySpread } from "./placement.ts";
import { allOf, type Check, each, type Violation, violationsOf, within } from "./violation.ts";

type PodMetadata = NonNullable<SampleDBSpec["podMetadata"]>;
type Services = NonNullable<SampleDBSpec["services"]>;
type Service = NonNullable<Services["readWrite"]>;

const service = within<Service, "annotations">("annotations", allOf(annotations, notOurs));

/** The ranges are those of the major that is asked for. */
const postgresql: Check<SampleDBSpec> = function* ({ postgresVersion, postgresql: settings }, field) {
  if (settings?.parameters) yield* parameters(settings.parameters, postgresVersion, `${field}.postgresql.parameters`);
  if (settings?.hba) yield* each(hba)(settings.hba, `${field}.postgresql.hba`);
};

const everything = allOf<SampleDBSpec>(
  placement,
  within("topologySpreadConstraints", topologySpread),
  within(
    "podMetadata",
    allOf<PodMetadata>(within("labels", allOf(labelKeys, notOurs)), within("annotations", allOf(annotations, notOurs))),
  ),
  postgresql,
  within("services", allOf<Services>(within("readWrite", service), within("readOnly", service))),
  within("backup", backupPolicy),
);

const bounded = withinBounds(sampleDBSpec, everything);

/** What is wrong, in the order of the fields, up to a hundred places; nothing when the spec can be acted on. */
export function checkSampleDB(spec: SampleDBSpec): Violation[] {
  return violationsOf(bounded, spec, "spec");
}
