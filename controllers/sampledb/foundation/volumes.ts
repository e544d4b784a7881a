// What becomes of a volume when its claim goes. A claim can go without the operator being asked: with its namespace, or by someone's hand.
import { formerPolicyAnnotation } from "../../../api/annotations.ts";
import { BoundedMap } from "../../../runtime/bounded-map.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { Forbidden } from "../../../runtime/kube/errors.ts";
import { type PersistentVolumeClaim, persistentVolumes } from "../../kinds/kubernetes.ts";

/** Volumes are not watched: the cluster has many, and few are ours. What was written is remembered. */
export class Volumes {
  readonly #told = new BoundedMap<"keep" | "release">(20_000);

  /** Has the volume outlive its claim. Where the operator has no rights outside of its namespaces, the class decides. */
  async keep(client: KubeClient, claim: PersistentVolumeClaim): Promise<void> {
    const name = claim.spec?.volumeName;
    if (!name || this.#told.get(name) === "keep") return;
    await this.#change(client, claim, (policy) => ({
      annotations: { [formerPolicyAnnotation]: policy },
      wanted: "Retain",
    }));
    this.#told.set(name, "keep");
  }

  /** Has it go with its claim again, if that was so before. */
  async release(client: KubeClient, claim: PersistentVolumeClaim): Promise<void> {
    const name = claim.spec?.volumeName;
    if (!name || this.#told.get(name) === "release") return;
    await this.#change(client, claim, (_, former) => ({ annotations: { [formerPolicyAnnotation]: null }, wanted: former }));
    this.#told.set(name, "release");
  }

  async #change(
    client: KubeClient,
    { metadata: { uid }, spec: { volumeName: name = "" } = {} }: PersistentVolumeClaim,
    decide: (policy: string, former: string | undefined) => { annotations: Record<string, string | null>; wanted: string | undefined },
  ): Promise<void> {
    try {
      const volume = await client.find(persistentVolumes, { namespace: "", name });
      const policy = volume?.spec?.persistentVolumeReclaimPolicy ?? "";
      const { annotations, wanted } = decide(policy, volume?.metadata.annotations?.[formerPolicyAnnotation]);
      if (!volume || wanted === undefined || wanted === policy) return;
      if (volume.spec?.claimRef?.uid !== uid) return; // somebody else's, which a claim that was copied names as well
      await client.mergePatch(
        persistentVolumes,
        { namespace: "", name },
        { metadata: { annotations }, spec: { persistentVolumeReclaimPolicy: wanted } },
      );
    } catch (error) {
      if (!(error instanceof Forbidden)) throw error;
    }
  }
}
