// What must be true before a cluster is made, each with a sentence for when it is not.
import { existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { cacheDirectory } from "../../tools/cache.ts";
import { run } from "../../tools/command.ts";
import { Refusal } from "../../tools/progress.ts";
import { type ClusterPlan, highestIndex, projectDirectory } from "./plan.ts";
import { owner, readState } from "./state.ts";

const freeBytesNeeded = 10e9;

export function requireRoot(): void {
  if (process.getuid?.() !== 0) throw new Refusal("a cluster needs root, for namespaces, mounts and loop devices: run it with sudo");
}

/** For a cluster that is yet to be made; one that is there has its files already. */
export function requireSpace(plan: ClusterPlan): void {
  if (readState(plan)?.complete) return;
  for (const directory of [cacheDirectory, plan.stateDirectory]) {
    const existing = nearestExisting(directory);
    const { bavail, bsize } = statfsSync(existing);
    if (bavail * bsize < freeBytesNeeded) {
      throw new Refusal(
        `${existing} has ${((bavail * bsize) / 1e9).toFixed(1)} GB free and a cluster needs 10 GB: make room, or set SAMPLEDB_CACHE and SAMPLEDB_STATE to folders with more`,
      );
    }
  }
}

/** A cluster is its checkout's: another checkout neither repairs it nor takes it down. */
export function requireOwn(plan: ClusterPlan): void {
  const other = owner(plan);
  if (other !== undefined && other !== projectDirectory) {
    throw new Refusal(
      `${plan.name} belongs to the checkout ${other}: run make cluster-down there, or choose another with CLUSTER_INDEX=${anotherIndex(plan)}`,
    );
  }
}

export async function requireFreeAddresses(plan: ClusterPlan): Promise<void> {
  const taken = await takenAddress(plan);
  if (taken)
    throw new Refusal(
      `the address range ${plan.addressRange} is in use by ${taken}: choose another cluster with CLUSTER_INDEX=${anotherIndex(plan)}`,
    );
}

/** Who else on this host has an address or a route in the cluster's range. */
export async function takenAddress(plan: ClusterPlan): Promise<string | undefined> {
  const links = JSON.parse(await run("ip", ["-json", "address"])) as { ifname: string; addr_info: { local: string }[] }[];
  const routes = JSON.parse(await run("ip", ["-json", "route"])) as { dst: string; dev: string }[];
  const uses = [
    ...links.flatMap(({ ifname, addr_info }) => addr_info.map(({ local }) => ({ device: ifname, address: local }))),
    ...routes.map(({ dst, dev }) => ({ device: dev, address: dst })),
  ];
  const network = plan.addressRange.slice(0, plan.addressRange.indexOf(".0.0/") + 1);
  const taken = uses.find(({ device, address }) => device !== plan.hostLink && address.startsWith(network));
  return taken && `${taken.device} (${taken.address})`;
}

function anotherIndex(plan: ClusterPlan): number {
  return (plan.index + 1) % (highestIndex + 1);
}

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path));
}
