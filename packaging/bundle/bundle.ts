// bundle/: every file of the OLM bundle.
import { stringify } from "yaml";
import { customResourceDefinition } from "../../api/crd/definition.ts";
import { group } from "../../api/version.ts";
import { type Manifest, manifest } from "../config.ts";
import { type CsvSources, clusterServiceVersion } from "./csv.ts";

export const packageName = "sampledb-operator";
export const channel = "candidate"; // nothing has been released

/** Labels of the image and annotations of the folder say the same, for tools that read either. */
const annotations: Readonly<Record<string, string>> = {
  "operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
  "operators.operatorframework.io.bundle.manifests.v1": "manifests/",
  "operators.operatorframework.io.bundle.metadata.v1": "metadata/",
  "operators.operatorframework.io.bundle.package.v1": packageName,
  "operators.operatorframework.io.bundle.channels.v1": channel,
  "operators.operatorframework.io.bundle.channel.default.v1": channel,
  "operators.operatorframework.io.test.mediatype.v1": "scorecard+v1",
  "operators.operatorframework.io.test.config.v1": "tests/scorecard/",
};

/** The image of operator-sdk's own tests, in the registry of our images, and the six of them that say something of a bundle. */
const scorecardImage = "operator-framework/scorecard-test:v1.42.2";
const scorecardTests: Readonly<Record<string, readonly string[]>> = {
  basic: ["basic-check-spec"],
  olm: ["olm-bundle-validation", "olm-crds-have-validation", "olm-crds-have-resources", "olm-spec-descriptors", "olm-status-descriptors"],
};

/** OLM makes roles for viewing and editing of its own, and none of these. */
const rolesOfPeople = ["sampledb-backup-operator", "sampledb-metrics-reader", "sampledb-restore-operator"];

/** By path below bundle/. */
export function bundleFiles(sources: CsvSources, registry: string): Map<string, string> {
  const { files, kinds } = sources;
  const crds = kinds.map((kind) => [`manifests/${group}_${kind.plural}.yaml`, yaml(customResourceDefinition(kind))] as const);
  return new Map([
    [`manifests/${packageName}.clusterserviceversion.yaml`, yaml(clusterServiceVersion(sources))],
    ...crds,
    ["manifests/sampledb-metrics_v1_service.yaml", yaml(withoutNamespace(manifest(files, "Service/sampledb-metrics")))],
    ...rolesOfPeople.map(
      (role) => [`manifests/${role}_rbac.authorization.k8s.io_v1_clusterrole.yaml`, yaml(manifest(files, `ClusterRole/${role}`))] as const,
    ),
    ["metadata/annotations.yaml", yaml({ annotations })],
    ["tests/scorecard/config.yaml", yaml(scorecard(`${registry}/${scorecardImage}`))],
    ["bundle.Dockerfile", dockerfile()],
  ]);
}

/** OLM puts it beside the operator. */
function withoutNamespace(object: Manifest): Manifest {
  const { namespace, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function scorecard(image: string): object {
  const tests = Object.entries(scorecardTests).flatMap(([suite, names]) =>
    names.map((name) => ({
      entrypoint: ["scorecard-test", name],
      image,
      labels: { suite, test: `${name}-test` },
      storage: { spec: { mountPath: {} } },
    })),
  );
  return {
    apiVersion: "scorecard.operatorframework.io/v1alpha3",
    kind: "Configuration",
    metadata: { name: "config" },
    stages: [{ parallel: true, tests }],
    storage: { spec: { mountPath: {} } },
  };
}

function dockerfile(): string {
  const labels = Object.entries(annotations).map(([name, text]) => `LABEL ${name}=${text}`);
  return `# Made by make bundle; changes here are lost. Built in this folder.\nFROM scratch\n\n${labels.join("\n")}\n\nCOPY manifests /manifests/\nCOPY metadata /metadata/\nCOPY tests/scorecard /tests/scorecard/\n`;
}

function yaml(object: object): string {
  return `# Made by make bundle; changes here are lost.\n${stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}
