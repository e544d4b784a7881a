// Before the e2e suites: a cluster with our images on every node, or the user's own cluster.
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { catalog } from "../../images/catalog.ts";
import { bundle } from "../../tools/bundle.ts";
import { step } from "../../tools/progress.ts";
import { loadImages } from "../cluster/images.ts";
import { sweepWhenInterrupted } from "../cluster/interruption.ts";
import { existingCluster } from "../cluster/kubectl.ts";
import { type ClusterPlan, hosts, projectDirectory } from "../cluster/plan.ts";
import { requireRoot } from "../cluster/preflight.ts";
import { freePlan, sweepTestClusters } from "../cluster/test-clusters.ts";
import { clusterUp } from "../cluster/up.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Absent on the user's own cluster, where nothing is broken on purpose. */
    clusterIndex: number | undefined;
    holder: number;
    kubeconfig: string;
  }
}

/** For whoever looks for the cause when the cluster is gone. */
function keepLogs(plan: ClusterPlan): void {
  for (const machine of hosts(plan).filter(({ directory }) => existsSync(join(directory, "log")))) {
    cpSync(join(machine.directory, "log"), join(projectDirectory, "build/logs", plan.name, machine.name), { recursive: true });
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const existing = existingCluster();
  if (existing !== undefined) {
    project.provide("kubeconfig", existing);
    return undefined;
  }
  requireRoot();
  sweepWhenInterrupted();
  await sweepTestClusters();
  const plan = await freePlan();
  try {
    const cluster = await clusterUp(plan, process.pid);
    await bundle();
    await step("images on every node", () => loadImages(cluster, catalog()));
  } catch (error) {
    keepLogs(plan);
    await sweepTestClusters();
    throw error;
  }
  project.provide("clusterIndex", plan.index);
  project.provide("holder", process.pid);
  project.provide("kubeconfig", plan.kubeconfig);
  return sweepTestClusters;
}
