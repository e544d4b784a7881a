// The StatefulSet: how many instances run, and with which template. Also removes the claims that scaling down leaves, where data may go.
import { deletionPolicyOf } from "../../../api/deletion-policy.ts";
import { wanted } from "../../../runtime/controller/kept.ts";
import { awaitChange } from "../../../runtime/controller/result.ts";
import { done, type StepResult, waitFor } from "../../../runtime/controller/steps.ts";
import { ignoreNotFound } from "../../../runtime/kube/errors.ts";
import { controllerOf, isControlledBy, keyOf } from "../../../runtime/kube/object.ts";
import { certificateName } from "../../database/certificates.ts";
import { unprepared } from "../../database/succession.ts";
import { lastPrimary } from "../../database/view.ts";
import { identityOf } from "../../desired/identity.ts";
import { type InstanceRange, statefulSet } from "../../desired/instances.ts";
import { claimName, ordinalOf } from "../../desired/names.ts";
import { isArchived } from "../../desired/store.ts";
import { persistentVolumeClaims, type StatefulSet, statefulSets } from "../../kinds/kubernetes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import { restartWord } from "../change/restart-word.ts";
import { switchover } from "../election/switchover.ts";
import { givenUp } from "../orders/replacement-order.ts";
import type { Part, SampleDBStep, Scope } from "../scope.ts";
import { instanceRange } from "./instance-range.ts";

/** Pods use each of these by its name. A stranger's object of the name would give them its data, token, settings or passwords. */
const needed: readonly Part[] = ["volumes", "credentials", "account", "configuration", "slice"];

export const instances: SampleDBStep = async (scope) => {
  const lacking = lackingParts(scope);
  if (lacking) return lacking;
  const range = rangeNow(scope, "Running");
  await forgetMaking(scope);
  await applyInstances(scope, range);
  await evacuate(scope);
  await removeClaims(scope, range);
  return done;
};

/** Stops the instances of a database that is to be hibernated, the primary last. */
export const hibernation: SampleDBStep = async (scope) => {
  const lacking = lackingParts(scope);
  if (lacking) return lacking;
  await noteLastPrimary(scope);
  await forgetMaking(scope);
  await applyInstances(scope, rangeNow(scope, "Hibernated"));
  return done;
};

function lackingParts({ findings }: Scope): StepResult | undefined {
  const lacking = needed.filter((part) => !findings.confirmed.has(part));
  return lacking.length === 0 ? undefined : waitFor(`its ${lacking.join(", ")}`, awaitChange);
}

/** The ordinals that run now in this power state. */
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

/** Stops the instances of a SampleDB that is being deleted: the replicas, then the primary. */
export async function stop(scope: Scope): Promise<void> {
  await noteLastPrimary(scope);
  if (scope.observed.statefulSet?.metadata.deletionTimestamp) return; // its Pods go with it
  await applyRange(scope, rangeNow(scope, "Hibernated")).catch(ignoreNotFound);
}

/** Changes the range of the StatefulSet and nothing else: its template may have a change that is still on trial. */
export async function applyRange(
  { db, observed: { statefulSet: existing, range: current }, client }: Scope,
  range: InstanceRange,
): Promise<void> {
  if (!existing || isForeign(existing, db) || (current?.start === range.start && current.count === range.count)) return;
  const spec = { replicas: range.count, ordinals: { start: range.start } };
  await client.mergePatch(statefulSets, keyOf(existing), { spec });
}

/** Another object controls it, such as a SampleDB that had the name before. One without a controller was left by its SampleDB, and is taken up. */
export function isForeign(existing: StatefulSet, db: SampleDB): boolean {
  return controllerOf(existing) !== undefined && !isControlledBy(existing, db);
}

/** Where the change on trial is not accepted, only the range changes; a StatefulSet that is missing is made. */
export async function applyInstances(scope: Scope, range: InstanceRange): Promise<void> {
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
          dataServer: isArchived(db) ? { image: choices.ownImage, client: certificateName(identityOf(db), "backup") } : undefined,
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

/** Called before the database stops: the operator that starts it again must know which volume has the newest data. */
export async function noteLastPrimary({
  db,
  observed: { patroni, primary },
  client,
}: Pick<Scope, "db" | "observed" | "client">): Promise<void> {
  const { lock } = patroni;
  const last = primary?.podName ?? lock?.holder ?? db.status?.primaryPodName;
  if (lock && last !== undefined && lock.lastPrimary !== last) await lock.noteLastPrimary(client, last);
}

/** Clears Patroni's `initialize` marker when no Pod is bootstrapping; otherwise the next Pod waits for ever for the one that set it. */
async function forgetMaking({ observed: { bootstrapping, patroni, instances: there, range }, client }: Scope): Promise<void> {
  if (bootstrapping && there.length === 0 && (range?.count ?? 0) === 0) await patroni.settings?.forgetBootstrap(client);
}

/** A primary with an ordinal beyond `replicas` hands over before it goes. */
async function evacuate(scope: Scope): Promise<void> {
  const { db, observed } = scope;
  const { primary } = observed;
  if (!primary || primary.ordinal < db.spec.replicas) return;
  // A replica that answers SQL counts for commits within seconds. After an earlier handover, commits would wait for the former primary.
  if (unprepared(observed).some(({ ready }) => ready)) return;
  // It may have an ordinal beyond `replicas` as well: where Patroni lets only that one take over, a second handover follows.
  const heir = observed.instances.find(({ ordinal, ready, mayTakeOver }) => ordinal < primary.ordinal && ready && mayTakeOver);
  if (heir) await switchover(scope, primary, heir);
}

/** Only where `deletionPolicy` is Delete. Otherwise a claim stays, for when its instance is wanted again. */
async function removeClaims({ db, observed, client, deps }: Scope, range: InstanceRange): Promise<void> {
  if (deletionPolicyOf(db.spec) !== "Delete" || !observed.primary || observed.range?.count !== db.spec.replicas || range.start !== 0)
    return;
  const inUse = new Set(observed.instances.map(({ ordinal }) => claimName(db, ordinal)));
  for (const claim of observed.claims.values()) {
    const { name, uid, resourceVersion, deletionTimestamp } = claim.metadata;
    if (ordinalOf(name) < db.spec.replicas || inUse.has(name) || deletionTimestamp) continue;
    await deps.volumes.tell(client, claim, "release");
    await client.delete(persistentVolumeClaims, keyOf(claim), { uid, resourceVersion }).catch(ignoreNotFound);
  }
}
