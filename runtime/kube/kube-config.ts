// Loads kubeconfigs. Imports KubeConfig alone: the library's entry point would bring all of its clients, 1.5 MB and 60 MB of memory.
import { existsSync } from "node:fs";
import type { KubeConfig as KubeConfigType } from "@kubernetes/client-node";
import { KubeConfig } from "@kubernetes/client-node/dist/config.js";

const serviceAccountToken = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/** Reads KUBECONFIG, then ~/.kube/config, then the Pod's service account. */
export function loadKubeConfig(): KubeConfigType {
  const config = new KubeConfig() as KubeConfigType;
  config.loadFromDefault();
  // Without any configuration the library assumes an unprotected server on this host.
  if (config.getCurrentCluster()?.server === "http://localhost:8080" && !existsSync(serviceAccountToken)) {
    throw new Error("no cluster is configured: set KUBECONFIG, or run inside of one");
  }
  return config;
}

export function kubeConfigFromFile(file: string): KubeConfigType {
  const config = new KubeConfig() as KubeConfigType;
  config.loadFromFile(file);
  return config;
}
