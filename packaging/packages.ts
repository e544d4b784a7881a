// Every generated file of the packages, by its path in the project: chart, OLM bundle, and the manifests for an operator of some namespaces.
import { stringify } from "yaml";
import { kinds } from "../api/kinds.ts";
import { majors } from "../api/sampledb.ts";
import { exactReference, imageRegistry, operatorImageName, postgresReference } from "../images/names.ts";
import { bundleFiles } from "./bundle/bundle.ts";
import { chartFiles } from "./chart/chart.ts";
import { type ManifestFile, manifest } from "./config.ts";
import { namespacedPatches, watchedNamespace } from "./namespaced.ts";

/** Folders in which every file is generated: one that is not is left over. */
export const packageFolders = ["bundle", "charts/sampledb-operator", "config/namespaced"] as const;

/** ValidatingAdmissionPolicies are stable since. */
const leastKubernetes = "1.30.0";

export interface PackageSources {
  readonly version: string;
  /** The files of a folder of config/, by its kustomization. */
  readonly config: (folder: string) => readonly ManifestFile[];
  /** config/samples, the minimal one first. */
  readonly samples: readonly object[];
  /** For IMAGE_REGISTRY; what is in git has none. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The digest of each image by its name with registry and tag; what is in git has none. */
  readonly digests?: ReadonlyMap<string, string>;
}

export function packageFiles({ version, config, samples, environment = {}, digests = new Map() }: PackageSources): Map<string, string> {
  const installed = config("default");
  const registry = imageRegistry(environment);
  const image = `${registry}/${operatorImageName}`;
  const named = (reference: string) => exactReference(reference, digests.get(reference));
  const postgresImages = Object.fromEntries(majors.map((major) => [String(major), named(postgresReference(major, environment))]));
  const digest = digests.get(`${image}:${version}`) ?? "";
  const shared = { version, leastKubernetes, postgresImages };
  return new Map([
    ...below("charts/sampledb-operator", chartFiles({ ...shared, files: [...installed, ...config("prometheus")], image, digest })),
    ...below("bundle", bundleFiles({ ...shared, files: installed, image: named(`${image}:${version}`), kinds, samples }, registry)),
    ...below("config/namespaced", namespacedConfig(installed)),
  ]);
}

/** kustomize for the operator of one namespace, its own; `watched` is what each further namespace needs. */
function namespacedConfig(files: readonly ManifestFile[]): Map<string, string> {
  const one = (identity: string) => manifest(files, identity);
  const watched = watchedNamespace(one("ClusterRole/sampledb-operator"), one("ClusterRoleBinding/sampledb-operator"));
  const { namespace } = one("Deployment/sampledb-operator").metadata;
  const kustomization = { apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization" };
  const patches = namespacedPatches(one("Deployment/sampledb-operator"), one("Service/sampledb-metrics"));
  return new Map([
    [
      "kustomization.yaml",
      yaml({ ...kustomization, resources: ["../manager", "own_role.yaml", "own"], patches: [{ path: "manager_patches.yaml" }] }),
    ],
    ["manager_patches.yaml", yaml(...patches)],
    ["own_role.yaml", yaml(one("Role/sampledb-operator"), one("RoleBinding/sampledb-operator"))],
    ["own/kustomization.yaml", yaml({ ...kustomization, namespace, resources: ["../watched"] })],
    ["watched/kustomization.yaml", yaml({ ...kustomization, resources: ["role.yaml"] })],
    ["watched/role.yaml", yaml(...watched)],
  ]);
}

function yaml(...documents: readonly object[]): string {
  const texts = documents.map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }));
  return `# Made by make manifests; changes here are lost.\n${texts.join("---\n")}`;
}

function below(folder: string, files: ReadonlyMap<string, string>): [string, string][] {
  return [...files].map(([path, text]) => [`${folder}/${path}`, text]);
}
