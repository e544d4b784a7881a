// What runs of a cluster, what is unhealthy, what it costs, and where to read more.
import { join } from "node:path";
import { Kubectl, type KubernetesObject } from "./kubectl.ts";
import { findMachines, findProcess, memoryOf } from "./machine.ts";
import { isCut } from "./network.ts";
import { partsOf } from "./parts.ts";
import { type ClusterPlan, type HostPlan, hosts, logFile, type NodePlan } from "./plan.ts";
import { readState } from "./state.ts";

interface ClusterStatus {
  readonly lines: readonly string[];
  /** One sentence each; empty when the cluster is well. */
  readonly problems: readonly string[];
}

export async function clusterStatus(plan: ClusterPlan): Promise<ClusterStatus> {
  const machines = findMachines(plan);
  if (machines.size === 0) return { lines: [`${plan.name} does not run; make cluster-up starts it`], problems: [] };
  const observed = await Promise.all(hosts(plan).map((machine) => observeMachine(plan, machine, machines)));
  const api = await observeApi(plan);
  const memory = observed.reduce((sum, { bytes }) => sum + bytes, 0);
  const seconds = readState(plan)?.secondsToReady;
  return {
    lines: [
      `${plan.name}: ${mebibytes(memory)} in use${seconds === undefined ? "" : `; all nodes were Ready ${seconds.toFixed(1)} s after it was started`}`,
      ...observed.map(({ line }) => line),
      ...api.lines,
      `logs: ${join(plan.stateDirectory, "*", "log", "*.log")}`,
      `use it: export KUBECONFIG=${plan.kubeconfig}`,
    ],
    problems: [...observed.flatMap(({ problems }) => problems), ...api.problems],
  };
}

async function observeMachine(plan: ClusterPlan, machine: HostPlan | NodePlan, machines: ReadonlyMap<string, number>) {
  const pid = machines.get(machine.name);
  const switchPid = machines.get(plan.switch.name);
  if (pid === undefined || switchPid === undefined) {
    return {
      bytes: 0,
      line: `  ${machine.name.padEnd(14)} off`,
      problems: [`machine ${machine.name} is off: make cluster-up starts it again`],
    };
  }
  const parts = partsOf(plan, machine).map(({ name, argv }) => ({ name, process: findProcess(pid, argv[0]) }));
  const bytes = memoryOf(pid);
  const words = parts.map(({ name, process }) => (process === undefined ? `${name} DEAD` : process.paused ? `${name} PAUSED` : name));
  const cut = await isCut(switchPid, machine);
  return {
    bytes,
    line: `  ${machine.name.padEnd(14)} ${machine.address.padEnd(13)} ${mebibytes(bytes).padStart(9)}  ${words.join(", ")}${cut ? "  CUT OFF" : ""}`,
    problems: [
      ...parts
        .filter(({ process }) => !process)
        .map(({ name }) => `${name} on ${machine.name} is dead: see ${logFile(machine, name)}; make cluster-up starts it again`),
      ...parts.filter(({ process }) => process?.paused).map(({ name }) => `${name} on ${machine.name} is paused: make cluster-up wakes it`),
      ...(cut ? [`${machine.name} is cut off from the network: make cluster-up plugs it in again`] : []),
    ],
  };
}

async function observeApi(plan: ClusterPlan): Promise<ClusterStatus> {
  const kubectl = new Kubectl(plan.kubeconfig);
  try {
    const [nodes, pods] = [await kubectl.list("nodes"), await kubectl.list("pods", "--all-namespaces")];
    const notReady = nodes.filter((node) => !isReady(node)).map((node) => node["metadata"].name as string);
    const unwell = pods.filter((pod) => pod["status"].phase !== "Succeeded" && !isReady(pod));
    return {
      lines: [`  ${nodes.length} nodes, ${nodes.length - notReady.length} Ready; ${pods.length} Pods, ${unwell.length} not ready`],
      problems: [
        ...notReady.map((name) => `node ${name} is not Ready: kubectl describe node ${name}`),
        ...unwell.map(
          ({ metadata }) => `Pod ${metadata.name} is not ready: kubectl --namespace ${metadata.namespace} describe pod ${metadata.name}`,
        ),
      ],
    };
  } catch (error) {
    return { lines: [], problems: [`the API server does not answer at ${plan.apiServer}: ${(error as Error).message.split("\n").at(-1)}`] };
  }
}

/** A node or a Pod by its Ready condition. */
export function isReady(object: KubernetesObject): boolean {
  return (
    object["status"].conditions?.some(({ type, status }: { type: string; status: string }) => type === "Ready" && status === "True") ??
    false
  );
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}
