// Permits by the operator that leads, which counts Jobs and waiting objects in its cache. The API is the truth: a new leader counts anew.
import { taskAnnotation } from "../../api/annotations.ts";
import { conditionTypes } from "../../api/conditions.ts";
import { reasons } from "../../api/reasons.ts";
import { BoundedMap } from "../../runtime/bounded-map.ts";
import type { Cache } from "../../runtime/cache/cache.ts";
import { controllerOf, type KubeObject } from "../../runtime/kube/object.ts";
import { backupsOf, isGood } from "../database/backups.ts";
import { hasEnded } from "../database/ended.ts";
import { bucketOf, isArchived } from "../desired/store.ts";
import { jobFailed, jobSucceeded } from "../jobs/outcome.ts";
import { type Job, jobs } from "../kinds/kubernetes.ts";
import { type Backup, backups, type Restore, restores, sampledbs } from "../kinds/sampledb-io.ts";
import { conditionOf } from "../telling/events.ts";
import { openBackups } from "../watches.ts";
import type { Operation, Permit, Permits } from "./permits.ts";
import { type Limits, turnOf } from "./turns.ts";

/** The Job of one that was granted is in the cache by then, or will not come. */
const longestStartMs = 60_000;
/** One that waits asks more often. One that does not, as when each of its reconciles fails, must not hold the others up. */
const longestSilenceMs = 30_000;

export class CachedPermits implements Permits {
  readonly #cache: Cache;
  readonly #limits: Limits;
  readonly #now: () => Date;
  /** Those whose Job is not in the cache yet. */
  readonly #granted = new Map<string, { readonly operation: Operation; readonly at: number }>();
  readonly #heard = new BoundedMap<number>(20_000);
  #began: number | undefined;

  constructor(cache: Cache, limits: Limits, now: () => Date) {
    this.#cache = cache;
    this.#limits = limits;
    this.#now = now;
  }

  /** Nothing is awaited between the count and the grant, so no two of them get the last place. */
  async ask(own: Operation): Promise<Permit> {
    const now = this.#now().getTime();
    this.#began ??= now;
    this.#heard.set(own.uid, now);
    const permit = turnOf(own, this.#running(now, own), this.#waiting(now), this.#limits);
    if (permit.granted) this.#granted.set(own.uid, { operation: own, at: now });
    return permit;
  }

  giveBack(uid: string): void {
    this.#granted.delete(uid);
  }

  #running(now: number, own: Operation): Operation[] {
    const all = this.#cache.watched(jobs).list();
    for (const job of all) this.#granted.delete(controllerOf(job)?.uid ?? "");
    for (const [uid, { operation, at }] of this.#granted)
      if (now - at >= longestStartMs || this.#hasBegun(operation)) this.#granted.delete(uid);
    this.#granted.delete(own.uid); // it asks again, because its Job could not be made
    return [...all.flatMap((job) => this.#ofJob(job)), ...[...this.#granted.values()].map(({ operation }) => operation)];
  }

  /** Its status says that the Job was made, or the object is gone. Where there is no Job any more, that has ended. */
  #hasBegun({ kind, namespace, name, uid }: Operation): boolean {
    const key = { namespace, name };
    const object = kind === "Backup" ? this.#cache.watched(backups).get(key) : this.#cache.watched(restores).get(key);
    return object?.metadata.uid !== uid || object.status?.startTime !== undefined || hasEnded(object);
  }

  #ofJob(job: Job): Operation[] {
    const task = job.metadata.annotations?.[taskAnnotation];
    if (task === undefined || task === "expire" || jobSucceeded(job) || jobFailed(job)) return [];
    const owner = controllerOf(job);
    const key = { namespace: job.metadata.namespace ?? "", name: owner?.name ?? "" };
    const backup = task === "restore" ? undefined : this.#cache.watched(backups).get(key);
    const restore = task === "restore" ? this.#cache.watched(restores).get(key) : undefined;
    const object = backup ?? restore;
    if (!object || object.metadata.uid !== owner?.uid) return [];
    return [backup ? backupOperation(this.#cache, backup) : restoreOperation(this.#cache, object as Restore)];
  }

  /** Those that say so in their status. */
  #waiting(now: number): Operation[] {
    const isHeard = ({ metadata }: KubeObject) =>
      now - (this.#began ?? now) < longestSilenceMs || now - (this.#heard.get(metadata.uid ?? "") ?? 0) < longestSilenceMs;
    const waits = (object: Backup | Restore) =>
      conditionOf(object.status, conditionTypes.succeeded)?.reason === reasons.turnAwaited &&
      object.metadata.deletionTimestamp === undefined &&
      isHeard(object);
    return [
      ...this.#cache
        .watched(backups)
        .listBy(openBackups, openBackups)
        .filter(waits)
        .map((backup) => backupOperation(this.#cache, backup)),
      ...this.#cache
        .watched(restores)
        .list()
        .filter(waits)
        .map((restore) => restoreOperation(this.#cache, restore)),
    ];
  }
}

export function backupOperation(cache: Cache, backup: Backup): Operation {
  return { kind: "Backup", ...identityOf(backup), store: storeOfDatabase(cache, backup) };
}

export function restoreOperation(cache: Cache, restore: Restore): Operation {
  return { kind: "Restore", ...identityOf(restore), store: storeOfSource(cache, restore) };
}

function identityOf({ metadata: { uid = "", namespace = "", name, creationTimestamp = "" } }: KubeObject) {
  return { uid, namespace, name, since: String(creationTimestamp) };
}

/** A bucket is one store for all who use it; a volume is one by itself. */
function storeAt(namespace: string, s3: { readonly endpoint: string; readonly bucket: string } | undefined, claim: string): string {
  return s3 ? `bucket ${s3.endpoint.replace(/\/+$/, "").toLowerCase()}/${s3.bucket}` : `claim ${namespace}/${claim}`;
}

function storeOfDatabase(cache: Cache, { metadata: { namespace = "" }, spec: { sampleDBName: name } }: Backup): string {
  const db = cache.watched(sampledbs).get({ namespace, name });
  return storeAt(namespace, db && isArchived(db) ? bucketOf(db) : undefined, name);
}

function storeOfSource(cache: Cache, { metadata: { namespace = "" }, spec: { source } }: Restore): string {
  const { repository, backupName, sampleDBName } = source;
  if (repository) return storeAt(namespace, repository.s3, (repository.volumeClaimName ?? "").replace(/-repository$/, ""));
  const backup =
    backupName === undefined
      ? backupsOf(cache, { namespace, name: sampleDBName ?? "" }).findLast(isGood)
      : cache.watched(backups).get({ namespace, name: backupName });
  return storeAt(namespace, backup?.status?.repository?.s3, backup?.spec.sampleDBName ?? sampleDBName ?? "");
}
