// The Job runner: makes a Job, makes it anew when its inputs changed or when another try may help, and removes it.
//
// Guarantees: there is at most one Job of the name, because the name is the lock. The runner never makes a Job anew that is not repeatable
// and may have begun; the caller judges its outcome. The runner never sleeps: a change of the Job or of its Pod causes the next reconcile.
import type { Cache } from "../../runtime/cache/cache.ts";
import type { Wanted } from "../../runtime/controller/kept.ts";
import type { Objects } from "../../runtime/controller/objects.ts";
import { isControlledBy, type Key, type KubeObject, keyOf } from "../../runtime/kube/object.ts";
import { type Job, jobs, type Pod, pods } from "../kinds/kubernetes.ts";
import type { Patience } from "../patience.ts";
import { byJob } from "../watches.ts";
import { type JobOutcome, outcomeOf } from "./outcome.ts";

/** A step looks at its Job again after this. The watches report every change but one: a Pod on a lost node changes no more. */
export const lookAtJobSeconds = 30;

export interface JobRequest {
  readonly key: Key;
  /** Controls the Job and its companions. It need not be the database: a Backup outlives its SampleDB. */
  readonly owner: KubeObject;
  /** The digest of everything that the Job is made from. A Job with another digest is made anew. */
  readonly inputs: string;
  /** The name of the Job's annotation with that digest. */
  readonly inputsAnnotation: string;
  /** Whether the work may be done twice, even at the same time. Only such a Job is made anew when its Pod seems lost or takes too long. */
  readonly repeatable: boolean;
  /** For work that is done once: after a success, a change of the inputs makes no new Job. */
  readonly successIsFinal?: boolean;
  /** How long after a failure a repeatable Job is made anew. Without it, never. */
  readonly retrySeconds?: number;
  /** A repeatable Job that has not ended after this time is made anew. It may have been made for a node, or with an image, that is gone. */
  readonly longestSeconds?: number;
  readonly build: () => Job;
  /** Objects that the Job's Pod mounts or reads: made before the Job, and removed with it. */
  readonly companions?: () => readonly Wanted[];
  /** Whether a Job may be made now. It is not asked about a Job that is already there. */
  readonly mayStart?: () => boolean | Promise<boolean>;
}

export interface JobContext {
  readonly cache: Cache;
  readonly objects: Objects;
  readonly patience: Patience;
  readonly now: Date;
}

/** Returns the outcome of the requested Job. It is `running`, too, while the Job waits for its start or is being made anew. */
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
  // The Job goes last. If the operator stops in between, the Job that is left causes another removal; companions alone would stay for ever.
  for (const { resource, object } of companions?.() ?? []) await objects.remove(resource, keyOf(object), owner);
  await objects.remove(jobs, key, owner);
}

export interface FoundJob {
  readonly job: Job;
  /** The newest Pod of the Job. */
  readonly pod: Pod | undefined;
}

/** The owner's Job of this name. A Job that an earlier owner of the same name left is ignored. */
export function findJob(cache: Cache, owner: KubeObject, key: Key): FoundJob | undefined {
  const job = cache.watched(jobs).get(key);
  return job && isControlledBy(job, owner) ? { job, pod: newestPod(cache, job) } : undefined;
}

export function newestPod(cache: Cache, job: Job): Pod | undefined {
  const { namespace, name } = job.metadata;
  const own = cache
    .watched(pods)
    .listBy(byJob, `${namespace}/${name}`)
    .filter((pod) => isControlledBy(pod, job));
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
