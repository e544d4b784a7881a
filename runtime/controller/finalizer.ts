// Cleanup before an object is deleted, guarded by a finalizer.
import type { KubeClient } from "../kube/client.ts";
import { NotFound } from "../kube/errors.ts";
import { type KubeObject, keyOf } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import { awaitChange, type Result } from "./result.ts";

/** Returned by a cleanup that is complete: the object may go. */
export const finished = { kind: "finished" } as const;

export interface Finalized<T extends KubeObject> {
  readonly client: KubeClient;
  readonly resource: Resource<T>;
  readonly object: T;
  /** `group/what-it-waits-for`. */
  readonly finalizer: string;
  /** Called while the object is to exist. */
  readonly reconcile: (object: T) => Promise<Result>;
  /** Called while the object is being deleted. Any result but `finished` keeps the object. */
  readonly cleanup: (object: T) => Promise<Result | typeof finished>;
}

/**
 * Reconciles an object, or cleans up after it.
 *
 * Guarantees:
 * - `reconcile` runs only with the finalizer on the object in the API, so `cleanup` runs before the object goes.
 * - `cleanup` runs only after a deletion was requested, and at least once if `reconcile` ever ran. After a crash or a conflict it
 *   may run again although it had finished, so it must tolerate that everything is gone already.
 * - The finalizer is removed only after `cleanup` returned `finished`; an error keeps it.
 * - The finalizer is never added to an object that is being deleted, and no other finalizer is touched.
 *
 * Caveat: a person may remove the finalizer by hand, and then `cleanup` does not run.
 */
export async function withFinalizer<T extends KubeObject>(options: Finalized<T>): Promise<Result> {
  const { object, finalizer, reconcile, cleanup } = options;
  const present = object.metadata.finalizers?.includes(finalizer) ?? false;
  if (object.metadata.deletionTimestamp === undefined) {
    const held = present ? object : await writeFinalizers(options, [...(object.metadata.finalizers ?? []), finalizer]);
    return held ? await reconcile(held) : awaitChange;
  }
  if (!present) return awaitChange; // finalizers of others may still hold the object
  const result = await cleanup(object);
  if (result.kind !== "finished") return result;
  const others = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  await writeFinalizers(options, others);
  return awaitChange;
}

/**
 * Replaces the whole list, so only onto the version that it was read from: if another writer adds a finalizer meanwhile, this
 * is a conflict and theirs is not lost. Returns undefined when the object is gone.
 */
async function writeFinalizers<T extends KubeObject>(
  { client, resource, object }: Finalized<T>,
  finalizers: readonly string[],
): Promise<T | undefined> {
  const { uid, resourceVersion } = object.metadata;
  try {
    return await client.mergePatch(resource, keyOf(object), { metadata: { uid, resourceVersion, finalizers } });
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
