// The cluster's network: a switch that every machine is plugged into, and the host beside them. Nothing is routed
// any further: a machine has no default route, so no packet can leave the host.
import { run, succeeds } from "../../tools/command.ts";
import type { ClusterPlan, HostPlan } from "./plan.ts";

const prefix = 24;

/** Every step can be repeated: a run that was broken off half-way is finished by the next. */
export async function buildSwitch(plan: ClusterPlan, switchPid: number): Promise<void> {
  if (!(await hasLink(switchPid, "lan"))) await inSwitch(switchPid, "ip link add lan type bridge");
  await inSwitch(switchPid, "ip link set lan up");
  if (!(await hasLink(switchPid, "host"))) {
    await succeeds("ip", ["link", "delete", plan.hostLink]); // the cable of a switch that is just going
    await run("ip", `link add ${plan.hostLink} type veth peer name host netns ${switchPid}`.split(" "));
  }
  await inSwitch(switchPid, "ip link set host master lan up");
  await run("ip", ["link", "set", plan.hostLink, "addrgenmode", "none"]);
  await run("ip", ["address", "replace", `${plan.hostAddress}/${prefix}`, "dev", plan.hostLink]);
  await run("ip", ["link", "set", plan.hostLink, "up"]);
}

/** Plugs a machine in: its cable, its address and the way to everybody's Pods and Services. */
export async function connect(plan: ClusterPlan, switchPid: number, machine: HostPlan, machinePid: number): Promise<void> {
  const inMachine = (command: string) => inNetworkOf(machinePid, command);
  if (!(await hasLink(machinePid, "eth0")) || !(await hasLink(switchPid, machine.name))) {
    // The kernel takes its time to remove the cable of a machine or a switch that lost power: one end may still be there.
    await succeeds("nsenter", ["--target", String(machinePid), "--net", "ip", "link", "delete", "eth0"]);
    await succeeds("nsenter", ["--target", String(switchPid), "--net", "ip", "link", "delete", machine.name]);
    await run("ip", `link add eth0 netns ${machinePid} type veth peer name ${machine.name} netns ${switchPid}`.split(" "));
  }
  await inSwitch(switchPid, `ip link set ${machine.name} master lan up`);
  await inMachine(`ip address replace ${machine.address}/${prefix} dev eth0`);
  await inMachine("ip link set eth0 up");
  await inMachine("ip route replace unreachable default");
  await inMachine(`ip route replace ${plan.serviceRange} dev eth0`); // only so that there is a route; kube-proxy rewrites the address
  for (const node of plan.nodes.filter(({ name }) => name !== machine.name)) {
    await inMachine(`ip route replace ${node.podRange} via ${node.address}`);
  }
}

/** Takes the machine off the network without a sign: its link stays up and every packet is lost, as with a dead switch port. */
export async function cutNetwork(switchPid: number, machine: HostPlan): Promise<void> {
  await inSwitch(switchPid, `ip link set ${machine.name} nomaster`);
}

export async function joinNetwork(switchPid: number, machine: HostPlan): Promise<void> {
  await inSwitch(switchPid, `ip link set ${machine.name} master lan`);
}

export async function isCut(switchPid: number, machine: HostPlan): Promise<boolean> {
  return !(await inSwitch(switchPid, `ip link show ${machine.name}`)).includes("master lan");
}

async function hasLink(pid: number, link: string): Promise<boolean> {
  return succeeds("nsenter", ["--target", String(pid), "--net", "ip", "link", "show", link]);
}

async function inSwitch(switchPid: number, command: string): Promise<string> {
  return inNetworkOf(switchPid, command);
}

async function inNetworkOf(pid: number, command: string): Promise<string> {
  return run("nsenter", ["--target", String(pid), "--net", ...command.split(" ")]);
}
