// The cluster's network: a switch that every machine is plugged into, and the host beside them. Nothing is routed
// any further: a machine has no default route, so no packet can leave the host.
import { run, succeeds } from "../../tools/command.ts";
import { runInside } from "./machine.ts";
import type { ClusterPlan, MachinePlan } from "./plan.ts";

const prefix = 24;

export async function buildSwitch(plan: ClusterPlan, switchPid: number): Promise<void> {
  if (!(await hasLink(switchPid, "lan"))) {
    await inSwitch(switchPid, "ip link add lan type bridge");
    await inSwitch(switchPid, "ip link set lan up");
  }
  if (!(await succeeds("ip", ["link", "show", plan.hostLink]))) {
    await run("ip", `link add ${plan.hostLink} type veth peer name host netns ${switchPid}`.split(" "));
    await run("ip", ["link", "set", plan.hostLink, "addrgenmode", "none"]);
    await run("ip", ["address", "add", `${plan.hostAddress}/${prefix}`, "dev", plan.hostLink]);
    await run("ip", ["link", "set", plan.hostLink, "up"]);
    await inSwitch(switchPid, "ip link set host master lan up");
  }
}

/** Plugs a machine in, where it is not: its cable, its address and the way to everybody's Pods and Services. */
export async function connect(plan: ClusterPlan, switchPid: number, machine: MachinePlan, machinePid: number): Promise<void> {
  const inMachine = (command: string) => runInside(machinePid, command.split(" "));
  if (!(await hasLink(machinePid, "eth0"))) {
    // The cable of a machine that lost power a moment ago may still hang in the switch.
    if (await hasLink(switchPid, machine.name)) await inSwitch(switchPid, `ip link delete ${machine.name}`);
    await run("ip", `link add eth0 netns ${machinePid} type veth peer name ${machine.name} netns ${switchPid}`.split(" "));
    await inSwitch(switchPid, `ip link set ${machine.name} up`);
    await inMachine(`ip address add ${machine.address}/${prefix} dev eth0`);
    await inMachine("ip link set eth0 up");
    await inMachine("ip route add unreachable default");
    await inMachine(`ip route add ${plan.serviceRange} dev eth0`); // only so that there is a route; kube-proxy rewrites the address
    for (const node of plan.nodes.filter(({ name }) => name !== machine.name))
      await inMachine(`ip route add ${node.podRange} via ${node.address}`);
  }
  await joinNetwork(switchPid, machine);
}

/** Takes the machine off the network without a sign: its link stays up and every packet is lost, as with a dead switch port. */
export async function cutNetwork(switchPid: number, machine: MachinePlan): Promise<void> {
  await inSwitch(switchPid, `ip link set ${machine.name} nomaster`);
}

export async function joinNetwork(switchPid: number, machine: MachinePlan): Promise<void> {
  await inSwitch(switchPid, `ip link set ${machine.name} master lan`);
}

export async function isCut(switchPid: number, machine: MachinePlan): Promise<boolean> {
  return !(await inSwitch(switchPid, `ip link show ${machine.name}`)).includes("master lan");
}

async function hasLink(pid: number, link: string): Promise<boolean> {
  return succeeds("nsenter", ["--target", String(pid), "--net", "ip", "link", "show", link]);
}

async function inSwitch(switchPid: number, command: string): Promise<string> {
  return run("nsenter", ["--target", String(switchPid), "--net", ...command.split(" ")]);
}
