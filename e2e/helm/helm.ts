// Helm, built once from the pinned module and kept in the build cache; each plane has a Helm of its own, without the user's settings.
import { join } from "node:path";
import { run } from "../../tools/command.ts";
import { projectDirectory } from "../cluster/plan.ts";
import type { ControlPlane } from "../cluster/standalone.ts";
import { goProgram } from "../go-program.ts";

const module = "helm.sh/helm/v3";
const chart = join(projectDirectory, "charts/sampledb-operator");

/** `helm template` without a cluster takes this version of Kubernetes. */
const kubernetes = [`-X ${module}/pkg/chartutil.k8sVersionMajor=1`, `-X ${module}/pkg/chartutil.k8sVersionMinor=34`];

export function helmProgram(): Promise<string> {
  const source = join(import.meta.dirname, "program");
  return goProgram({ name: "helm", title: "Helm", source, module, package: `${module}/cmd/helm`, linkerFlags: kubernetes });
}

export interface Release {
  readonly name: string;
  readonly namespace: string;
}

export class Helm {
  readonly #environment: Readonly<Record<string, string>>;

  /** Without a plane: for `template` alone. */
  constructor(directory: string, plane?: ControlPlane) {
    const folders = { HELM_CACHE_HOME: "cache", HELM_CONFIG_HOME: "config", HELM_DATA_HOME: "data" };
    this.#environment = {
      ...Object.fromEntries(Object.entries(folders).map(([name, folder]) => [name, join(directory, "helm", folder)])),
      KUBECONFIG: plane?.kubeconfig ?? "/dev/null",
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
    return await run(await helmProgram(), args, { env: this.#environment });
  }
}
