// Before the e2e suites: a cluster with our images on every node, or the user's own cluster.
import type { TestProject } from "vitest/node";
import { catalog } from "../../images/catalog.ts";
import { bundle } from "../../tools/bundle.ts";
import { step } from "../../tools/progress.ts";
import { loadImages } from "../cluster/images.ts";
import { sweepWhenInterrupted } from "../cluster/interruption.ts";
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

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env["USE_EXISTING_CLUSTER"] === "true") {
    project.provide("kubeconfig", process.env["KUBECONFIG"] ?? "");
    return undefined;
  }
  requireRoot();
  sweepWhenInterrupted();
  await sweepTestClusters();
  const plan = await freePlan();
  const cluster = await clusterUp(plan, process.pid);
  await bundle();
  await step("images on every node", () => loadImages(cluster, catalog()));
  project.provide("clusterIndex", plan.index);
  project.provide("holder", process.pid);
  project.provide("kubeconfig", plan.kubeconfig);
  return sweepTestClusters;
}
