// The StatefulSet with as many instances as are to run now.

import { lastPrimaryAnnotation } from "../../../api/annotations.ts";
import { wanted } from "../../../runtime/controller/kept.ts";
import { awaitChange } from "../../../runtime/controller/result.ts";
import { done, waitFor } from "../../../runtime/controller/steps.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { unprepared } from "../../database/succession.ts";
import { type InstanceRange, statefulSet } from "../../desired/instances.ts";
import { claimName, ordinalOf } from "../../desired/names.ts";
import { configMaps, persistentVolumeClaims, statefulSets } from "../../kinds/kubernetes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import { switchover } from "../election/switchover.ts";
import { givenUp, lastPrimary, restartWord, type SampleDBStep, type Scope } from "../scope.ts";
import { instanceRange } from "./instance-range.ts";

export const instances: SampleDBStep = async (scope) => {
  const { db, findings } = scope;
  // A Pod takes whatever has the name that it wants: a stranger's volume, or a Secret with another password.
  if (!findings.volumesReady || !findings.serving) return waitFor("its volumes and credentials", awaitChange);
  const range = rangeNow(scope, db.spec.powerState);
  if (db.spec.powerState === "Hibernated") await noteLastPrimary(scope);
  await forgetMaking(scope);
  await applyInstances(scope, range);
  if (db.spec.powerState === "Hibernated") return waitFor("it to be woken", awaitChange);
  await evacuate(scope);
  await removeClaims(scope, range);
  return done;
};

/** Which ordinals are to run now, if it is to run or to sleep. */
export function rangeNow({ db, observed }: Scope, powerState: SampleDB["spec"]["powerState"]): InstanceRange {
  return instanceRange({
    wanted: db.spec.replicas,
    powerState,
    current: observed.range,
    pods: observed.instances.map(({ ordinal }) => ordinal),
    primary: observed.primary?.ordinal,
    lastPrimary: lastPrimary(db, observed),
    givenUp: givenUp(db, observed) !== undefined,
    initialized: observed.initialized,
  });
}

/** Their number alone: nothing else of the StatefulSet changes, whatever is on trial. */
export async function applyRange(
  { observed: { statefulSet: existing, range: current }, client }: Scope,
  range: InstanceRange,
): Promise<void> {
  if (!existing || (current?.start === range.start && current.count === range.count)) return;
  const spec = { replicas: range.count, ordinals: { start: range.start } };
  await client.mergePatch(statefulSets, keyOf(existing), { spec });
}

async function applyInstances(scope: Scope, range: InstanceRange): Promise<void> {
  const { db, choices, observed, objects, findings } = scope;
  const existing = observed.statefulSet;
  if (findings.trial.kind === "accepted" || !existing) {
    const restart = restartWord(db, observed);
    await objects.keep(db, "instances", JSON.stringify([choices.digest, range, restart]), () => [
      wanted(
        statefulSets,
        statefulSet(db, {
          range,
          image: choices.image,
          restart,
          claimTemplates: existing?.spec?.volumeClaimTemplates,
          asked: choices.askedDigest(restart),
          proven: choices.trialDigest,
          provenFor: choices.trialAskedDigest,
        }),
      ),
    ]);
  } else {
    await applyRange(scope, range);
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

/** Nobody is at it any more, as where the SampleDB was deleted meanwhile: whoever comes would wait for the one of the note for ever. */
async function forgetMaking({ observed: { bootstrapping, dynamicConfig: live, instances: there, range }, client }: Scope): Promise<void> {
  if (!bootstrapping || !live || there.length > 0 || (range?.count ?? 0) > 0) return;
  const { resourceVersion } = live.metadata;
  await client.mergePatch(configMaps, keyOf(live), { metadata: { resourceVersion, annotations: { initialize: null } } });
}

/** A primary that is not to stay hands over first. */
async function evacuate(scope: Scope): Promise<void> {
  const { db, observed } = scope;
  const { primary } = observed;
  if (!primary || primary.ordinal < db.spec.replicas) return;
  // Who answers counts for commits within seconds: handed over before, they would wait for the primary that was.
  if (unprepared(observed).some(({ ready }) => ready)) return;
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
