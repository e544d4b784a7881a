// The controller of SampleDBs: what it watches, and which changes concern it.
import { ownTrialAnnotation } from "../../api/annotations.ts";
import { labelNames } from "../../api/labels.ts";
import type { Cache } from "../../runtime/cache/cache.ts";
import { ControllerBuilder, type ControllerDefinition, type ReconcileOptions } from "../../runtime/controller/builder.ts";
import { anyOf, generationChanged, type Predicate, whenChanged } from "../../runtime/controller/predicates.ts";
import type { Key, KubeObject } from "../../runtime/kube/object.ts";
import type { Resource } from "../../runtime/kube/resource.ts";
import { instanceOf } from "../database/instance.ts";
import { managedBy, selectorOf } from "../desired/identity.ts";
import { sliceLabels } from "../desired/services.ts";
import { jobFailed, jobSucceeded } from "../jobs/outcome.ts";
import {
  type ConfigMap,
  configMaps,
  endpointSlices,
  type Job,
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
import { reconcile } from "./reconcile.ts";
import { byDatabase, byJob, type Dependencies, ownTrials } from "./scope.ts";

const labelSelector = selectorOf(managedBy);

/** Annotations are orders, and finalizers tell when others are done; the status is our own. */
const sampleDBChanged: Predicate<SampleDB> = anyOf(
  generationChanged,
  whenChanged(
    (now, before) =>
      JSON.stringify([now.metadata.annotations, now.metadata.finalizers]) !==
      JSON.stringify([before.metadata.annotations, before.metadata.finalizers]),
  ),
);

/** Patroni writes on its Pod in every loop, because the log moves: only what is acted on or told is worth a reconcile. */
const podChanged: Predicate<Pod> = whenChanged((now, before) => seen(now) !== seen(before));

function seen(pod: Pod): string {
  const { phase, containerStatuses } = pod.status ?? {};
  const ended = containerStatuses?.map(({ state }) => state?.terminated?.message);
  // Whether it leads is told by another object.
  return JSON.stringify([instanceOf(pod, { leads: pod.metadata.name }), phase, ended]);
}

/** The leader renews its lock in every loop. */
const stateChanged: Predicate<ConfigMap> = whenChanged((now, before) => kept(now) !== kept(before));

function kept({ metadata: { annotations = {}, labels }, data }: ConfigMap): string {
  const { renewTime: _, optime: __, slots: ___, retain_slots: ____, ...rest } = annotations;
  return JSON.stringify([rest, labels, data]);
}

/** By the label that all that belongs to a SampleDB has. */
function databaseOf({ metadata }: KubeObject): Key[] {
  const name = metadata.labels?.[labelNames.database];
  return name === undefined ? [] : [{ namespace: metadata.namespace ?? "", name }];
}

export function sampleDBController(deps: Dependencies, options: ReconcileOptions): ControllerDefinition {
  watch(deps.cache);
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

/** Only what the operator has made, of all kinds: the cluster's other Pods are none of its business, nor in its memory. */
function watch(cache: Cache): void {
  const database = { [byDatabase]: (object: KubeObject) => databaseOf(object).map(({ namespace, name }) => `${namespace}/${name}`) };
  cache.watch(pods, { labelSelector, indexes: { [byDatabase]: instancesOnly, [byJob]: jobOf } });
  cache.watch(persistentVolumeClaims, { labelSelector, indexes: database });
  cache.watch(jobs, { labelSelector, indexes: { [ownTrials]: runningOwnTrial } });
  cache.watch(endpointSlices, { labelSelector: selectorOf(sliceLabels) });
  for (const resource of [
    services,
    serviceAccounts,
    roles,
    roleBindings,
    podDisruptionBudgets,
    statefulSets,
    configMaps,
  ] as readonly Resource[]) {
    cache.watch(resource, { labelSelector });
  }
}

function instancesOnly(pod: Pod): string[] {
  return pod.metadata.labels?.[labelNames.component] === "postgresql"
    ? databaseOf(pod).map(({ namespace, name }) => `${namespace}/${name}`)
    : [];
}

function runningOwnTrial(job: Job): string[] {
  const runs = !jobSucceeded(job) && !jobFailed(job);
  return runs && job.metadata.annotations?.[ownTrialAnnotation] !== undefined ? [ownTrials] : [];
}

function jobOf({ metadata: { namespace, labels } }: Pod): string[] {
  const job = labels?.["batch.kubernetes.io/job-name"];
  return job === undefined ? [] : [`${namespace}/${job}`];
}
