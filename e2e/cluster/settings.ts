// Writes what the machines of a cluster need to know, once, when the cluster is made.
import { chownSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { controlPlaneIdentities } from "./control-plane.ts";
import { kubeconfig } from "./kubeconfig.ts";
import { containerdSettings, kubeletSettings, podNetworkSettings } from "./node-settings.ts";
import { type Identity, writeCertificates } from "./pki.ts";
import type { ClusterPlan, NodePlan } from "./plan.ts";

export async function writeSettings(plan: ClusterPlan, pauseImage: string): Promise<void> {
  const pki = join(plan.stateDirectory, "pki");
  await writeCertificates(pki, identities(plan));
  writeControlPlane(plan, pki);
  for (const node of plan.nodes) writeNode(plan, node, pki, pauseImage);
}

/** The kubeconfig and a kubectl of the cluster's own version, for the person who called sudo, if that is how it was called. */
export function writeAccess(plan: ClusterPlan, programs: string): void {
  write(plan.kubeconfig, kubeconfig(plan.apiServer, plan.name, join(plan.stateDirectory, "pki"), "admin"));
  if (!existsSync(plan.kubectl)) copyFileSync(join(programs, "kubectl"), plan.kubectl);
  const { SUDO_UID, SUDO_GID } = process.env;
  if (SUDO_UID === undefined || SUDO_GID === undefined) return;
  for (const path of [dirname(plan.kubeconfig), plan.kubeconfig, plan.kubectl]) chownSync(path, Number(SUDO_UID), Number(SUDO_GID));
}

function identities(plan: ClusterPlan): Record<string, Identity> {
  return {
    ...controlPlaneIdentities(plan.controlPlane.address, plan.apiServiceAddress),
    "volume-controller": { commonName: "system:volume-controller" },
    "kube-proxy": { commonName: "system:kube-proxy" },
    ...Object.fromEntries(
      plan.nodes.map(({ name, address }) => [
        name,
        { commonName: `system:node:${name}`, organization: "system:nodes", servesAs: [name, address] },
      ]),
    ),
  };
}

function writeControlPlane(plan: ClusterPlan, pki: string): void {
  const etc = join(plan.controlPlane.directory, "etc");
  mkdirSync(join(plan.controlPlane.directory, "var/lib/kubernetes"), { recursive: true, mode: 0o700 });
  const pairs = ["ca", "front-proxy-client", "kube-apiserver", "kube-apiserver-kubelet-client"].flatMap((name) => [
    `${name}.crt`,
    `${name}.key`,
  ]);
  copyAll(pki, join(etc, "pki"), [...pairs, "front-proxy-ca.crt", "service-account.key", "service-account.pub"]);
  for (const client of ["kube-controller-manager", "kube-scheduler", "volume-controller"]) {
    write(join(etc, `${client}.kubeconfig`), kubeconfig(plan.apiServer, plan.name, pki, client));
  }
}

function writeNode(plan: ClusterPlan, node: NodePlan, pki: string, pauseImage: string): void {
  const etc = join(node.directory, "etc");
  copyAll(pki, join(etc, "pki"), ["ca.crt", `${node.name}.crt`, `${node.name}.key`]);
  write(join(etc, "kubelet.kubeconfig"), kubeconfig(plan.apiServer, plan.name, pki, node.name));
  write(join(etc, "kube-proxy.kubeconfig"), kubeconfig(plan.apiServer, plan.name, pki, "kube-proxy"));
  write(join(etc, "kubelet.yaml"), kubeletSettings(plan, node));
  write(join(etc, "containerd.toml"), containerdSettings(pauseImage));
  write(join(etc, "cni/10-pods.conflist"), podNetworkSettings(node));
}

function copyAll(from: string, to: string, files: readonly string[]): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const file of files) copyFileSync(join(from, file), join(to, file));
}

function write(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content, { mode: 0o600 });
}
