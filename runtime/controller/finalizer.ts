// Work before an object may go.
import type { KubeClient } from "../kube/client.ts";
import { NotFound } from "../kube/errors.ts";
import { type KubeObject, keyOf } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import { awaitChange, type Result } from "./result.ts";

/** The cleanup is over: the object may go. */
export const finished = { kind: "finished" } as const;

export interface Finalized<T extends KubeObject> {
  readonly client: KubeClient;
  readonly resource: Resource<T>;
  readonly object: T;
  /** `group/what-it-waits-for`. */
  readonly finalizer: string;
  /** The object is to be there. */
  readonly reconcile: (object: T) => Promise<Result>;
  /** The object is to go. Anything but `finished` keeps it. */
  readonly cleanup: (object: T) => Promise<Result | typeof finished>;
}

/**
 * Reconciles an object, or cleans up after it.
 *
 * What it guarantees:
 * - `reconcile` runs only with the finalizer on the object in the API: whatever it makes, `cleanup` will run before the object goes.
 * - `cleanup` runs only when the deletion was asked for, and at least once if `reconcile` ever ran. It may run again after it
 *   finished (a crash, a conflict), so it must be safe to run on what is gone already.
 * - The finalizer is taken off only after `cleanup` returned `finished`; an error keeps it.
 * - It is never put on an object that is going, and nobody else's finalizer is touched.
 *
 * What it can't guarantee: a person may take the finalizer off by hand, and then `cleanup` does not run.
 */
export async function withFinalizer<T extends KubeObject>(options: Finalized<T>): Promise<Result> {
  const { object, finalizer, reconcile, cleanup } = options;
  const present = object.metadata.finalizers?.includes(finalizer) ?? false;
  if (object.metadata.deletionTimestamp === undefined) {
    const held = present ? object : await writeFinalizers(options, [...(object.metadata.finalizers ?? []), finalizer]);
    return held ? await reconcile(held) : awaitChange;
  }
  if (!present) return awaitChange; // others' finalizers may still hold it
  const result = await cleanup(object);
  if (result.kind !== "finished") return result;
  const others = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  await writeFinalizers(options, others);
  return awaitChange;
}

/**
 * The whole list, so only onto the version that it was read from: a finalizer that another adds meanwhile is a conflict, not
 * lost. Undefined when the object is gone.
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
