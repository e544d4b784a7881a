// Takes a cluster down, whatever state it is in, and leaves nothing of it behind.
import { succeeds } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";
import { removeCgroup, thawCgroups } from "./cgroups.ts";
import { detachLoopDevices } from "./disks.ts";
import { withClusterLock } from "./lock.ts";
import { machineProcesses } from "./machine.ts";
import type { ClusterPlan } from "./plan.ts";
import { requireOwn, requireRoot } from "./preflight.ts";
import { removeState } from "./state.ts";

export async function clusterDown(plan: ClusterPlan): Promise<void> {
  requireRoot();
  requireOwn(plan);
  await withClusterLock(plan, "cluster-down", () => tearDown(plan));
}

/** For callers that hold the lock. A machine takes its processes, mounts and links along when its first process goes. */
export async function tearDown(plan: ClusterPlan): Promise<void> {
  await eventually(`the machines of ${plan.name} are off`, 60_000, () => {
    const machines = machineProcesses(plan);
    for (const pid of machines) kill(pid);
    thawCgroups(plan.cgroup);
    return machines.length === 0;
  });
  await eventually(`the link ${plan.hostLink} is gone`, 30_000, async () => !(await succeeds("ip", ["link", "show", plan.hostLink])));
  await detachLoopDevices(plan);
  await removeCgroup(plan.cgroup);
  removeState(plan);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // it has just ended by itself
  }
}
