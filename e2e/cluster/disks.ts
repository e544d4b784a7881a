// The loop devices behind a cluster's volumes, as the host sees them.
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { succeeds } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";
import type { ClusterPlan } from "./plan.ts";

/** Devices whose file is named after the cluster: the path differs from one mount namespace to the next, the name does not. */
export function loopDevices(plan: ClusterPlan): string[] {
  return readdirSync("/sys/block")
    .filter((name) => name.startsWith("loop"))
    .filter((name) => basename(backingFile(name)).startsWith(`${plan.name}-pvc-`))
    .map((name) => `/dev/${name}`);
}

function backingFile(device: string): string {
  try {
    return readFileSync(`/sys/block/${device}/loop/backing_file`, "utf8").trim();
  } catch {
    return ""; // not in use
  }
}

export async function detachLoopDevices(plan: ClusterPlan): Promise<void> {
  for (const device of loopDevices(plan)) await succeeds("losetup", ["--detach", device]); // it may go by itself at the same moment
  // A device goes when its file system is unmounted, which the kernel does a little after the last process has gone.
  await eventually(`the loop devices of ${plan.name} are gone`, 30_000, () => loopDevices(plan).length === 0);
}
