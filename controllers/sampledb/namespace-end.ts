// A namespace that is deleted takes claims, passwords and Events along and asks no SampleDB: its volumes are kept, and where they are is
// told in the operator's namespace.
import { conditionTypes, reasons } from "../../api/conditions.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { Forbidden } from "../../runtime/kube/errors.ts";
import type { KubeObject } from "../../runtime/kube/object.ts";
import { claimName, ordinalOf } from "../desired/names.ts";
import { namespaces, persistentVolumes } from "../kinds.ts";
import type { SampleDB } from "../resources.ts";
import type { Scope } from "./scope.ts";

/** Once, when the deletion begins. The claims may be gone by then: Pods go first, and the SampleDB in no order with the rest. */
export async function tellNamespaceEnd({ db, key, client, deps }: Scope): Promise<void> {
  if (deletionIsTold(db)) return;
  const namespace = await client.find(namespaces, { namespace: "", name: key.namespace }).catch(unknownWithoutRights);
  if (!namespace?.metadata.deletionTimestamp) return;
  const volumes = await keptVolumes(db, client).catch(unknownWithoutRights);
  const fate = volumes?.length
    ? `its data stays on the volumes ${volumes.join(", ")}`
    : "what becomes of its volumes is up to their StorageClass";
  const note = `namespace ${key.namespace} is deleted with SampleDB ${db.metadata.name} in it, whose deletionPolicy is ${db.spec.deletionPolicy}: ${fate}; passwords and certificates go`;
  deps.events.record(inOperatorNamespace(namespace, deps.operatorNamespace), {
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

function deletionIsTold({ status }: SampleDB): boolean {
  return status?.conditions?.some(({ type, reason }) => type === conditionTypes.ready && reason === reasons.deleting) ?? false;
}

/** An operator of some namespaces may not look beyond them. */
function unknownWithoutRights(error: unknown): undefined {
  if (!(error instanceof Forbidden)) throw error;
}

/** An Event has to be where the object is that it names, and nothing can be made any more where this one was. */
function inOperatorNamespace(namespace: KubeObject, operatorNamespace: string): KubeObject {
  return { ...namespace, metadata: { ...namespace.metadata, namespace: operatorNamespace } };
}
