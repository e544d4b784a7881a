// The namespace that this process runs in.
import { readFileSync } from "node:fs";
import type { KubeConfig } from "@kubernetes/client-node";

const file = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/** From the Pod, or from the kubeconfig's context outside of a cluster. */
export function ownNamespace(config: KubeConfig, environment: Readonly<Record<string, string | undefined>>): string {
  const { POD_NAMESPACE: fromPod } = environment;
  if (fromPod) return fromPod;
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return config.getContextObject(config.getCurrentContext())?.namespace || "default";
  }
}
