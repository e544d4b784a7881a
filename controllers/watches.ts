// The watches of the operator: kinds, selectors and indexes, declared once for all controllers, before any controller is added.
import { ownTrialAnnotation } from "../api/annotations.ts";
import { labelNames } from "../api/labels.ts";
import type { Cache } from "../runtime/cache/cache.ts";
import type { Key, KubeObject } from "../runtime/kube/object.ts";
import type { Resource } from "../runtime/kube/resource.ts";
import { hasEnded } from "./database/ended.ts";
import { instanceComponent, managedBy, selectorOf } from "./desired/identity.ts";
import { claimName, ordinalOf } from "./desired/names.ts";
import { repositoryComponent } from "./desired/repository.ts";
import { sliceLabels } from "./desired/services.ts";
import { jobFailed, jobSucceeded } from "./jobs/outcome.ts";
import {
  configMaps,
  deployments,
  endpointSlices,
  type Job,
  jobs,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  roleBindings,
  roles,
  serviceAccounts,
  services,
  statefulSets,
} from "./kinds/kubernetes.ts";
import { type Backup, backups, restores, sampledbs } from "./kinds/sampledb-io.ts";

/** Index by `namespace/name` of the SampleDB. Of Pods: the instances. Of claims: those with data. Of Jobs and Backups: all of the database. */
export const byDatabase = "database";
/** Index of Pods: those of the repository, by `namespace/name` of the SampleDB. */
export const byRepository = "repository";
/** Index of Pods by `namespace/name` of their Job. */
export const byJob = "job";
/** Index of Backups: those that are not over, all under one value. */
export const openBackups = "open-backups";
/** Index of Jobs: the running trials of changes that a newer operator made by itself, all under one value. */
export const ownTrials = "own-trials";

/** Of Kubernetes' kinds, only the objects that the operator made: the cluster's other objects would fill its memory for nothing. */
const labelSelector = selectorOf(managedBy);

export function declareWatches(cache: Cache): void {
  for (const resource of [sampledbs, restores] as readonly Resource[]) cache.watch(resource);
  const ofBackup = ({ metadata, spec }: Backup) => [`${metadata.namespace}/${spec.sampleDBName}`];
  cache.watch(backups, { indexes: { [byDatabase]: ofBackup, [openBackups]: (backup) => (hasEnded(backup) ? [] : [openBackups]) } });
  cache.watch(pods, { labelSelector, indexes: { [byDatabase]: ofInstances, [byRepository]: ofRepository, [byJob]: jobOf } });
  cache.watch(persistentVolumeClaims, { labelSelector, indexes: { [byDatabase]: ofData } });
  cache.watch(jobs, { labelSelector, indexes: { [byDatabase]: databaseText, [ownTrials]: runningOwnTrial } });
  cache.watch(endpointSlices, { labelSelector: selectorOf(sliceLabels) });
  const others = [services, serviceAccounts, roles, roleBindings, podDisruptionBudgets, statefulSets, deployments, configMaps];
  for (const resource of others as readonly Resource[]) cache.watch(resource, { labelSelector });
}

/** The SampleDB that an object belongs to, by its label. */
export function databaseOf({ metadata }: KubeObject): Key[] {
  const name = metadata.labels?.[labelNames.database];
  return name === undefined ? [] : [{ namespace: metadata.namespace ?? "", name }];
}

function databaseText(object: KubeObject): string[] {
  return databaseOf(object).map(({ namespace, name }) => `${namespace}/${name}`);
}

function ofInstances(object: KubeObject): string[] {
  return object.metadata.labels?.[labelNames.component] === instanceComponent ? databaseText(object) : [];
}

function ofRepository(pod: Pod): string[] {
  return pod.metadata.labels?.[labelNames.component] === repositoryComponent ? databaseText(pod) : [];
}

/** By component and name: a repository's claim has the label of its database, too, and must be neither grown nor deleted as data. */
export function ofData(claim: PersistentVolumeClaim): string[] {
  const { name } = claim.metadata;
  const isData = (database: Key) => name === claimName({ metadata: database }, ordinalOf(name));
  return databaseOf(claim).some(isData) ? ofInstances(claim) : [];
}

function runningOwnTrial(job: Job): string[] {
  const runs = !jobSucceeded(job) && !jobFailed(job);
  return runs && job.metadata.annotations?.[ownTrialAnnotation] !== undefined ? [ownTrials] : [];
}

function jobOf({ metadata: { namespace, labels } }: Pod): string[] {
  const job = labels?.["batch.kubernetes.io/job-name"];
  return job === undefined ? [] : [`${namespace}/${job}`];
}
