// Writes desired objects that differ from the cached ones: a converged set costs no request.
import type { Cache } from "../cache/cache.ts";
import type { KubeClient } from "../kube/client.ts";
import { ignoreNotFound } from "../kube/errors.ts";
import { controllerOf, isControlledBy, type Key, type KubeObject, keyOf, keyText } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import { covers, sameValue } from "./difference.ts";
import { Kept, type Wanted } from "./kept.ts";
import { digest, Settled } from "./settled.ts";

export interface ObjectsOptions {
  /**
   * Annotation with a hash of the last applied object, so that a field that is no longer desired counts as a difference too. An
   * object has room for one hash: only one controller may apply it.
   */
  readonly hashAnnotation: string;
}

/** An object of that name exists and is controlled by another object, or by none. Only a person can decide what becomes of it. */
export class Occupied extends Error {
  override readonly name = "Occupied";
}

export class Objects {
  readonly #cache: Cache;
  readonly #client: KubeClient;
  readonly #options: ObjectsOptions;
  readonly #settled: Settled;
  readonly #kept: Kept;

  /** `settled` and `kept` outlive a reconcile: a controller has one of each. */
  constructor(cache: Cache, client: KubeClient, options: ObjectsOptions, settled = new Settled(), kept = new Kept()) {
    this.#cache = cache;
    this.#client = client;
    this.#options = options;
    this.#settled = settled;
    this.#kept = kept;
  }

  /**
   * Applies a set of objects that follow from `cause` alone. While the cause and the objects are as they were when all were
   * converged, the objects are not even built. `part` names the set among those of the owner.
   */
  async keep(owner: KubeObject, part: string, cause: string, build: () => readonly Wanted[]): Promise<void> {
    const place = `${owner.metadata.uid} ${part}`;
    if (this.#kept.is(place, cause)) return;
    const applied = build().map(async ({ resource, object, onto }) => ({ resource, object: await this.apply(resource, object, onto) }));
    this.#kept.remember(place, cause, await Promise.all(applied), this.#cache);
  }

  /**
   * Makes the object as desired by server-side apply, unless it already is. The kind must be watched. Refuses an object that
   * exists without the desired controller, as far as the cache knows: once adopted, it would be deleted with its new owner.
   * With `onto`, a resourceVersion, a write to any other version is a Conflict.
   */
  async apply<T extends KubeObject>(resource: Resource<T>, desired: T, onto?: string): Promise<T> {
    const hash = digest(desired);
    const marked = withAnnotation(desired, this.#options.hashAnnotation, hash);
    const cached = this.#cache.watched(resource);
    const live = cached.get(keyOf(desired));
    if (live) {
      refuseOccupied(live, desired);
      if (covers(live, marked) || this.#settled.is("object", live, hash)) return live;
    } else if (cached.isSelective) {
      await this.#refuseUnseen(resource, desired);
    }
    const applied = await this.#client.apply(resource, onto === undefined ? marked : withVersion(marked, onto));
    if (!covers(applied, marked)) this.#settled.remember("object", asCached(applied, live), hash);
    return applied;
  }

  /** A cache with a label selector does not show objects of others under the same name, and an apply would take them over. */
  async #refuseUnseen(resource: Resource, desired: KubeObject): Promise<void> {
    const unseen = await this.#client.find(resource, keyOf(desired));
    if (!unseen) return;
    refuseOccupied(unseen, desired);
    if (!wears(unseen, desired)) throw new Occupied(`${desired.kind} ${keyText(keyOf(unseen))} is there already, and someone else's`);
  }

  /** Applies the desired object; without one, deletes the owner's object. */
  async ensure<T extends KubeObject>(resource: Resource<T>, key: Key, owner: KubeObject, desired: T | undefined): Promise<T | undefined> {
    if (desired !== undefined) return await this.apply(resource, desired);
    await this.remove(resource, key, owner);
    return undefined;
  }

  /** Deletes the object if it exists and the owner controls it. An object of the same name that another owns stays. */
  async remove<T extends KubeObject>(resource: Resource<T>, key: Key, owner: KubeObject): Promise<void> {
    const live = this.#cache.watched(resource).get(key);
    if (!live || live.metadata.deletionTimestamp || !isControlledBy(live, owner)) return;
    const { uid, resourceVersion } = live.metadata;
    await this.#client.delete(resource, key, { uid, resourceVersion }).catch(ignoreNotFound);
  }

  /**
   * Writes the status unless it is as wanted. The caller owns the whole status. An object that is gone, or was replaced by
   * another of its name, gets no status: the new object has its own reconcile.
   */
  async applyStatus<T extends KubeObject & { readonly status?: unknown }>(
    resource: Resource<T>,
    object: T,
    status: NonNullable<T["status"]>,
  ): Promise<void> {
    const live = this.#cache.watched(resource).get(keyOf(object)) ?? object;
    const { name, namespace, uid } = object.metadata;
    if (live.metadata.uid !== uid || sameValue(live.status, status)) return;
    const hash = digest(status);
    if (this.#settled.is("status", live, hash)) return;
    const { apiVersion, kind } = resource;
    // The cache may not know yet that the object was replaced: with a resourceVersion the API server answers with a conflict. The
    // uid does not suffice, because the API server ignores it when it writes the status of a custom resource.
    const { resourceVersion } = live.metadata;
    const desired = { apiVersion, kind, metadata: { name, namespace, resourceVersion }, status } as unknown as T;
    const applied = await this.#client.apply(resource, desired, { subresource: "status" }).catch(ignoreNotFound);
    if (applied && !sameValue(applied.status, status)) this.#settled.remember("status", asCached(applied, live), hash);
  }
}

/** Whether the object has all labels of the desired one. Another writer can copy our labels, but not by accident. */
function wears(live: KubeObject, { metadata: { labels = {} } }: KubeObject): boolean {
  return Object.entries(labels).every(([name, value]) => live.metadata.labels?.[name] === value);
}

function refuseOccupied(live: KubeObject, desired: KubeObject): void {
  const owner = controllerOf(desired);
  if (owner === undefined || controllerOf(live)?.uid === owner.uid) return;
  throw new Occupied(`${desired.kind} ${keyText(keyOf(live))} is there already and not controlled by ${owner.kind} ${owner.name}`);
}

/** The version that the cache will show: when a write changed nothing, the cache keeps its object, which may be trimmed. */
function asCached<T extends KubeObject>(written: T, live: T | undefined): T {
  return live && live.metadata.resourceVersion === written.metadata.resourceVersion ? live : written;
}

function withVersion<T extends KubeObject>(object: T, resourceVersion: string): T {
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

function withAnnotation<T extends KubeObject>(object: T, name: string, value: string): T {
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [name]: value } } };
}
