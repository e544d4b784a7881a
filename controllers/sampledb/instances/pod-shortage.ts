// Blockers for Pods that a StatefulSet or a Job can't make, because a quota or an admission rule refuses them.
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import type { KubeObject } from "../../../runtime/kube/object.ts";
import { lastWarning } from "../../jobs/last-warning.ts";
import { jobFailed, jobSucceeded } from "../../jobs/outcome.ts";
import { newestPod } from "../../jobs/runner.ts";
import { type Job, jobs, type StatefulSet } from "../../kinds/kubernetes.ts";
import { byDatabase } from "../../watches.ts";
import type { SampleDBStep, Scope } from "../scope.ts";

/** Kubernetes' own controllers make a Pod within a second or two; much longer means that it is refused. */
const patienceSeconds = 15;

export const podShortage: SampleDBStep = async (scope) => {
  const { deps, findings } = scope;
  const makers = makersOf(scope);
  for (const { object, isShort } of makers) if (!isShort) deps.patience.end(uidOf(object));
  const short = makers.filter(({ isShort }) => isShort).map(({ object }) => object);
  const refused = short.filter((object) => deps.patience.seconds(uidOf(object)) >= patienceSeconds);
  for (const object of refused) {
    const { kind, metadata } = object;
    findings.blockers.push({
      reason: reasons.podRefused,
      message: `${kind} ${metadata.name} can't make a Pod: ${await lastWarning(scope.client, object)}`,
      remedy: `raise the quota or change the rule that refuses it; kubectl describe ${kind.toLowerCase()} ${metadata.name} tells more`,
    });
  }
  return short.length === 0 ? done : doneUntil(patienceSeconds);
};

interface Maker {
  readonly object: StatefulSet | Job;
  readonly isShort: boolean;
}

/** The StatefulSet, and every Job of the database, whichever object owns it. */
function makersOf({ observed: { statefulSet, instances }, deps: { cache }, key: { namespace, name } }: Scope): Maker[] {
  const isShort = (job: Job) => !jobSucceeded(job) && !jobFailed(job) && newestPod(cache, job) === undefined;
  const ofDatabase = cache.watched(jobs).listBy(byDatabase, `${namespace}/${name}`);
  return [
    ...(statefulSet ? [{ object: statefulSet, isShort: instances.length < (statefulSet.spec?.replicas ?? 0) }] : []),
    ...ofDatabase.map((job) => ({ object: job, isShort: isShort(job) })),
  ];
}

function uidOf({ metadata: { uid = "" } }: KubeObject): string {
  return uid;
}
