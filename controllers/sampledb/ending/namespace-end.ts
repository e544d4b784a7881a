// The end of a namespace. It takes claims, passwords and Events along, whatever the SampleDB says. The volumes are retained, and an Event
// in the operator's namespace names them.
import { deletionPolicyOf } from "../../../api/deletion-policy.ts";
import { reasons } from "../../../api/reasons.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { KubeObject } from "../../../runtime/kube/object.ts";
import { namespaceGoes, unknownWithoutRights } from "../../database/namespace.ts";
import { claimName, ordinalOf } from "../../desired/names.ts";
import { persistentVolumes } from "../../kinds/kubernetes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import type { Scope } from "../scope.ts";

/** Looks for volumes, not claims: the claims may be gone already. Every reconcile repeats the Event; Kubernetes counts it. */
export async function tellNamespaceEnd(scope: Scope): Promise<void> {
  const { db, key, client, deps } = scope;
  if (!(await namespaceGoes(client, key.namespace))) return;
  const volumes = await keptVolumes(db, client).catch(unknownWithoutRights);
  const fate = volumes?.length ? `${volumes.join(", ")} have the data` : "what becomes of the volumes is up to their StorageClass";
  const note = `${fate} of SampleDB ${key.namespace}/${db.metadata.name}, whose deletionPolicy is ${deletionPolicyOf(db.spec)} and whose namespace is deleted; passwords and certificates go`;
  deps.events.record(inOperatorNamespace(db, deps.operatorNamespace), {
    ...{ type: "Warning", reason: reasons.namespaceDeleted, action: "Delete", note },
  });
}

async function keptVolumes(db: SampleDB, client: KubeClient): Promise<string[]> {
  const found: string[] = [];
  for await (const { items } of client.pages(persistentVolumes)) {
    for (const { metadata, spec } of items) {
      const { namespace, name: claim = "" } = spec?.claimRef ?? {};
      const isOurs = namespace === db.metadata.namespace && claim === claimName(db, ordinalOf(claim));
      if (isOurs && spec?.persistentVolumeReclaimPolicy === "Retain") found.push(`${metadata.name} (${claim})`);
    }
  }
  return found.sort();
}

/** An Event must be in the namespace of the object that it names, and a namespace that is being deleted takes no new objects. */
function inOperatorNamespace({ apiVersion, kind, metadata: { name, uid = "" } }: SampleDB, namespace: string): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace, uid } };
}
