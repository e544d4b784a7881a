// Runs a Job until it has an outcome: makes it, makes it anew when its inputs have changed or when another try may help, and cleans up.
//
// Guarantees: at most one Job of the name is there, because the name is the lock. A Job that is not repeatable is never made anew by the
// runner once it may have begun: its outcome is the caller's to judge. Nothing here waits; a change of the Job or its Pod brings the caller back.
import type { Cache } from "../../runtime/cache/cache.ts";
import type { Wanted } from "../../runtime/controller/kept.ts";
import type { Objects } from "../../runtime/controller/objects.ts";
import { controllerOf, type Key, type KubeObject, keyOf } from "../../runtime/kube/object.ts";
import { type Job, jobs, type Pod, pods } from "../kinds/kubernetes.ts";
import type { Patience } from "../patience.ts";
import { byJob } from "../watches.ts";
import { type JobOutcome, outcomeOf } from "./outcome.ts";

/** A Job changes when its Pod does, and that brings the caller back. This is for Pods on lost nodes, which change no more. */
export const lookAtJobSeconds = 30;

export interface JobRequest {
  readonly key: Key;
  /** Controls the Job and its companions. It need not be the database: a Backup outlives its SampleDB. */
  readonly owner: KubeObject;
  /** A digest of what the Job is made from. A Job with another one is made anew. */
  readonly inputs: string;
  /** The annotation of the Job that holds its inputs. */
  readonly inputsAnnotation: string;
  /** Whether the work may be done twice. Only then is a Job made anew whose Pod seems lost, or that takes too long. */
  readonly repeatable: boolean;
  /** A success stays one when the inputs change afterwards, as for work that is done once. */
  readonly successIsFinal?: boolean;
  /** How long a failure is told before the Job is made anew. Not at all without it. */
  readonly retrySeconds?: number;
  /** A repeatable Job that has not ended after so long was made for a node or with an image that is not there: it is made anew. */
  readonly longestSeconds?: number;
  readonly build: () => Job;
  /** Objects that the Job's Pod takes what it needs from: made before the Job, and removed with it. */
  readonly companions?: () => readonly Wanted[];
  /** Why no Job may be made now. A Job that is there goes on. */
  readonly mayStart?: () => boolean | Promise<boolean>;
}

export interface JobContext {
  readonly cache: Cache;
  readonly objects: Objects;
  readonly patience: Patience;
  readonly now: Date;
}

/** The outcome of the Job as it was asked for. `running` also while it waits for its start. */
export async function runJob(context: JobContext, request: JobRequest): Promise<JobOutcome> {
  const { objects } = context;
  const found = findJob(context.cache, request.owner, request.key);
  if (!found) {
    if (!(await (request.mayStart?.() ?? true))) return { kind: "running" };
    for (const { resource, object } of request.companions?.() ?? []) await objects.apply(resource, object);
    await objects.apply(jobs, request.build());
    return { kind: "running" };
  }
  const outcome = outcomeOf(found.job, found.pod, context.now);
  // By our own clock, and not since the Job's creation by the API server's: where the two differ, every new Job would be too old at once.
  const seconds = request.longestSeconds === undefined ? 0 : context.patience.seconds(`${found.job.metadata.uid}/ends`);
  if (!isToBeMadeAnew(request, found.job, outcome, { now: context.now, seconds })) return outcome;
  await removeJob(context, request); // its end brings the caller back, for a new one
  return { kind: "running" };
}

/** Removes the Job and its companions, if they are the owner's. */
export async function removeJob(
  { objects }: Pick<JobContext, "objects">,
  { key, owner, companions }: Pick<JobRequest, "key" | "owner" | "companions">,
): Promise<void> {
  // The Job last: where this is interrupted, the Job that is left brings the caller here again.
  for (const { resource, object } of companions?.() ?? []) await objects.remove(resource, keyOf(object), owner);
  await objects.remove(jobs, key, owner);
}

export interface FoundJob {
  readonly job: Job;
  /** The newest that it has made. */
  readonly pod: Pod | undefined;
}

/** The owner's Job of this name. A Job that an earlier owner of the same name has left says nothing. */
export function findJob(cache: Cache, owner: KubeObject, key: Key): FoundJob | undefined {
  const job = cache.watched(jobs).get(key);
  return job && controllerOf(job)?.uid === owner.metadata.uid ? { job, pod: newestPod(cache, job) } : undefined;
}

export function newestPod(cache: Cache, job: Job): Pod | undefined {
  const { namespace, name, uid } = job.metadata;
  const own = cache
    .watched(pods)
    .listBy(byJob, `${namespace}/${name}`)
    .filter((pod) => controllerOf(pod)?.uid === uid);
  return own.toSorted((a, b) => (b.metadata.creationTimestamp ?? "").localeCompare(a.metadata.creationTimestamp ?? ""))[0];
}

export function isToBeMadeAnew(
  { inputs, inputsAnnotation, repeatable, successIsFinal, retrySeconds, longestSeconds }: JobRequest,
  { metadata: { annotations } }: Job,
  outcome: JobOutcome,
  { now, seconds }: { readonly now: Date; readonly seconds: number },
): boolean {
  if (outcome.kind === "succeeded" && successIsFinal) return false;
  const hasEnded = outcome.kind === "succeeded" || outcome.kind === "refused" || outcome.kind === "failed";
  if (annotations?.[inputsAnnotation] !== inputs) return repeatable || hasEnded;
  if (!repeatable) return false;
  switch (outcome.kind) {
    case "stranded":
      return true;
    case "failed":
      return retrySeconds !== undefined && (now.getTime() - outcome.at.getTime()) / 1000 >= retrySeconds;
    case "running":
    case "stuck":
      return longestSeconds !== undefined && seconds > longestSeconds;
    case "succeeded":
    case "refused":
      return false;
  }
}
