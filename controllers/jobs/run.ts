// A run: the Job of an object such as a Backup or a Restore. Its controller begins it; here it is followed to its last words, and released with
// what its Pod mounts. Nothing here makes it anew.
import type { Cache } from "../../runtime/cache/cache.ts";
import type { Request } from "../../runtime/controller/builder.ts";
import { ignoreNotFound } from "../../runtime/kube/errors.ts";
import { isControlledBy, type Key, type KubeObject } from "../../runtime/kube/object.ts";
import type { Authority } from "../database/authority.ts";
import { lostNode } from "../database/instance.ts";
import type { DatabaseIdentity } from "../desired/identity.ts";
import type { Images } from "../desired/own-image.ts";
import { configMaps, type Pod, secrets } from "../kinds/kubernetes.ts";
import type { Patience } from "../patience.ts";
import type { BackgroundQuestions } from "../repository/background-questions.ts";
import { type ProgressQuestion, phases, type RunProgress } from "../repository/run-progress.ts";
import { lastWarning } from "./last-warning.ts";
import { outcomeOf } from "./outcome.ts";
import { type FoundJob, removeJob } from "./runner.ts";

/** What a controller needs to begin, follow and release runs. */
export interface RunDependencies {
  readonly cache: Cache;
  readonly authority: Authority;
  readonly images: Images;
  readonly patience: Patience;
  readonly progress: BackgroundQuestions<RunProgress>;
  readonly progressQuestion: ProgressQuestion;
  readonly now: () => Date;
}

/** How a run stands. */
export type RunStanding =
  | ({ readonly kind: "running"; readonly message: string; readonly progress?: RunProgress | undefined } & Pick<Phase, "reason">)
  /** Its Pod can't start, for so long that it waits for a person. */
  | { readonly kind: "stuck"; readonly message: string }
  /** Its Pod has said nothing and does not answer any more. Whether it still works, nobody knows. */
  | { readonly kind: "lost"; readonly message: string }
  /** The last words of its program, or of Kubernetes where the program has said nothing. They are input. */
  | { readonly kind: "ended"; readonly words: string | undefined };

type Phase = (typeof phases)[keyof typeof phases];

/**
 * A Pod that can't start for this long waits for a person. Generous, because nothing tells a long pull of the image, or a volume that is still
 * attached to a lost node (Kubernetes waits for six minutes), from a Pod that never starts.
 */
const longestStuckSeconds = 600;
/** After this, what Kubernetes says of a Pod that does not start is told. */
const usualStartSeconds = 60;
/** A node may be back after a moment. Together with what Kubernetes takes to notice, less than two minutes. */
const lostSeconds = 40;
const askAgainSeconds = 10;

/** The program's own deadline is the Job's. The certificate outlives it by a little. */
export function certificateLifetimeMs(longestSeconds: number): number {
  return (longestSeconds + 600) * 1000;
}

/** `database`: whose authority the Pod's certificate is of. Where it is gone, nobody can be asked how far the run is. */
export async function followRun(
  { client }: Pick<Request, "client">,
  deps: RunDependencies,
  { job, pod }: FoundJob,
  database: DatabaseIdentity | undefined,
): Promise<RunStanding> {
  const now = deps.now();
  const lostId = `${job.metadata.uid}/lost`;
  const outcome = outcomeOf(job, pod, now);
  switch (outcome.kind) {
    case "running": {
      if (pod && lostNode(pod)) {
        const message = `node ${pod.spec?.nodeName} of its Pod does not answer`;
        return deps.patience.seconds(lostId) < lostSeconds ? preparing(message) : { kind: "lost", message };
      }
      deps.patience.end(lostId);
      const waited = hasStarted(pod) ? 0 : deps.patience.seconds(`${job.metadata.uid}/starts`);
      if (waited > usualStartSeconds) {
        const message = `${pod ? "its Pod does not start" : "it gets no Pod"}: ${await lastWarning(client, pod ?? job)}`;
        return waited > longestStuckSeconds ? { kind: "stuck", message } : preparing(message);
      }
      const progress =
        database && deps.progress.look(job.metadata.uid ?? "", deps.progressQuestion(database, pod), askAgainSeconds)?.answer;
      return { kind: "running", ...phases[progress?.phase ?? "Preparing"], progress };
    }
    case "stuck": {
      // Of a run that is hours old, the Pod may be new: Kubernetes makes another one when a node is drained.
      const seconds = (now.getTime() - Date.parse((pod ?? job).metadata.creationTimestamp ?? "")) / 1000;
      const message = `its Pod does not start: ${outcome.problem.message || outcome.problem.reason}`;
      return seconds > longestStuckSeconds ? { kind: "stuck", message } : preparing(message);
    }
    case "stranded":
      return { kind: "lost", message: `its Pod ${outcome.podName} does not end, as on a lost node` };
    case "succeeded":
    case "refused":
    case "failed":
      return { kind: "ended", words: outcome.message };
  }
}

/** A program has run in it, ours or one that a webhook has added. */
function hasStarted(pod: Pod | undefined): boolean {
  const { phase = "Pending", initContainerStatuses = [], containerStatuses = [] } = pod?.status ?? {};
  const ran = [...initContainerStatuses, ...containerStatuses].some(
    ({ state, lastState }) => state?.running ?? state?.terminated ?? lastState?.terminated,
  );
  return ran || phase !== "Pending";
}

const preparing = (message: string): RunStanding => ({ kind: "running", ...phases.Preparing, message });

export interface RunObjects {
  /** The name of the Job, its ConfigMap and the Secret with its certificate. */
  readonly key: Key;
  readonly owner: KubeObject;
  readonly run: FoundJob | undefined;
}

/** Removes what the owner has of these. The Job goes last: if the operator stops in between, the Job that is left brings it back here. */
export async function releaseRun({ client, objects }: Request, deps: RunDependencies, { key, owner, run }: RunObjects): Promise<void> {
  const certificate = await client.find(secrets, key);
  if (certificate && isControlledBy(certificate, owner))
    await client.delete(secrets, key, { uid: certificate.metadata.uid }).catch(ignoreNotFound);
  await objects.remove(configMaps, key, owner);
  await removeJob({ objects }, { key, owner });
  if (run) deps.progress.forget(run.job.metadata.uid ?? "");
}
