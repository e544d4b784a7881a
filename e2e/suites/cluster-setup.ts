// Before the suites that need nodes: all that clusters are made from. While they run: a cluster for each worker, with our images on every
// node, or the user's own cluster.
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { catalog } from "../../images/catalog.ts";
import { step } from "../../tools/progress.ts";
import { loadImages } from "../cluster/images.ts";
import { sweepWhenInterrupted } from "../cluster/interruption.ts";
import { existingCluster } from "../cluster/kubectl.ts";
import { type ClusterPlan, hosts, projectDirectory } from "../cluster/plan.ts";
import { requireRoot } from "../cluster/preflight.ts";
import { freePlan, sweepTestClusters } from "../cluster/test-clusters.ts";
import { clusterUp } from "../cluster/up.ts";
import { prepareClusters } from "./prepare.ts";
import { serveWorkers } from "./worker-resources.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where a worker asks for the index of its cluster. Absent on the user's own cluster, where nothing is broken on purpose. */
    clusters: string | undefined;
    holder: number;
    /** Of the user's own cluster. */
    existingKubeconfig: string | undefined;
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const existing = existingCluster();
  project.provide("existingKubeconfig", existing);
  if (existing !== undefined) return undefined;
  requireRoot();
  sweepWhenInterrupted();
  await sweepTestClusters();
  await prepareClusters();
  const taken: ClusterPlan[] = [];
  const clusters = await serveWorkers(
    () => makeCluster(taken),
    ({ index }) => ({ index }),
  );
  project.provide("clusters", clusters.url);
  project.provide("holder", process.pid);
  return async () => {
    await clusters.close();
    await sweepTestClusters();
  };
}

let choosing = Promise.resolve();

async function makeCluster(taken: ClusterPlan[]): Promise<ClusterPlan> {
  const chosen = choosing.then(async () => {
    const plan = await freePlan(taken);
    taken.push(plan);
    return plan;
  });
  choosing = chosen.then(
    () => {},
    () => {},
  );
  const plan = await chosen;
  try {
    const cluster = await clusterUp(plan, process.pid);
    await step(`images on every node of ${plan.name}`, () => loadImages(cluster, catalog()));
    return plan;
  } catch (error) {
    keepLogs(plan);
    throw error;
  }
}

/** For whoever looks for the cause when the cluster is gone. */
function keepLogs(plan: ClusterPlan): void {
  for (const machine of hosts(plan).filter(({ directory }) => existsSync(join(directory, "log")))) {
    cpSync(join(machine.directory, "log"), join(projectDirectory, "build/logs", plan.name, machine.name), { recursive: true });
  }
}
