// The StatefulSet with as many instances as are to run now.
import { awaitChange } from "../../../runtime/controller/result.ts";
import { done, waitFor } from "../../../runtime/controller/steps.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { type InstanceRange, statefulSet } from "../../desired/instances.ts";
import { claimName, ordinalOf } from "../../desired/names.ts";
import { configMaps, persistentVolumeClaims, statefulSets } from "../../kinds.ts";
import { askedDigest, imageOf, trialDigest } from "../choices.ts";
import { instanceRange } from "../instance-range.ts";
import { lastPrimary, lastPrimaryAnnotation, restartWord, type SampleDBStep, type Scope } from "../scope.ts";
import { switchover } from "../switchover.ts";

export const instances: SampleDBStep = async (scope) => {
  const { db, observed, findings } = scope;
  // A Pod takes whatever has the name that it wants: a stranger's volume, or a Secret with another password.
  if (!findings.volumesReady || !findings.serving) return waitFor("its volumes and credentials", awaitChange);
  const range = instanceRange({
    wanted: db.spec.replicas,
    powerState: db.spec.powerState,
    current: observed.range,
    pods: observed.instances.map(({ ordinal }) => ordinal),
    primary: observed.primary?.ordinal,
    lastPrimary: lastPrimary(db, observed),
    initialized: observed.initialized,
  });
  if (db.spec.powerState === "Hibernated") await noteLastPrimary(scope);
  await applyInstances(scope, range);
  if (db.spec.powerState === "Hibernated") return waitFor("it to be woken", awaitChange);
  await evacuate(scope);
  await removeClaims(scope, range);
  return done;
};

async function applyInstances({ db, deps, observed, objects, client, findings }: Scope, range: InstanceRange): Promise<void> {
  const existing = observed.statefulSet;
  if (findings.trial.kind === "accepted" || !existing) {
    const desired = statefulSet(db, {
      range,
      image: imageOf(db, deps),
      restart: restartWord(db, observed),
      claimTemplates: existing?.spec?.volumeClaimTemplates,
      asked: askedDigest(db, observed),
      proven: trialDigest(db, deps),
    });
    await objects.apply(statefulSets, desired);
  } else if (observed.range?.start !== range.start || observed.range.count !== range.count) {
    // Their number is not on trial.
    const spec = { replicas: range.count, ordinals: { start: range.start } };
    await client.mergePatch(statefulSets, keyOf(existing), { spec });
  }
}

/** Before it is stopped: whoever starts it again must know where the newest data is. */
export async function noteLastPrimary({
  db,
  observed: { leader, primary },
  client,
}: Pick<Scope, "db" | "observed" | "client">): Promise<void> {
  const told = leader?.metadata.annotations;
  const last = primary?.podName ?? told?.["leader"] ?? db.status?.primaryPodName;
  if (!leader || last === undefined || told?.[lastPrimaryAnnotation] === last) return;
  await client.mergePatch(configMaps, keyOf(leader), { metadata: { annotations: { [lastPrimaryAnnotation]: last } } });
}

/** A primary that is not to stay hands over first. */
async function evacuate(scope: Scope): Promise<void> {
  const { db, observed } = scope;
  const { primary } = observed;
  if (!primary || primary.ordinal < db.spec.replicas) return;
  // Not always one that is to stay: where Patroni lets only one take over, the way there may have two steps.
  const heir = observed.instances.find(({ ordinal, ready, mayTakeOver }) => ordinal < primary.ordinal && ready && mayTakeOver);
  if (heir) await switchover(scope, primary, heir);
}

/** Only when told that data may go: otherwise a claim stays for the day when its instance is wanted again. */
async function removeClaims({ db, observed, client, deps }: Scope, range: InstanceRange): Promise<void> {
  if (db.spec.deletionPolicy !== "Delete" || !observed.primary || observed.range?.count !== db.spec.replicas || range.start !== 0) return;
  const inUse = new Set(observed.instances.map(({ ordinal }) => claimName(db, ordinal)));
  for (const claim of observed.claims.values()) {
    const { name, uid, resourceVersion, deletionTimestamp } = claim.metadata;
    if (ordinalOf(name) < db.spec.replicas || inUse.has(name) || deletionTimestamp) continue;
    await deps.volumes.release(client, claim);
    await client.delete(persistentVolumeClaims, keyOf(claim), { uid, resourceVersion });
  }
}
