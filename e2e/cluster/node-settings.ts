// The settings files of a node: container runtime, Pod network and kubelet.
import { stringify } from "yaml";
import { settingsInside } from "./machine.ts";
import { containerdSocket } from "./parts.ts";
import type { ClusterPlan, NodePlan } from "./plan.ts";

export function containerdSettings(pauseImage: string): string {
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
oom_score = 0

[grpc]
  address = "${containerdSocket}"

[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # Where CAP_SYS_RESOURCE is missing nothing may lower a process's score, and every sandbox would die of it.
  restrict_oom_score_adj = true
  # A profile would be loaded into the host's kernel and stay there.
  disable_apparmor = true

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${settingsInside}/cni"

  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`;
}

/** Every Pod gets a link of its own to the node, which routes: unlike a bridge, it needs no netfilter module for Services. */
export function podNetworkSettings(node: NodePlan): string {
  return JSON.stringify(
    {
      cniVersion: "0.4.0",
      name: "pods",
      plugins: [{ type: "ptp", ipam: { type: "host-local", ranges: [[{ subnet: node.podRange }]], routes: [{ dst: "0.0.0.0/0" }] } }],
    },
    undefined,
    2,
  );
}

export function kubeletSettings(plan: ClusterPlan, node: NodePlan): string {
  const pki = (file: string) => `${settingsInside}/pki/${file}`;
  return stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: pki("ca.crt") } },
    authorization: { mode: "Webhook" },
    tlsCertFile: pki(`${node.name}.crt`),
    tlsPrivateKeyFile: pki(`${node.name}.key`),
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    volumePluginDir: "/var/lib/kubelet/volume-plugins",
    cgroupDriver: "cgroupfs",
    cgroupRoot: `${plan.cgroup}/${node.name}`,
    failCgroupV1: false,
    oomScoreAdj: 0,
    failSwapOn: false,
    syncFrequency: "10s", // how soon a grown disk is noticed; a minute by default
    clusterDNS: [plan.dnsAddress],
    clusterDomain: "cluster.local",
    resolvConf: "", // a name server outside would never answer
    // The disk belongs to the host: only a really full one is the node's business, and images are ours to remove.
    evictionHard: { "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%", "nodefs.inodesFree": "1%" },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
  });
}
