// kubectl for a given kubeconfig, with the answers as values.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError, run } from "../../tools/command.ts";
import { Refusal } from "../../tools/progress.ts";
import { ApiReader } from "./api-reader.ts";
import { programsDirectory } from "./programs.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every kind
export type KubernetesObject = Record<string, any>;

/** The kubeconfig of the user's own cluster, where that is to be used. */
export function existingCluster(): string | undefined {
  if (process.env["USE_EXISTING_CLUSTER"] !== "true") return undefined;
  const kubeconfig = process.env["KUBECONFIG"];
  if (!kubeconfig) throw new Refusal("USE_EXISTING_CLUSTER=true needs KUBECONFIG to name the cluster to use");
  return kubeconfig;
}

/** The local cluster is on this machine; no proxy leads to it. */
const withoutProxy = Object.fromEntries(
  ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY"].map((name) => [name, undefined]),
);

const readers = new Map<string, ApiReader>();

function readerOf(kubeconfig: string): ApiReader {
  const reader = readers.get(kubeconfig) ?? new ApiReader(kubeconfig);
  readers.set(kubeconfig, reader);
  return reader;
}

export class Kubectl {
  readonly kubeconfig: string;
  readonly namespace: string | undefined;

  constructor(kubeconfig: string, namespace?: string) {
    this.kubeconfig = kubeconfig;
    this.namespace = namespace;
  }

  inNamespace(namespace: string): Kubectl {
    return new Kubectl(this.kubeconfig, namespace);
  }

  async run(...args: string[]): Promise<string> {
    return this.#call(args);
  }

  async apply(manifest: string): Promise<void> {
    await this.#call(["apply", "--server-side", "--filename=-"], manifest);
  }

  /** The object, or a list of them; undefined when there is none of that name. */
  async get(...args: string[]): Promise<KubernetesObject | undefined> {
    if (existingCluster() === undefined) {
      const found = await readerOf(this.kubeconfig).get(args, this.namespace);
      if (found !== "unknown") return found;
    }
    try {
      return JSON.parse(await this.#call(["get", "--output=json", ...args])) as KubernetesObject;
    } catch (error) {
      if (error instanceof CommandError && error.stderr.includes("(NotFound)")) return undefined;
      throw error;
    }
  }

  async list(...args: string[]): Promise<KubernetesObject[]> {
    return (await this.get(...args))?.["items"] ?? [];
  }

  /** Runs a shell script in a Pod and resolves to what it printed. */
  async exec(pod: string, script: string): Promise<string> {
    return this.#call(["exec", pod, "--", "sh", "-c", script]);
  }

  /** Runs a script from our files in a Pod, where it is not. */
  async execFile(pod: string, file: string): Promise<string> {
    return this.#call(["exec", "--stdin", pod, "--", "bash", "-s"], readFileSync(file, "utf8"));
  }

  async #call(args: readonly string[], input?: string): Promise<string> {
    const isLocal = existingCluster() === undefined;
    const program = isLocal ? join(await programsDirectory(), "kubectl") : "kubectl";
    const scope = this.namespace === undefined ? [] : [`--namespace=${this.namespace}`];
    return run(program, [...scope, "--request-timeout=20s", ...args], {
      env: { KUBECONFIG: this.kubeconfig, ...(isLocal ? withoutProxy : {}) },
      ...(input === undefined ? {} : { input }),
    });
  }
}
