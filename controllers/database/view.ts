// One database as any controller sees it: read from the cache, without a request. Pure: the same cache gives the same view.
import type { Cache } from "../../runtime/cache/cache.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { controllerOf, type KubeObject } from "../../runtime/kube/object.ts";
import { heldNames } from "../desired/held-settings.ts";
import { belongsTo } from "../desired/identity.ts";
import type { InstanceRange } from "../desired/instances.ts";
import { claimName, namesOf, ordinalOf, podName } from "../desired/names.ts";
import {
  type ConfigMap,
  configMaps,
  type Deployment,
  deployments,
  type EndpointSlice,
  endpointSlices,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
  statefulSets,
} from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { ClusterSettings, LeaderLock, type PatroniState, SwitchoverOrder, Synchrony } from "../patroni/state.ts";
import { byDatabase, byRepository } from "../watches.ts";
import { type Instance, instanceOf } from "./instance.ts";

export interface DatabaseView {
  readonly statefulSet: StatefulSet | undefined;
  readonly range: InstanceRange | undefined;
  /** By ordinal. */
  readonly instances: readonly Instance[];
  readonly primary: Instance | undefined;
  /** Commits wait for replicas, so every acknowledged commit is on a replica that may take over. */
  readonly commitsWait: boolean;
  /** The claims with the database's data, by name. */
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly patroni: PatroniState;
  readonly repository: RepositoryView;
  /** The EndpointSlice of the read-write Service. */
  readonly writeSlice: EndpointSlice | undefined;
  /** An instance has made this database's data. */
  readonly initialized: boolean;
  /** The first instance is making the data. Patroni can't resume a bootstrap that is interrupted. */
  readonly bootstrapping: boolean;
}

/** The repository's objects; undefined where they do not exist. */
export interface RepositoryView {
  readonly config: ConfigMap | undefined;
  readonly claim: PersistentVolumeClaim | undefined;
  readonly deployment: Deployment | undefined;
  /** The newest Pod. */
  readonly pod: Pod | undefined;
}

/** Needs no more than the name of the SampleDB, so it works for a database whose SampleDB is gone. */
export function observeDatabase(db: Pick<SampleDB, "metadata">, cache: Cache): DatabaseView {
  const { namespace = "", name } = db.metadata;
  const names = namesOf(db);
  const key = (object: string) => ({ namespace, name: object });
  const statefulSet = cache.watched(statefulSets).get(key(names.statefulSet));
  const patroni = patroniState(names, (object) => cache.watched(configMaps).get(key(object)));
  const { lock, settings } = patroni;
  const synchronous = patroni.synchrony?.waitedFor(lock?.holder);
  const writeSlice = cache.watched(endpointSlices).get(key(names.readWriteService));
  const told = {
    leads: lock?.holder,
    synchronous,
    failsafe: lock?.failsafe,
    writesTo: writeSlice?.endpoints?.[0],
    held: heldNames(settings?.object),
  };
  const instances = instancePods(db, cache)
    .map((pod) => instanceOf(pod, told))
    .sort((a, b) => a.ordinal - b.ordinal);
  const claims = cache.watched(persistentVolumeClaims).listBy(byDatabase, `${namespace}/${name}`);
  return {
    statefulSet,
    range: statefulSet?.spec && { start: statefulSet.spec.ordinals?.start ?? 0, count: statefulSet.spec.replicas ?? 0 },
    instances,
    primary: instances.find(({ role }) => role === "Primary"),
    commitsWait: synchronous !== undefined,
    claims: new Map(claims.map((claim) => [claim.metadata.name, claim])),
    patroni,
    repository: observeRepository(db, cache),
    writeSlice,
    bootstrapping: settings?.isBootstrapping ?? false,
    initialized: settings?.isInitialized ?? false,
  };
}

function observeRepository(db: Pick<SampleDB, "metadata">, cache: Cache): RepositoryView {
  const { namespace = "", name } = db.metadata;
  const key = { namespace, name: namesOf(db).repository };
  const made = ({ metadata: { creationTimestamp = "" } }: Pod) => creationTimestamp;
  const ours = <T extends KubeObject>(found: T | undefined) => (found && belongsTo(db, found) ? found : undefined);
  // Whoever answers proves itself by a certificate, so a Pod that only wears the label can tell nothing.
  const [pod] = cache
    .watched(pods)
    .listBy(byRepository, `${namespace}/${name}`)
    .filter((found) => controllerOf(found)?.kind === "ReplicaSet")
    .sort((a, b) => made(b).localeCompare(made(a)));
  return {
    config: cache.watched(configMaps).get(key),
    claim: ours(cache.watched(persistentVolumeClaims).get(key)),
    deployment: cache.watched(deployments).get(key),
    pod,
  };
}

/**
 * The Pods that are instances. A label is not enough, because anybody who may make Pods can wear it: the name must be an instance's, and the
 * controller a StatefulSet of the database's name. A Pod of an earlier StatefulSet counts for as long as it is there, because its server runs.
 * A Pod without a controller counts while the StatefulSet that has left it goes, is gone, or was made anew and has yet to adopt it.
 */
export function instancePods(db: Pick<SampleDB, "metadata">, cache: Cache): Pod[] {
  const { namespace = "", name } = db.metadata;
  const set = namesOf(db).statefulSet;
  const live = cache.watched(statefulSets).get({ namespace, name: set })?.metadata;
  const isLeft = ({ metadata: { creationTimestamp: made = "" } }: Pod) =>
    live === undefined || live.deletionTimestamp !== undefined || made < (live.creationTimestamp ?? "");
  const isInstance = (pod: Pod) => {
    if (pod.metadata.name !== podName(db, ordinalOf(pod.metadata.name))) return false;
    const controller = controllerOf(pod);
    return controller ? controller.kind === "StatefulSet" && controller.name === set : isLeft(pod);
  };
  return cache.watched(pods).listBy(byDatabase, `${namespace}/${name}`).filter(isInstance);
}

function patroniState(names: ReturnType<typeof namesOf>, find: (name: string) => ConfigMap | undefined): PatroniState {
  const wrap = <T>(name: string, kind: new (object: ConfigMap) => T) => {
    const object = find(name);
    return object && new kind(object);
  };
  return {
    settings: wrap(names.dynamicConfig, ClusterSettings),
    lock: wrap(names.leader, LeaderLock),
    order: wrap(names.failover, SwitchoverOrder),
    synchrony: wrap(names.sync, Synchrony),
  };
}

/** The holder of the leader lock, read from the API server: for a decision that must not rest on a cache that is behind. */
export async function leaderNow(db: Pick<SampleDB, "metadata">, client: KubeClient): Promise<string | undefined> {
  const lock = await client.find(configMaps, { namespace: db.metadata.namespace ?? "", name: namesOf(db).leader });
  return lock && new LeaderLock(lock).holder;
}

/**
 * The ordinal of the last primary: by the leader lock, by the status, or by the operator's note from when it stopped the database, in this
 * order. The note comes last because it stays when the database wakes and fails over: the instance in an old note lacks the writes since.
 */
export function lastPrimary(db: Pick<SampleDB, "metadata" | "status">, { patroni: { lock }, claims }: DatabaseView): number | undefined {
  const name = lock?.holder ?? db.status?.primaryPodName ?? lock?.lastPrimary;
  const ordinal = name === undefined ? Number.NaN : ordinalOf(name);
  if (Number.isInteger(ordinal) && claims.has(claimName(db, ordinal))) return ordinal;
  const [first] = [...claims.keys()].map(ordinalOf).sort((a, b) => a - b);
  return first;
}
