// Sets whether a volume is retained when its claim goes. A claim can go without the operator: with its namespace, or deleted by a person.
//
// Volumes are not watched: a cluster has many, and few are ours. So the claim has a note of the fate that was set on its volume. The note
// comes from the cache, so no replica of the operator relies on its own memory. The note never promises more than the operator did:
// "keep" is noted after the volume was changed, and taken back before the volume is changed again.
import { formerPolicyAnnotation, volumeFateAnnotation } from "../../../api/annotations.ts";
import { BoundedMap } from "../../../runtime/bounded-map.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { Forbidden, ignoreNotFound } from "../../../runtime/kube/errors.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { claimName, ordinalOf } from "../../desired/names.ts";
import { type PersistentVolume, type PersistentVolumeClaim, persistentVolumeClaims, persistentVolumes } from "../../kinds/kubernetes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";

/** `keep`: the volume outlives its claim. `release`: the volume gets back the reclaim policy that it had before the operator changed it. */
export type Fate = "keep" | "release";

/** A volume that the operator may not read, or that is another claim's, is read again after this. */
const outOfReachMilliseconds = 3_600_000;

export class Volumes {
  readonly #now: () => Date;
  /** By the uid of the claim: until when its volume is not read again. */
  readonly #outOfReach = new BoundedMap<number>(20_000);

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Sets the fate, unless the claim's note says that it is set. Where the operator has no rights to volumes, the StorageClass decides. */
  async ensure(client: KubeClient, claim: PersistentVolumeClaim, fate: Fate): Promise<void> {
    const { uid = "" } = claim.metadata;
    // Before it is bound, the volume may not name the claim yet; the watch reports when it is.
    if (claim.status?.phase !== "Bound" || noteOf(claim) === fate || (this.#outOfReach.get(uid) ?? 0) > this.#now().getTime()) return;
    if (!(await this.tell(client, claim, fate))) this.#outOfReach.set(uid, this.#now().getTime() + outOfReachMilliseconds);
  }

  /** Gives a volume whose claim is gone the reclaim policy back that it had. With `Delete` Kubernetes removes it then. */
  async letGo(client: KubeClient, name: string, db: Pick<SampleDB, "metadata">): Promise<void> {
    try {
      const volume = await client.find(persistentVolumes, { namespace: "", name });
      const change = volume && isReleasedBy(volume, db) ? changeFor(volume, "release") : undefined;
      if (change) await client.mergePatch(persistentVolumes, { namespace: "", name }, change);
    } catch (error) {
      if (!(error instanceof Forbidden)) throw error;
    }
  }

  /**
   * Sets the fate on the volume itself, whatever the note says: for the moment before a claim goes. False where the volume is out of
   * reach.
   */
  async tell(client: KubeClient, claim: PersistentVolumeClaim, fate: Fate): Promise<boolean> {
    const key = { namespace: "", name: claim.spec?.volumeName ?? "" };
    if (key.name === "") return false;
    try {
      const volume = await client.find(persistentVolumes, key);
      if (!volume || volume.spec?.claimRef?.uid !== claim.metadata.uid) return false; // a claim copied by hand names another's volume
      const change = changeFor(volume, fate);
      const noted = fate === "release" && change && noteOf(claim) === "keep" ? await note(client, claim, "releasing") : claim;
      if (change) await client.mergePatch(persistentVolumes, key, change);
      if (noted && noteOf(noted) !== fate) await note(client, noted, fate);
      return true;
    } catch (error) {
      if (!(error instanceof Forbidden)) throw error;
      return false;
    }
  }
}

/** Of a claim of this SampleDB that is gone. */
function isReleasedBy({ spec, status }: PersistentVolume, { metadata }: Pick<SampleDB, "metadata">): boolean {
  const { namespace, name = "" } = spec?.claimRef ?? {};
  const isOurs = namespace === metadata.namespace && name === claimName({ metadata }, ordinalOf(name));
  return isOurs && status?.phase === "Released";
}

function changeFor({ metadata, spec }: PersistentVolume, fate: Fate): object | undefined {
  const policy = spec?.persistentVolumeReclaimPolicy ?? "";
  const former = metadata.annotations?.[formerPolicyAnnotation];
  const wanted = fate === "keep" ? "Retain" : former;
  if (wanted === undefined || wanted === policy) return undefined;
  const annotations = { [formerPolicyAnnotation]: fate === "keep" ? policy : null };
  const { resourceVersion } = metadata;
  return { metadata: { resourceVersion, annotations }, spec: { persistentVolumeReclaimPolicy: wanted } };
}

function noteOf({ metadata: { annotations, uid } }: PersistentVolumeClaim): string | undefined {
  const [fate, of] = annotations?.[volumeFateAnnotation]?.split("/") ?? [];
  return of === uid ? fate : undefined;
}

/** Writes to the claim only as it was read. */
async function note(client: KubeClient, claim: PersistentVolumeClaim, fate: Fate | "releasing") {
  const { uid, resourceVersion } = claim.metadata;
  const annotations = { [volumeFateAnnotation]: `${fate}/${uid}` };
  const patch = { metadata: { uid, resourceVersion, annotations } };
  return await client.mergePatch(persistentVolumeClaims, keyOf(claim), patch).catch(ignoreNotFound);
}
