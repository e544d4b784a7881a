// How Pods of the local cluster reach a store, which is a part of the test's own process on the host beside the cluster.
import { run } from "../../tools/command.ts";
import type { ClusterPlan } from "../cluster/plan.ts";
import type { S3Store } from "./s3-store.ts";

/**
 * Lets the host answer Pods. They reach its address on the cluster's network with addresses of their own, to which the host has no way back.
 * The routes go with the cluster's link.
 */
export async function routeToPods(plan: ClusterPlan): Promise<void> {
  for (const { podRange, address } of plan.nodes) {
    await run("ip", ["route", "replace", podRange, "via", address, "dev", plan.hostLink]);
  }
}

/** A Service that leads to the store: Pods find it as `https://NAME.NAMESPACE.svc`, as they would find one that runs in the cluster. */
export function storeService(name: string, { address, port }: Pick<S3Store, "address" | "port">): object {
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { ports: [{ name: "https", port: 443, targetPort: port }] },
  };
  const endpoints = {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "https", port }],
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
  };
  return { apiVersion: "v1", kind: "List", items: [service, endpoints] };
}
