// One command at a time for each cluster.
import { lockHolder, tryLock } from "../../tools/lock.ts";
import { Refusal } from "../../tools/progress.ts";
import type { ClusterPlan } from "./plan.ts";

/** Runs the work while holding the cluster's lock; refuses when another command holds it. */
export async function withClusterLock<T>(plan: ClusterPlan, command: string, work: () => Promise<T>): Promise<T> {
  const release = await tryLock(plan.name, `${command}, process ${process.pid}`);
  if (!release) {
    throw new Refusal(
      `another command is working on ${plan.name} (${(await lockHolder(plan.name)) ?? "it has just ended"}): wait for it to end and run this again`,
    );
  }
  try {
    return await work();
  } finally {
    release();
  }
}
