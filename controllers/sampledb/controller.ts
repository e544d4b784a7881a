// The controller of SampleDBs: which changes of which objects concern it. What is watched is declared in watches.ts, for all controllers.
import { ControllerBuilder, type ControllerDefinition, type ReconcileOptions } from "../../runtime/controller/builder.ts";
import { anyOf, generationChanged, type Predicate, whenChanged } from "../../runtime/controller/predicates.ts";
import type { Resource } from "../../runtime/kube/resource.ts";
import { instanceOf } from "../database/instance.ts";
import {
  type ConfigMap,
  configMaps,
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
import { type SampleDB, sampledbs } from "../kinds/sampledb-io.ts";
import { steadyPart } from "../patroni/state.ts";
import { databaseOf } from "../watches.ts";
import { reconcile } from "./reconcile.ts";
import type { Dependencies } from "./scope.ts";

/** Annotations are orders, and finalizers tell when others are done. The status is the controller's own. */
const sampleDBChanged: Predicate<SampleDB> = anyOf(
  generationChanged,
  whenChanged(
    (now, before) =>
      JSON.stringify([now.metadata.annotations, now.metadata.finalizers]) !==
      JSON.stringify([before.metadata.annotations, before.metadata.finalizers]),
  ),
);

/** Patroni writes on its Pod in every loop, because the log moves: only what the steps act on, or the status tells, is worth a reconcile. */
const podChanged: Predicate<Pod> = whenChanged((now, before) => seen(now) !== seen(before));

function seen(pod: Pod): string {
  const { phase, containerStatuses } = pod.status ?? {};
  const ended = containerStatuses?.map(({ state }) => state?.terminated?.message);
  // Whether it leads is told by another object.
  return JSON.stringify([instanceOf(pod, { leads: pod.metadata.name }), phase, ended]);
}

/** The leader renews its lock in every loop. */
const stateChanged: Predicate<ConfigMap> = whenChanged((now, before) => steadyPart(now) !== steadyPart(before));

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
    jobs,
  ];
  const builder = ControllerBuilder.for("sampledb", sampledbs, sampleDBChanged);
  for (const resource of ours) builder.watches(resource, databaseOf);
  return builder
    .watches(configMaps, databaseOf, stateChanged)
    .watches(pods, databaseOf, podChanged)
    .reconcile((request) => reconcile(request, deps), options);
}
