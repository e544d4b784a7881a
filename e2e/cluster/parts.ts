// The parts of Kubernetes on each machine, and how each is called.
import {
  apiServerArguments,
  type ControlPlaneSettings,
  controllerManagerArguments,
  etcdArguments,
  schedulerArguments,
} from "./control-plane.ts";
import { programsInside, settingsInside, volumesInside } from "./machine.ts";
import type { ClusterPlan, HostPlan, NodePlan } from "./plan.ts";

export type PartName =
  | "etcd"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "volume-controller"
  | "containerd"
  | "kubelet"
  | "kube-proxy";

export interface Part {
  readonly name: PartName;
  readonly argv: readonly [string, ...string[]];
  /** A command to run before it is started. */
  readonly before?: readonly string[];
}

export const kubeletPort = 10250;
export const containerdSocket = "/run/containerd/containerd.sock";

/** In the order in which they are started. */
export function partsOf(plan: ClusterPlan, machine: HostPlan | NodePlan): readonly Part[] {
  return "podRange" in machine ? nodeParts(plan, machine) : controlPlaneParts(plan);
}

function controlPlaneSettings(plan: ClusterPlan): ControlPlaneSettings {
  return {
    pki: `${settingsInside}/pki`,
    kubeconfigs: settingsInside,
    dataDirectory: "/var/lib/kubernetes",
    address: plan.controlPlane.address,
    port: 6443,
    serviceRange: plan.serviceRange,
  };
}

function controlPlaneParts(plan: ClusterPlan): Part[] {
  const settings = controlPlaneSettings(plan);
  return [
    part("etcd", etcdArguments(settings)),
    part("kube-apiserver", apiServerArguments(settings)),
    part("kube-controller-manager", controllerManagerArguments(settings)),
    part("kube-scheduler", schedulerArguments(settings)),
    part("volume-controller", [
      `--kubeconfig=${settingsInside}/volume-controller.kubeconfig`,
      `--directory=${volumesInside}`,
      `--prefix=${plan.name}-`,
    ]),
  ];
}

function nodeParts(plan: ClusterPlan, node: NodePlan): Part[] {
  return [
    { name: "containerd", argv: ["/usr/bin/containerd", `--config=${settingsInside}/containerd.toml`] },
    part("kubelet", [
      `--config=${settingsInside}/kubelet.yaml`,
      `--kubeconfig=${settingsInside}/kubelet.kubeconfig`,
      `--hostname-override=${node.name}`,
      `--node-ip=${node.address}`,
      `--node-labels=topology.kubernetes.io/region=local,topology.kubernetes.io/zone=zone-${node.name.slice("node-".length)}`,
    ]),
    {
      // What an earlier run left: kube-proxy takes a chain that is there for one that is filled, and an endpoint whose
      // chain was emptied in the moment of its death stays unreachable for ever.
      before: ["nft", "add table ip kube-proxy; delete table ip kube-proxy; add table ip6 kube-proxy; delete table ip6 kube-proxy"],
      ...part("kube-proxy", kubeProxyArguments(plan, node)),
    },
  ];
}

function kubeProxyArguments(plan: ClusterPlan, node: NodePlan): string[] {
  return [
    `--kubeconfig=${settingsInside}/kube-proxy.kubeconfig`,
    `--hostname-override=${node.name}`,
    "--proxy-mode=nftables",
    `--cluster-cidr=${plan.podRange}`,
    "--bind-address=127.0.0.1",
    // The connection table belongs to the whole kernel: leave its limits alone, or kube-proxy ends when it may not set them.
    "--conntrack-max-per-core=0",
    "--conntrack-min=0",
    "--conntrack-tcp-timeout-established=0",
    "--conntrack-tcp-timeout-close-wait=0",
  ];
}

function part(name: PartName, args: readonly string[]): Part {
  return { name, argv: [`${programsInside}/${name}`, ...args] };
}
