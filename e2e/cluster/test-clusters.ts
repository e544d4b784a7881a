// Clusters for test runs: each run takes an index that nobody uses, so that it never meets the one that a person works with.

import { lockHolder } from "../../tools/lock.ts";
import { Refusal } from "../../tools/progress.ts";
import { tearDown } from "./down.ts";
import { withClusterLock } from "./lock.ts";
import { findMachines, isRunning } from "./machine.ts";
import { type ClusterPlan, clusterPlan, highestIndex } from "./plan.ts";
import { takenAddress } from "./preflight.ts";
import { readState } from "./state.ts";

const indexes = Array.from({ length: highestIndex }, (_, i) => i + 1); // 0 is for people

/** A plan whose names and addresses are free, and which is none of those that its caller is about to use. */
export async function freePlan(taken: readonly ClusterPlan[] = []): Promise<ClusterPlan> {
  for (const plan of indexes.map(clusterPlan)) {
    const inUse =
      taken.some(({ index }) => index === plan.index) ||
      readState(plan) !== undefined ||
      findMachines(plan).size > 0 ||
      (await lockHolder(plan.name)) !== undefined ||
      (await takenAddress(plan)) !== undefined;
    if (!inUse) return plan;
  }
  throw new Refusal(`every cluster from 1 to ${highestIndex} is in use: make cluster-down CLUSTER_INDEX=1, for one that nobody needs`);
}

/** Takes down what test runs left behind that were killed before they could, and what this process holds itself. */
export async function sweepTestClusters(): Promise<void> {
  for (const plan of indexes.map(clusterPlan)) {
    const holder = readState(plan)?.holder;
    if (holder !== undefined && (holder === process.pid || !isRunning(holder)))
      await withClusterLock(plan, "test run", () => tearDown(plan));
  }
}
