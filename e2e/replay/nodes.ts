// The nodes that kwok plays, and the class of the disks that they have.
import type { KubeClient } from "../../runtime/kube/client.ts";
import type { KubeObject } from "../../runtime/kube/object.ts";
import { clusterScoped } from "../../runtime/kube/resource.ts";

interface Node extends KubeObject {
  readonly spec?: { readonly taints?: readonly unknown[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const nodes = clusterScoped<Node>("v1", "Node", "nodes");
const storageClasses = clusterScoped<KubeObject & Readonly<Record<string, unknown>>>("storage.k8s.io/v1", "StorageClass", "storageclasses");

const count = 10; // with room for a million Pods each, by kwok's own stage

/** As kubelets and a storage driver would register. */
export async function registerNodes(client: KubeClient): Promise<void> {
  for (let index = 0; index < count; index++) {
    const name = `kwok-${index}`;
    await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name, labels: { "kubernetes.io/hostname": name } } });
  }
  await client.create(storageClasses, {
    ...{ apiVersion: "storage.k8s.io/v1", kind: "StorageClass" },
    metadata: { name: "standard", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    ...{ provisioner: "kwok.x-k8s.io/volume", volumeBindingMode: "WaitForFirstConsumer", reclaimPolicy: "Retain" },
  });
}

/** Ready by kwok's word, and without the taint that a new node has. */
export async function nodesTakePods(client: KubeClient): Promise<boolean> {
  return (await client.list(nodes)).items.every(takesPods);
}

function takesPods({ spec, status }: Node): boolean {
  const ready = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  return ready && (spec?.taints ?? []).length === 0;
}
