// For tests without a provisioner: makes the volumes that a provisioner would make.
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { Key } from "../../../runtime/kube/object.ts";
import { eventually } from "../../../tools/eventually.ts";
import { type PersistentVolume, persistentVolumeClaims, persistentVolumes } from "../../kinds/kubernetes.ts";

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
