// Helm, built once from the pinned module and kept in the build cache; each plane has a Helm of its own, without the user's settings.
import { join } from "node:path";
import { run } from "../../tools/command.ts";
import { goProgram } from "../../tools/go-program.ts";
import { projectDirectory } from "../cluster/plan.ts";

const chart = join(projectDirectory, "charts/sampledb-operator");

export type HelmMajor = 3 | 4;

/** The folder whose go.mod pins each Helm. */
const sources: Readonly<Record<HelmMajor, string>> = { 3: "program", 4: "program-4" };

/** `helm template` without a cluster takes this version of Kubernetes. Helm 4 is run on clusters alone. */
const kubernetes: Readonly<Record<HelmMajor, readonly string[]>> = {
  3: ["Major=1", "Minor=34"].map((version) => `-X helm.sh/helm/v3/pkg/chartutil.k8sVersion${version}`),
  4: [],
};

export function helmProgram(major: HelmMajor = 3): Promise<string> {
  const module = `helm.sh/helm/v${major}`;
  return goProgram({
    name: major === 3 ? "helm" : `helm-${major}`, // each has a folder of its own in the cache, which keeps two builds
    title: "Helm",
    source: join(import.meta.dirname, sources[major]),
    module,
    package: `${module}/cmd/helm`,
    linkerFlags: kubernetes[major],
  });
}

export interface Release {
  readonly name: string;
  readonly namespace: string;
}

export class Helm {
  readonly #environment: Readonly<Record<string, string>>;
  readonly #major: HelmMajor;

  /** Without a cluster: for `template` alone. */
  constructor(directory: string, cluster?: { readonly kubeconfig: string }, major: HelmMajor = 3) {
    this.#major = major;
    const folders = { HELM_CACHE_HOME: "cache", HELM_CONFIG_HOME: "config", HELM_DATA_HOME: "data" };
    this.#environment = {
      ...Object.fromEntries(Object.entries(folders).map(([name, folder]) => [name, join(directory, "helm", folder)])),
      KUBECONFIG: cluster?.kubeconfig ?? "/dev/null",
      NO_PROXY: "*", // the clusters of tests are on this machine
    };
  }

  /** A command about the chart: install, upgrade, template. */
  chart(command: string, { name, namespace }: Release, ...options: string[]): Promise<string> {
    return this.run(command, name, chart, `--namespace=${namespace}`, ...options);
  }

  uninstall({ name, namespace }: Release): Promise<string> {
    return this.run("uninstall", name, `--namespace=${namespace}`);
  }

  async run(...args: string[]): Promise<string> {
    return await run(await helmProgram(this.#major), args, { env: this.#environment });
  }
}
