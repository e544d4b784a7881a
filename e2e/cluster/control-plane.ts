// How the programs of a control plane are called: as kubeadm calls them, for a cluster with nodes and for one without.
import { join } from "node:path";
import type { Identity } from "./pki.ts";

export interface ControlPlaneSettings {
  readonly pki: string;
  readonly kubeconfigs: string;
  readonly dataDirectory: string;
  readonly address: string;
  readonly port: number;
  readonly serviceRange: string;
}

/** Who talks to the API server, by the names that Kubernetes' own roles are bound to. */
export const clients = {
  admin: { commonName: "kubernetes-admin", organization: "system:masters" },
  "kube-controller-manager": { commonName: "system:kube-controller-manager" },
  "kube-scheduler": { commonName: "system:kube-scheduler" },
} satisfies Record<string, Identity>;

export function controlPlaneIdentities(address: string, apiServiceAddress: string): Record<string, Identity> {
  const serviceNames = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];
  return {
    ...clients,
    "kube-apiserver": { commonName: "kube-apiserver", servesAs: [address, apiServiceAddress, "127.0.0.1", "localhost", ...serviceNames] },
    "kube-apiserver-kubelet-client": { commonName: "kube-apiserver-kubelet-client", organization: "system:masters" },
  };
}

/** etcd listens on unix sockets alone: nothing to collide with, nothing to reach from elsewhere. */
export function etcdArguments({ dataDirectory }: ControlPlaneSettings): string[] {
  const advertised = "http://localhost:2380"; // must look like an address; a single member never calls it
  return [
    `--data-dir=${join(dataDirectory, "etcd")}`,
    `--listen-client-urls=unix://${etcdSocket(dataDirectory)}`,
    `--listen-peer-urls=unix://${join(dataDirectory, "peer.sock")}`,
    `--advertise-client-urls=${advertised}`,
    `--initial-advertise-peer-urls=${advertised}`,
    `--initial-cluster=default=${advertised}`,
    "--unsafe-no-fsync", // the cluster is thrown away with the machine; the disk is shared with the tests
    "--log-level=warn",
  ];
}

export function etcdSocket(dataDirectory: string): string {
  return join(dataDirectory, "client.sock");
}

export function apiServerArguments(settings: ControlPlaneSettings): string[] {
  const pki = (file: string) => join(settings.pki, file);
  return [
    `--etcd-servers=unix://${etcdSocket(settings.dataDirectory)}`,
    `--advertise-address=${settings.address}`,
    `--secure-port=${settings.port}`,
    `--service-cluster-ip-range=${settings.serviceRange}`,
    `--client-ca-file=${pki("ca.crt")}`,
    `--tls-cert-file=${pki("kube-apiserver.crt")}`,
    `--tls-private-key-file=${pki("kube-apiserver.key")}`,
    `--kubelet-certificate-authority=${pki("ca.crt")}`,
    `--kubelet-client-certificate=${pki("kube-apiserver-kubelet-client.crt")}`,
    `--kubelet-client-key=${pki("kube-apiserver-kubelet-client.key")}`,
    "--kubelet-preferred-address-types=InternalIP", // node names are in no DNS
    `--service-account-key-file=${pki("service-account.pub")}`,
    `--service-account-signing-key-file=${pki("service-account.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--requestheader-client-ca-file=${pki("front-proxy-ca.crt")}`,
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-username-headers=X-Remote-User",
    `--proxy-client-cert-file=${pki("front-proxy-client.crt")}`,
    `--proxy-client-key-file=${pki("front-proxy-client.key")}`,
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction", // beside those that are on by default, as kubeadm has it
    "--enable-aggregator-routing=true", // webhooks are called at their Pods: no kube-proxy runs beside the API server
    "--allow-privileged=true",
  ];
}

export function controllerManagerArguments(settings: ControlPlaneSettings): string[] {
  const pki = (file: string) => join(settings.pki, file);
  const kubeconfig = join(settings.kubeconfigs, "kube-controller-manager.kubeconfig");
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--root-ca-file=${pki("ca.crt")}`,
    `--cluster-signing-cert-file=${pki("ca.crt")}`,
    `--cluster-signing-key-file=${pki("ca.key")}`,
    `--service-account-private-key-file=${pki("service-account.key")}`,
    "--use-service-account-credentials=true",
    `--flex-volume-plugin-dir=${join(settings.dataDirectory, "volume-plugins")}`, // made where it is missing, by default under /usr
    ...["--kube-api-qps=200", "--kube-api-burst=400"], // each controller asks for its token when it starts: seconds at the default 20
    "--leader-elect=false", // there is one
    "--secure-port=0",
  ];
}

export function schedulerArguments(settings: ControlPlaneSettings): string[] {
  const kubeconfig = join(settings.kubeconfigs, "kube-scheduler.kubeconfig");
  return [`--kubeconfig=${kubeconfig}`, "--leader-elect=false", "--secure-port=0"];
}
