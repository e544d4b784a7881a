// An operator as a user installs it by OLM: an OperatorGroup and a Subscription in a namespace.
import { channel, packageName } from "../../packaging/bundle/bundle.ts";
import { csvName } from "../../packaging/bundle/catalog.ts";
import { eventuallySucceeds } from "../../tools/eventually.ts";
import type { Kubectl, KubernetesObject } from "../cluster/kubectl.ts";
import { catalogSource } from "./olm.ts";

const subscriptions = "subscriptions.operators.coreos.com";
const versions = "clusterserviceversions.operators.coreos.com";

export class Installation {
  readonly #kubectl: Kubectl;
  readonly #watched: readonly string[];

  /** The Kubectl is one for the operator's namespace. Without namespaces to watch, the operator looks after all. */
  constructor(kubectl: Kubectl, watched: readonly string[] = []) {
    this.#kubectl = kubectl;
    this.#watched = watched;
  }

  async subscribe(): Promise<void> {
    const targets = this.#watched.length > 0 ? { targetNamespaces: this.#watched } : {};
    const spec = { channel, name: packageName, source: catalogSource.name, sourceNamespace: catalogSource.namespace };
    const group = { apiVersion: "operators.coreos.com/v1", kind: "OperatorGroup", metadata: { name: packageName }, spec: targets };
    const subscription = { apiVersion: "operators.coreos.com/v1alpha1", kind: "Subscription", metadata: { name: packageName }, spec };
    await this.#kubectl.apply(JSON.stringify({ apiVersion: "v1", kind: "List", items: [group, subscription] }));
  }

  /** Resolves once this version is installed, and no other. */
  async succeeded(version: string, deadlineMs: number): Promise<void> {
    await eventuallySucceeds(`OLM says that ${csvName(version)} has succeeded`, deadlineMs, async () => {
      const found = await this.#kubectl.list(versions);
      const told = found.map(({ metadata, status }) => `${metadata.name} ${status?.phase}: ${status?.message}`);
      const [installed, ...more] = found;
      if (installed?.["metadata"].name !== csvName(version) || installed["status"]?.phase !== "Succeeded" || more.length > 0)
        throw new Error(told.join("; ") || (await this.#whyNone()));
    });
  }

  /** Of the version that is installed. OLM carries it out. */
  async scale(replicas: number): Promise<void> {
    const [installed] = await this.#kubectl.list(versions);
    const patch = [{ op: "replace", path: "/spec/install/spec/deployments/0/spec/replicas", value: replicas }];
    await this.#kubectl.run("patch", versions, installed?.["metadata"].name, "--type=json", `--patch=${JSON.stringify(patch)}`);
  }

  /** The Subscription and the ClusterServiceVersion: what docs/installing.md says to delete. */
  async remove(): Promise<void> {
    const options = ["--ignore-not-found", "--timeout=120s", "--request-timeout=0"];
    await this.#kubectl.run("delete", subscriptions, packageName, ...options);
    const installed = (await this.#kubectl.list(versions)).map(({ metadata }) => metadata.name as string);
    if (installed.length > 0) await this.#kubectl.run("delete", versions, ...installed, ...options);
  }

  /** The conditions of the Subscription. */
  async #whyNone(): Promise<string> {
    const subscription = await this.#kubectl.get(subscriptions, packageName);
    const conditions: KubernetesObject[] = subscription?.["status"]?.conditions ?? [];
    return conditions.map(({ type, status, message }) => `${type} ${status}: ${message}`).join("; ") || "there is no version";
  }
}
