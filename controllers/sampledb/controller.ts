// The controller of SampleDBs: which changes of which objects cause a reconcile. controllers/watches.ts declares the watches.
import { ControllerBuilder, type ControllerDefinition, type ReconcileOptions } from "../../runtime/controller/builder.ts";
import { anyOf, generationChanged, type Predicate, whenChanged } from "../../runtime/controller/predicates.ts";
import { controllerOf, type Key } from "../../runtime/kube/object.ts";
import type { Resource } from "../../runtime/kube/resource.ts";
import { isGood } from "../database/backups.ts";
import { hasEnded } from "../database/ended.ts";
import { instanceOf } from "../database/instance.ts";
import {
  type ConfigMap,
  configMaps,
  deployments,
  endpointSlices,
  jobs,
  type Pod,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  roleBindings,
  roles,
  serviceAccounts,
  services,
  statefulSets,
} from "../kinds/kubernetes.ts";
import { type Backup, backups, type Restore, restores, type SampleDB, sampledbs } from "../kinds/sampledb-io.ts";
import { steadyPart } from "../patroni/state.ts";
import { databaseOf } from "../watches.ts";
import { reconcile } from "./reconcile.ts";
import { sweepEachMinute } from "./schedules/sweep.ts";
import type { Dependencies } from "./scope.ts";

/** Annotations can be orders, and deletion can wait for another finalizer. The status is the controller's own: it causes no reconcile. */
const sampleDBChanged: Predicate<SampleDB> = anyOf(
  generationChanged,
  whenChanged(
    (now, before) =>
      JSON.stringify([now.metadata.annotations, now.metadata.finalizers]) !==
      JSON.stringify([before.metadata.annotations, before.metadata.finalizers]),
  ),
);

/** Patroni writes to its Pod in every loop, because the log position moves. Only fields that steps or the status use cause a reconcile. */
const podChanged: Predicate<Pod> = whenChanged((now, before) => seen(now) !== seen(before));

function seen(pod: Pod): string {
  const { phase, containerStatuses } = pod.status ?? {};
  const ended = containerStatuses?.map(({ state }) => state?.terminated?.message);
  // The leader lock, another object, decides which instance leads. Each counts as leader here, so that no change of its role is missed.
  return JSON.stringify([instanceOf(pod, { leads: pod.metadata.name }), controllerOf(pod)?.uid, phase, ended]);
}

/** The leader renews its lock in every loop. */
const stateChanged: Predicate<ConfigMap> = whenChanged((now, before) => steadyPart(now) !== steadyPart(before));

/** The status of a SampleDB tells of good Backups, and a slot of a schedule, or a deletion, may wait for the end of one. */
const backupEnded: Predicate<Backup> = whenChanged((now, before) => isGood(now) !== isGood(before) || hasEnded(now) !== hasEnded(before));

/** What a restore in place waits for on the side of the SampleDB. */
const restoreMoved: Predicate<Restore> = whenChanged(
  (now, before) => hasEnded(now) !== hasEnded(before) || now.status?.systemIdentifier !== before.status?.systemIdentifier,
);

function inPlaceOf({ metadata, spec: { destination } }: Restore): Key[] {
  return destination.type === "InPlace" ? [{ namespace: metadata.namespace ?? "", name: destination.sampleDBName }] : [];
}

export function sampleDBController(deps: Dependencies, options: ReconcileOptions): ControllerDefinition {
  const ours: readonly Resource[] = [
    services,
    endpointSlices,
    serviceAccounts,
    roles,
    roleBindings,
    podDisruptionBudgets,
    persistentVolumeClaims,
    statefulSets,
    deployments,
    jobs,
  ];
  const builder = ControllerBuilder.for("sampledb", sampledbs, sampleDBChanged);
  for (const resource of ours) builder.watches(resource, databaseOf);
  return builder
    .watches(configMaps, databaseOf, stateChanged)
    .watches(pods, databaseOf, podChanged)
    .watches(backups, ({ metadata, spec }) => [{ namespace: metadata.namespace ?? "", name: spec.sampleDBName }], backupEnded)
    .watches(restores, inPlaceOf, restoreMoved)
    .prompted(sweepEachMinute(deps.cache, deps.now))
    .reconcile((request) => reconcile(request, deps), options);
}
