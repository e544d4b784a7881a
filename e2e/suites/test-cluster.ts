// What every e2e suite starts from: kubectl for the cluster under test, and namespaces of its own.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, inject } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { Kubectl, type KubernetesObject } from "../cluster/kubectl.ts";
import { LocalCluster } from "../cluster/local-cluster.ts";
import { type ClusterPlan, clusterPlan } from "../cluster/plan.ts";
import { isReady } from "../cluster/status.ts";
import { Database } from "../database/database.ts";
import { ownResource } from "./worker-resources.ts";

/** Of this worker; undefined on the user's own cluster. */
const plan = await ownPlan();

/** False on the user's own cluster: suites that pull plugs are skipped there. */
export const isLocal = plan !== undefined;

export const kubectl = new Kubectl(plan?.kubeconfig ?? inject("existingKubeconfig") ?? "");

export function localCluster(): LocalCluster {
  if (!plan) throw new Error("only a suite that runs on the local cluster may break it");
  return new LocalCluster(plan);
}

async function ownPlan(): Promise<ClusterPlan | undefined> {
  const clusters = inject("clusters");
  return clusters === undefined ? undefined : clusterPlan((await ownResource<{ index: number }>(clusters)).index);
}

export async function nodeReady(name: string): Promise<boolean> {
  return isReady((await kubectl.get("node", name)) ?? {});
}

/** Resolves once a node that was lost is back, as Kubernetes sees it. */
export async function nodeBack(name: string, deadlineMs: number): Promise<void> {
  await eventually(`${name} is Ready again`, deadlineMs, () => nodeReady(name));
}

/** Nobody reaches the node while this goes on, and everything on it runs; it is back then. */
export async function withoutNetwork<T>(node: string, work: () => Promise<T>): Promise<T> {
  await localCluster().cutNetwork(node);
  try {
    return await work();
  } finally {
    await localCluster().joinNetwork(node);
    await nodeBack(node, 180_000);
  }
}

/** As a person does it who mends the node and lets it back. A ledger stays: it has no controller that would start it elsewhere. */
export async function drain(node: string): Promise<void> {
  const options = ["--ignore-daemonsets", "--delete-emptydir-data", "--pod-selector=app!=ledger", "--timeout=170s"];
  try {
    await kubectl.run("drain", node, ...options, "--request-timeout=0");
  } finally {
    await kubectl.run("uncordon", node);
  }
}

/** The nodes that a Pod without tolerations can run on. */
export async function schedulableNodes(): Promise<string[]> {
  const isOpen = (node: KubernetesObject) => !node["spec"].taints?.some(({ effect }: { effect: string }) => effect !== "PreferNoSchedule");
  return (await kubectl.list("nodes")).filter(isOpen).map((node) => node["metadata"].name);
}

/**
 * A namespace under the restricted Pod security profile for the length of a suite. Its databases go before it, which needs an
 * operator: deploy it first, so that it ends last.
 */
export function suiteNamespace(prefix: string): Kubectl {
  const name = `${prefix}-${randomBytes(3).toString("hex")}`;
  const namespace = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
  };
  beforeAll(() => kubectl.apply(JSON.stringify(namespace)));
  afterAll(async () => {
    await Database.deleteAll(kubectl.inNamespace(name));
    await kubectl.run("delete", "namespace", name, "--wait=true", "--timeout=180s", "--request-timeout=0");
  });
  return kubectl.inNamespace(name);
}
