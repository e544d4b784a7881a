// What a console of OLM shows of each kind: its fields with their descriptions, and the objects that it makes.
import { customResourceDefinition } from "../../api/crd/definition.ts";
import type { Kind } from "../../api/kinds.ts";
import { group, version } from "../../api/version.ts";

interface Property {
  readonly type?: string;
  readonly description?: string;
}

interface Descriptor {
  readonly path: string;
  readonly displayName: string;
  readonly description: string;
  readonly "x-descriptors": readonly string[];
}

type Properties = Readonly<Record<string, Property>>;

const ui = "urn:alm:descriptor:com.tectonic.ui";

/** A field of that name, whatever its type. */
const byName: Readonly<Record<string, string>> = {
  replicas: `${ui}:podCount`,
  resources: `${ui}:resourceRequirements`,
  conditions: "urn:alm:descriptor:io.kubernetes.conditions",
};

const byType: Readonly<Record<string, string>> = { boolean: `${ui}:booleanSwitch`, integer: `${ui}:number`, string: `${ui}:text` };

/** An entry of `customresourcedefinitions.owned`. */
export function ownedKind(kind: Kind): object {
  const { spec, status } = propertiesOf(kind);
  return {
    name: `${kind.plural}.${group}`,
    kind: kind.kind,
    version,
    displayName: kind.kind,
    description: kind.description,
    resources: kind.makes.map((made) => ({ kind: made, name: "", version: "v1" })),
    specDescriptors: descriptors(spec),
    statusDescriptors: descriptors(status),
  };
}

/** As the CRD has them. */
function propertiesOf(kind: Kind): { readonly spec: Properties; readonly status: Properties } {
  const definition = customResourceDefinition(kind) as {
    spec: { versions: [{ schema: { openAPIV3Schema: { properties: Record<"spec" | "status", { properties: Properties }> } } }] };
  };
  const { spec, status } = definition.spec.versions[0].schema.openAPIV3Schema.properties;
  return { spec: spec.properties, status: status.properties };
}

function descriptors(properties: Properties): Descriptor[] {
  return Object.entries(properties).map(([path, { type = "", description = "" }]) => {
    const descriptor = byName[path] ?? byType[type];
    return { path, displayName: words(path), description, "x-descriptors": descriptor === undefined ? [] : [descriptor] };
  });
}

/** `postgresVersion` is Postgres Version. */
function words(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/^./, (letter) => letter.toUpperCase());
}
