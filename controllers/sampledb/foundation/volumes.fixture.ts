// For tests without a provisioner: makes the volumes that a provisioner would make.
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { Key, KubeObject } from "../../../runtime/kube/object.ts";
import { clusterScoped } from "../../../runtime/kube/resource.ts";
import { eventually } from "../../../tools/eventually.ts";
import { type PersistentVolume, persistentVolumeClaims, persistentVolumes } from "../../kinds/kubernetes.ts";

type StorageClass = KubeObject & { readonly provisioner: string; readonly allowVolumeExpansion: boolean };
export const storageClasses = clusterScoped<StorageClass>("storage.k8s.io/v1", "StorageClass", "storageclasses");

/** Another file of tests may have made it before, because files share a control plane. */
export async function ensureStorageClass(
  client: KubeClient,
  name: string,
  { allowVolumeExpansion }: { allowVolumeExpansion: boolean },
): Promise<void> {
  if (await client.find(storageClasses, { namespace: "", name })) return;
  const kind = { apiVersion: "storage.k8s.io/v1", kind: "StorageClass", metadata: { name } };
  await client.create(storageClasses, { ...kind, provisioner: "example.com/none", allowVolumeExpansion });
}

/** Resolves once the claim is bound. The volume's name is namespace and name of the claim. */
export async function bind(client: KubeClient, claim: Key, spec: Partial<PersistentVolume["spec"]> = {}): Promise<Key> {
  const volume = { namespace: "", name: `${claim.namespace}-${claim.name}` };
  await client.create(persistentVolumes, {
    ...{ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: volume.name } },
    spec: {
      ...{ capacity: { storage: "100Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/nonexistent" } },
      ...{ claimRef: { ...claim, apiVersion: "v1", kind: "PersistentVolumeClaim" } },
      ...spec,
    },
  });
  await eventually(`${claim.name} is bound`, 60_000, async () => {
    return (await client.find(persistentVolumeClaims, claim))?.status?.phase === "Bound";
  });
  return volume;
}
