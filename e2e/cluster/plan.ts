// The plan of a local cluster: every name, address and path that it uses, from its index alone, so that two clusters
// never meet and one that was left half-made can be found again.
import { join, resolve } from "node:path";
import { Refusal } from "../../tools/progress.ts";

export const projectDirectory = resolve(import.meta.dirname, "../..");

export interface MachinePlan {
  readonly name: string;
  readonly directory: string;
}

/** A machine that programs of Kubernetes run on; the switch only passes frames on. */
export interface HostPlan extends MachinePlan {
  readonly address: string;
}

export interface NodePlan extends HostPlan {
  /** Where this node's Pods get their addresses. */
  readonly podRange: string;
}

export interface ClusterPlan {
  readonly index: number;
  readonly name: string;
  readonly stateDirectory: string;
  readonly kubeconfig: string;
  readonly kubectl: string;
  readonly cgroup: string;
  readonly hostLink: string;
  readonly hostAddress: string;
  /** All addresses of the cluster lie in it; the parts below split it up. */
  readonly addressRange: string;
  readonly podRange: string;
  readonly serviceRange: string;
  readonly apiServiceAddress: string;
  readonly dnsAddress: string;
  readonly apiServer: string;
  readonly switch: MachinePlan;
  readonly controlPlane: HostPlan;
  readonly nodes: readonly NodePlan[];
}

const nodeCount = 3;
export const highestIndex = 15;

/** The cluster that CLUSTER_INDEX names; the first one by default. */
export function chosenPlan(): ClusterPlan {
  const chosen = process.env["CLUSTER_INDEX"] || "0";
  const index = Number(chosen);
  if (!Number.isInteger(index) || index < 0 || index > highestIndex) {
    throw new Refusal(`CLUSTER_INDEX must be a whole number from 0 to ${highestIndex}, and is ${chosen}`);
  }
  return clusterPlan(index);
}

export function clusterPlan(index: number): ClusterPlan {
  const name = `sampledb-${index}`;
  const net = `10.${200 + index}`;
  const stateDirectory = join(process.env["SAMPLEDB_STATE"] ?? "/var/lib/sampledb", name);
  const machine = (machineName: string) => ({ name: machineName, directory: join(stateDirectory, machineName) });
  return {
    index,
    name,
    stateDirectory,
    kubeconfig: join(projectDirectory, "build", name, "kubeconfig"),
    kubectl: join(projectDirectory, "build", name, "kubectl"),
    cgroup: `/${name}`,
    hostLink: name,
    hostAddress: `${net}.0.254`,
    addressRange: `${net}.0.0/16`,
    podRange: `${net}.16.0/20`,
    serviceRange: `${net}.32.0/20`,
    apiServiceAddress: `${net}.32.1`,
    dnsAddress: `${net}.32.10`,
    apiServer: `https://${net}.0.1:6443`,
    switch: machine("switch"),
    controlPlane: { ...machine("control-plane"), address: `${net}.0.1` },
    nodes: Array.from({ length: nodeCount }, (_, i) => ({
      ...machine(`node-${i + 1}`),
      address: `${net}.0.${11 + i}`,
      podRange: `${net}.${17 + i}.0/24`,
    })),
  };
}

export function hosts(plan: ClusterPlan): readonly (HostPlan | NodePlan)[] {
  return [plan.controlPlane, ...plan.nodes];
}

export function findHost(plan: ClusterPlan, name: string): HostPlan | NodePlan {
  const host = hosts(plan).find((machine) => machine.name === name);
  if (!host) throw new Error(`${plan.name} has no machine ${name}`);
  return host;
}

/** Where a part's output goes, on the machine that carries the cluster. */
export function logFile(machine: MachinePlan, part: string): string {
  return join(machine.directory, "log", `${part}.log`);
}
