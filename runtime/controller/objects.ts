// Writes desired objects, and only what differs from what is there: a converged set costs no request.
import type { Cache } from "../cache/cache.ts";
import type { KubeClient } from "../kube/client.ts";
import { ignoreNotFound } from "../kube/errors.ts";
import { controllerOf, type Key, type KubeObject, keyOf, keyText } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import { covers, sameValue } from "./difference.ts";
import { Kept, type Wanted } from "./kept.ts";
import { digest, Settled } from "./settled.ts";

export interface ObjectsOptions {
  /**
   * Carries a hash of what was applied last, so that a field which is not desired any more is noticed as well. An object has
   * room for one: it is applied by one controller only.
   */
  readonly hashAnnotation: string;
}

/** An object of that name is there and belongs to someone else, or to nobody. Only a person can say what is to become of it. */
export class Occupied extends Error {
  override readonly name = "Occupied";
}

export class Objects {
  readonly #cache: Cache;
  readonly #client: KubeClient;
  readonly #options: ObjectsOptions;
  readonly #settled: Settled;
  readonly #kept: Kept;

  /** What is remembered outlives a reconcile: one of each for a controller. */
  constructor(cache: Cache, client: KubeClient, options: ObjectsOptions, settled = new Settled(), kept = new Kept()) {
    this.#cache = cache;
    this.#client = client;
    this.#options = options;
    this.#settled = settled;
    this.#kept = kept;
  }

  /**
   * Makes all of them so. They follow from the cause alone: while it and they are what they were when all was right, they are not even
   * built. `part` names them among the owner's.
   */
  async keep(owner: KubeObject, part: string, cause: string, build: () => readonly Wanted[]): Promise<void> {
    const place = `${owner.metadata.uid} ${part}`;
    if (this.#kept.is(place, cause)) return;
    const applied = build().map(async ({ resource, object }) => ({ resource, object: await this.apply(resource, object) }));
    this.#kept.remember(place, cause, await Promise.all(applied), this.#cache);
  }

  /**
   * Makes the object so, by server-side apply, unless it is. The kind must be watched. An object that is to have a controller
   * and is there without it is left alone, as far as the cache knows: adopted, it would be deleted together with its new owner.
   */
  async apply<T extends KubeObject>(resource: Resource<T>, desired: T): Promise<T> {
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
    const applied = await this.#client.apply(resource, marked);
    if (!covers(applied, marked)) this.#settled.remember("object", asCached(applied, live), hash);
    return applied;
  }

  /** A cache that is limited to labels does not show what others made under the same name, and an apply would take it over. */
  async #refuseUnseen(resource: Resource, desired: KubeObject): Promise<void> {
    const unseen = await this.#client.find(resource, keyOf(desired));
    if (!unseen) return;
    refuseOccupied(unseen, desired);
    if (!wears(unseen, desired)) throw new Occupied(`${desired.kind} ${keyText(keyOf(unseen))} is there already, and someone else's`);
  }

  /** Makes the object so, or makes sure that the owner has none. */
  async ensure<T extends KubeObject>(resource: Resource<T>, key: Key, owner: KubeObject, desired: T | undefined): Promise<T | undefined> {
    if (desired !== undefined) return await this.apply(resource, desired);
    await this.remove(resource, key, owner);
    return undefined;
  }

  /** Deletes the object if it is there and the owner's: an object of the same name that someone else made is left alone. */
  async remove<T extends KubeObject>(resource: Resource<T>, key: Key, owner: KubeObject): Promise<void> {
    const live = this.#cache.watched(resource).get(key);
    if (!live || live.metadata.deletionTimestamp || controllerOf(live)?.uid !== owner.metadata.uid) return;
    const { uid, resourceVersion } = live.metadata;
    await this.#client.delete(resource, key, { uid, resourceVersion }).catch(ignoreNotFound);
  }

  /**
   * Makes the status so, unless it is. The whole status is the caller's. An object that is gone, or was replaced by another of
   * its name, gets none: the other one has its own reconcile.
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
    // The cache may not know yet that it was replaced: with the version in it, the API server answers with a conflict then. The
    // uid is not enough, because the status of a custom resource is written whatever uid comes with it.
    const { resourceVersion } = live.metadata;
    const desired = { apiVersion, kind, metadata: { name, namespace, resourceVersion }, status } as unknown as T;
    const applied = await this.#client.apply(resource, desired, { subresource: "status" }).catch(ignoreNotFound);
    if (applied && !sameValue(applied.status, status)) this.#settled.remember("status", asCached(applied, live), hash);
  }
}

/** Anyone may wear another's labels, but nobody has ours by chance. */
function wears(live: KubeObject, { metadata: { labels = {} } }: KubeObject): boolean {
  return Object.entries(labels).every(([name, value]) => live.metadata.labels?.[name] === value);
}

function refuseOccupied(live: KubeObject, desired: KubeObject): void {
  const owner = controllerOf(desired);
  if (owner === undefined || controllerOf(live)?.uid === owner.uid) return;
  throw new Occupied(`${desired.kind} ${keyText(keyOf(live))} is there already and not controlled by ${owner.kind} ${owner.name}`);
}

/** When a write changed nothing, the cache goes on showing what it has, which may be trimmed. */
function asCached<T extends KubeObject>(written: T, live: T | undefined): T {
  return live && live.metadata.resourceVersion === written.metadata.resourceVersion ? live : written;
}

function withAnnotation<T extends KubeObject>(object: T, name: string, value: string): T {
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [name]: value } } };
}
