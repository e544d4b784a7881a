// The cluster that a benchmark runs on: a local one for its length, or the user's own.
import { operatorImage, postgresImage } from "../../images/catalog.ts";
import { bundle } from "../../tools/bundle.ts";
import { step } from "../../tools/progress.ts";
import { loadImages } from "../cluster/images.ts";
import { sweepWhenInterrupted } from "../cluster/interruption.ts";
import { existingCluster, Kubectl } from "../cluster/kubectl.ts";
import type { LocalCluster } from "../cluster/local-cluster.ts";
import { requireRoot } from "../cluster/preflight.ts";
import { freePlan, sweepTestClusters } from "../cluster/test-clusters.ts";
import { clusterUp } from "../cluster/up.ts";

/** `local` is absent on the user's own cluster, where no plug is pulled. */
export async function withCluster(work: (kubectl: Kubectl, local: LocalCluster | undefined) => Promise<void>): Promise<void> {
  const existing = existingCluster();
  if (existing !== undefined) return await work(new Kubectl(existing), undefined);
  requireRoot();
  sweepWhenInterrupted();
  await sweepTestClusters();
  try {
    const plan = await freePlan();
    const cluster = await clusterUp(plan, process.pid);
    await bundle();
    await step("images on every node", () => loadImages(cluster, [operatorImage(), postgresImage("17")]));
    await work(new Kubectl(plan.kubeconfig), cluster);
  } finally {
    await sweepTestClusters();
  }
}

export async function makeNamespace(kubectl: Kubectl, name: string): Promise<Kubectl> {
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  await kubectl.apply(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } }));
  return kubectl.inNamespace(name);
}

export async function deleteNamespace(kubectl: Kubectl, name: string): Promise<void> {
  await kubectl.run("delete", "namespace", name, "--ignore-not-found", "--timeout=240s", "--request-timeout=0");
}
