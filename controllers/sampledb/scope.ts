// What a reconcile of a SampleDB looks at, gathered once from the cache, and what it may use.
import { instanceAnnotations, lastPrimaryAnnotation, replaceAnnotation } from "../../api/annotations.ts";
import type { BlockerReason } from "../../api/reasons.ts";
import type { Cache } from "../../runtime/cache/cache.ts";
import type { Request } from "../../runtime/controller/builder.ts";
import type { Step } from "../../runtime/controller/steps.ts";
import { controllerOf } from "../../runtime/kube/object.ts";
import type { Credentials, Serving } from "../database/credentials.ts";
import { type Instance, instanceOf } from "../database/instance.ts";
import { heldNames } from "../desired/held-settings.ts";
import type { InstanceRange } from "../desired/instances.ts";
import { claimName, namesOf, ordinalOf, podName } from "../desired/names.ts";
import { jsonAnnotation } from "../kinds/json-annotation.ts";
import {
  type ConfigMap,
  configMaps,
  type EndpointSlice,
  endpointSlices,
  type Job,
  jobs,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
  statefulSets,
} from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import type { Durations } from "../patience.ts";
import type { PatroniApi } from "../patroni/patroni-api.ts";
import type { DescribedEvents } from "../telling/described-events.ts";
import type { Choices, KnownChoices } from "./change/choices.ts";
import type { Monitors } from "./foundation/monitors.ts";
import type { Volumes } from "./foundation/volumes.ts";
import type { Inspections } from "./instances/inspections.ts";
import type { TimeToReady } from "./report/metrics.ts";

export interface Dependencies {
  readonly cache: Cache;
  readonly events: DescribedEvents;
  readonly credentials: Credentials;
  /** What is told of a namespace that goes is told here. */
  readonly operatorNamespace: string;
  readonly inspections: Inspections;
  readonly durations: Durations;
  readonly volumes: Volumes;
  readonly timeToReady: TimeToReady;
  readonly monitors: Monitors;
  readonly patroni: (db: SampleDB, instance: Instance) => Promise<PatroniApi>;
  readonly choices: KnownChoices;
  readonly now: () => Date;
}

/** What is there, as the cache knows it. */
export interface Observed {
  readonly statefulSet: StatefulSet | undefined;
  readonly range: InstanceRange | undefined;
  /** By ordinal. */
  readonly instances: readonly Instance[];
  readonly primary: Instance | undefined;
  /** Commits are to wait for replicas, for those at least that could take over. */
  readonly commitsWait: boolean;
  /** By name. */
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly dynamicConfig: ConfigMap | undefined;
  readonly leader: ConfigMap | undefined;
  readonly failover: ConfigMap | undefined;
  /** Where the read-write Service leads. */
  readonly writeSlice: EndpointSlice | undefined;
  readonly initJob: Job | undefined;
  readonly trialJob: Job | undefined;
  readonly rotationJob: Job | undefined;
  /** Of Jobs, by the Job's name. */
  readonly jobPods: ReadonlyMap<string, Pod>;
  /** There is data of this database. */
  readonly initialized: boolean;
  /** The first instance is at it: what is cut short now can't be taken up again. */
  readonly bootstrapping: boolean;
}

/** What steps found out and the status tells. */
export interface Findings {
  readonly blockers: Blocker[];
  trial: Trial;
  initialization: Initialization;
  /** What the rollout is at. */
  rollout: string | undefined;
  /** Settings were written, and instances may not have read them yet. */
  settling: boolean;
  /** The certificate that the instances are to serve. */
  serving: Serving | undefined;
  /** A new password for the application is on its way. */
  passwordWaits: boolean;
  /** The claims that instances need are there and the SampleDB's own. */
  volumesReady: boolean;
  /** Somebody was told to hand over in this run. */
  switchoverOrdered: boolean;
  /** Why the spec can't be acted on. */
  invalid: string | undefined;
  /** Why the major that is asked for is not the one that runs. */
  upgrade: string | undefined;
}

/** `asked` where somebody has asked for what is tried; otherwise a newer operator makes it differently, and nobody waits for it. */
export type Trial =
  | { readonly kind: "accepted" }
  | { readonly kind: "running"; readonly asked: boolean }
  | { readonly kind: "refused"; readonly asked: boolean; readonly message: string };

export type Initialization =
  | { readonly kind: "done"; readonly message: string }
  | { readonly kind: "running" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "missing"; readonly message: string }
  | { readonly kind: "waiting" };

/** Something that stands in the way, and that a person can do something about. */
export interface Blocker {
  readonly reason: BlockerReason;
  readonly message: string;
  readonly remedy: string;
}

export interface Scope extends Request {
  readonly db: SampleDB;
  /** Of the spec that is acted on. */
  readonly choices: Choices;
  readonly deps: Dependencies;
  readonly observed: Observed;
  readonly findings: Findings;
}

export type SampleDBStep = Step<Scope>;

export const byDatabase = "database";
export const byJob = "job";
/** Of Jobs: the trials that run and nobody has asked for, all by one value. */
export const ownTrials = "own-trials";

export function observe(db: SampleDB, cache: Cache): Observed {
  const { namespace = "", name } = db.metadata;
  const names = namesOf(db);
  const index = `${namespace}/${name}`;
  const key = (object: string) => ({ namespace, name: object });
  const state = (object: string) => cache.watched(configMaps).get(key(object));
  // One of a SampleDB that had the name before says nothing of this one.
  const own = (name: string) => {
    const job = cache.watched(jobs).get(key(name));
    return job && controllerOf(job)?.uid === db.metadata.uid ? job : undefined;
  };
  const statefulSet = cache.watched(statefulSets).get(key(names.statefulSet));
  const leader = state(names.leader);
  const leads = leader?.metadata.annotations?.["leader"];
  const dynamicConfig = state(names.dynamicConfig);
  const synchronous = synchronousOf(state(names.sync), leads);
  const failsafe = failsafeOf(leader);
  const held = heldNames(dynamicConfig);
  const writeSlice = cache.watched(endpointSlices).get(key(names.readWriteService));
  const instances = cache
    .watched(pods)
    .listBy(byDatabase, index)
    .map((pod) => instanceOf(pod, { leads, synchronous, failsafe, writesTo: writeSlice?.endpoints?.[0], held }))
    .sort((a, b) => a.ordinal - b.ordinal);
  return {
    statefulSet,
    range: statefulSet?.spec && { start: statefulSet.spec.ordinals?.start ?? 0, count: statefulSet.spec.replicas ?? 0 },
    instances,
    primary: instances.find(({ role }) => role === "Primary"),
    commitsWait: synchronous !== undefined,
    claims: new Map(
      cache
        .watched(persistentVolumeClaims)
        .listBy(byDatabase, index)
        .map((claim) => [claim.metadata.name, claim]),
    ),
    dynamicConfig,
    leader,
    failover: state(names.failover),
    writeSlice,
    initJob: own(names.initJob),
    trialJob: own(names.trialJob),
    rotationJob: own(names.rotation),
    jobPods: new Map(
      [names.initJob, names.trialJob, names.rotation].flatMap((job) =>
        newest(cache.watched(pods).listBy(byJob, `${namespace}/${job}`), job),
      ),
    ),
    bootstrapping: dynamicConfig?.metadata.annotations?.["initialize"] === "",
    initialized: (dynamicConfig?.metadata.annotations?.["initialize"] ?? "") !== "", // empty while the first instance is at it
  };
}

/** As Patroni keeps them. Empty where commits are to wait and there is nobody to wait for, or whom they wait for is from before. */
function synchronousOf(state: ConfigMap | undefined, leads: string | undefined): ReadonlySet<string> | undefined {
  const { leader, sync_standby: names = "" } = state?.metadata.annotations ?? {};
  if (!leader) return undefined;
  return new Set(leader === leads ? names.split(",").filter(Boolean) : []);
}

/** As Patroni reads it: what is empty or garbage keeps nobody out. */
function failsafeOf(lock: ConfigMap | undefined): ReadonlySet<string> | undefined {
  const names = Object.keys(jsonAnnotation(lock, "failsafe"));
  return names.length > 0 ? new Set(names) : undefined;
}

/** Who holds Patroni's lock, asked of the API server: for what must not be done by the word of a cache that is behind. */
export async function leaderNow({ db, client, key }: Pick<Scope, "db" | "client" | "key">): Promise<string | undefined> {
  const lock = await client.find(configMaps, { namespace: key.namespace, name: namesOf(db).leader });
  return lock?.metadata.annotations?.["leader"];
}

function newest(found: readonly Pod[], job: string): [string, Pod][] {
  const [pod] = found.toSorted((a, b) => (b.metadata.creationTimestamp ?? "").localeCompare(a.metadata.creationTimestamp ?? ""));
  return pod ? [[job, pod]] : [];
}

/**
 * The ordinal of who was primary last: as Patroni's lock says, as was told last, or as noted when it was stopped. In this order: a
 * note stays when the database is woken and fails over, and whoever is started by an old one lacks what was written since.
 */
export function lastPrimary(db: SampleDB, { leader, claims }: Observed): number | undefined {
  const told = leader?.metadata.annotations;
  const name = told?.["leader"] || db.status?.primaryPodName || told?.[lastPrimaryAnnotation];
  const ordinal = name === undefined ? Number.NaN : ordinalOf(name);
  if (Number.isInteger(ordinal) && claims.has(claimName(db, ordinal))) return ordinal;
  const [first] = [...claims.keys()].map(ordinalOf).sort((a, b) => a - b);
  return first;
}

interface ReplacementOrder {
  readonly name: string;
  /** Once it is begun: the uid of the claim. */
  readonly claimed: string | undefined;
}

export function replacementOrder({ metadata }: SampleDB): ReplacementOrder | undefined {
  const [name, claimed] = metadata.annotations?.[replaceAnnotation]?.split("/") ?? [];
  return name === undefined ? undefined : { name, claimed };
}

/** The last primary, where a person has said that its data is gone for good. */
export function givenUp(db: SampleDB, observed: Observed): string | undefined {
  const last = lastPrimary(db, observed);
  const order = replacementOrder(db);
  return last !== undefined && order?.name === podName(db, last) ? order.name : undefined;
}

/** What the instances are made from now: what is on trial may not even exist. */
export function imageInUse({ observed: { statefulSet }, choices }: Pick<Scope, "observed" | "choices">): string {
  return statefulSet?.spec?.template.spec?.containers[0]?.image ?? choices.image;
}

/** A person's word to restart: the newest that was said, or what the Pods were told before. */
export function restartWord(db: SampleDB, { statefulSet }: Observed): string | undefined {
  return (
    db.metadata.annotations?.[instanceAnnotations.restart] ??
    statefulSet?.spec?.template.metadata?.annotations?.[instanceAnnotations.restart]
  );
}
