// The six conditions of operator-sdk's scorecard, for the bundle as it is in git; the validators are in e2e/olm.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const bundle = join(import.meta.dirname, "../../bundle");
const read = (path: string) => parse(readFileSync(join(bundle, path), "utf8"));

interface Owned {
  readonly name: string;
  readonly kind: string;
  readonly version: string;
  readonly resources: readonly object[];
  readonly specDescriptors: readonly { readonly path: string; readonly description: string }[];
  readonly statusDescriptors: readonly { readonly path: string; readonly description: string }[];
}

interface Schema {
  readonly properties: Readonly<Record<string, { readonly type?: string; readonly properties?: object }>>;
}

const csv = read("manifests/sampledb-operator.clusterserviceversion.yaml");
const owned = csv.spec.customresourcedefinitions.owned as readonly Owned[];
const examples = JSON.parse(csv.metadata.annotations["alm-examples"]) as readonly { kind: string; spec: Record<string, unknown> }[];
const crds = new Map<string, { metadata: { name: string }; spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } }>(
  readdirSync(join(bundle, "manifests"))
    .map((file) => read(`manifests/${file}`))
    .filter(({ kind }) => kind === "CustomResourceDefinition")
    .map((crd) => [crd.metadata.name, crd]),
);
const schemaOf = ({ name }: Owned) => crds.get(name)?.spec.versions[0]?.schema.openAPIV3Schema.properties;
const paths = (descriptors: Owned["specDescriptors"]) => descriptors.map(({ path }) => path);

test.each([
  ["basic-check-spec: every example has a spec", () => examples.every(({ spec }) => Object.keys(spec ?? {}).length > 0)],
  [
    "olm-bundle-validation: every owned kind has its CRD, and every CRD is owned",
    () => owned.every(({ name }) => crds.has(name)) && crds.size === owned.length,
  ],
  [
    "olm-crds-have-validation: spec and status have a schema",
    () => owned.every((kind) => schemaOf(kind)?.["spec"]?.properties && schemaOf(kind)?.["status"]?.properties),
  ],
  ["olm-crds-have-resources: every kind says what it makes", () => owned.every(({ resources }) => resources.length > 0)],
  [
    "olm-spec-descriptors: every field of an example's spec is described",
    () =>
      examples.every(({ kind, spec }) =>
        Object.keys(spec).every((path) => owned.some((one) => one.kind === kind && paths(one.specDescriptors).includes(path))),
      ),
  ],
  [
    "olm-status-descriptors: every field of the status is described",
    () =>
      owned.every((kind) =>
        Object.keys(schemaOf(kind)?.["status"]?.properties ?? {}).every((path) => paths(kind.statusDescriptors).includes(path)),
      ),
  ],
])("%s", (_, holds) => {
  expect(holds()).toBeTruthy();
});

test("every descriptor has words, and every kind an example, the minimal SampleDB first", () => {
  const all = owned.flatMap(({ specDescriptors, statusDescriptors }) => [...specDescriptors, ...statusDescriptors]);
  expect(all.filter(({ description }) => description === "")).toEqual([]);
  expect(new Set(examples.map(({ kind }) => kind))).toEqual(new Set(owned.map(({ kind }) => kind)));
  expect(examples[0]).toMatchObject({ kind: "SampleDB", metadata: { name: "minimal" } });
});

test("a webhook of the bundle lets everything pass while nobody answers", () => {
  const policies = csv.spec.webhookdefinitions.map(({ failurePolicy }: { failurePolicy: string }) => failurePolicy);
  expect(policies.length).toBeGreaterThan(3);
  expect(new Set(policies)).toEqual(new Set(["Ignore"]));
});

test("the bundle has no kind that some clusters lack", () => {
  const kinds = readdirSync(join(bundle, "manifests")).map((file) => read(`manifests/${file}`).kind);
  expect(new Set(kinds)).toEqual(new Set(["ClusterServiceVersion", "CustomResourceDefinition", "Service", "ClusterRole"]));
});
