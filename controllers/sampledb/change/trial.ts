// The trial: no image, setting, resource or placement reaches an instance before PostgreSQL has started with it in a Pod of its own.
import { instanceAnnotations, trialAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { wanted } from "../../../runtime/controller/kept.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { isControlledBy } from "../../../runtime/kube/object.ts";
import { namesOf } from "../../desired/names.ts";
import { trialJob, trialSettings } from "../../desired/trial.ts";
import { findJob, type JobRequest, lookAtJobSeconds, removeJob, runJob } from "../../jobs/runner.ts";
import { configMaps, jobs } from "../../kinds/kubernetes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import { ownTrials } from "../../watches.ts";
import { ownChange } from "../report/readiness.ts";
import { jobContext, type SampleDBStep, type Scope, type Trial } from "../scope.ts";
import { restartWord } from "./restart-word.ts";

/** A Job that failed without PostgreSQL refusing the change may succeed later: it is made anew after this. */
const tryAgainSeconds = 300;
/** The most own trials at a time, in all databases together. A newer operator causes an own trial in every database at once. */
const mostOwnTrials = 10;
/** After this, an own trial that can't start no longer counts. With an image that can't be pulled, trials start this slowly. */
const ownTrialSeconds = 600;

export const trial: SampleDBStep = async (scope) => {
  const { findings } = scope;
  const { isProven, asked } = proofOf(scope);
  if (isProven) {
    await dropTrial(scope);
    findings.trial = { kind: "accepted" };
    return done;
  }
  findings.trial = { kind: "running", asked }; // stays when the next line throws
  findings.trial = await tried(scope, asked);
  return findings.trial.kind === "accepted" ? done : doneUntil(lookAtJobSeconds);
};

/** A hibernated database has no trial, and wakes as it was. The trial runs then. */
export const postponedTrial: SampleDBStep = async (scope) => {
  const { isProven, asked } = proofOf(scope);
  scope.findings.trial = isProven ? { kind: "accepted" } : { kind: "running", asked };
  await dropTrial(scope);
  return done;
};

interface Proof {
  readonly isProven: boolean;
  /** The user made the change, and waits for it. */
  readonly asked: boolean;
}

function proofOf(scope: Scope): Proof {
  const { db, choices, observed } = scope;
  const { statefulSet, initialized } = observed;
  const { [instanceAnnotations.proven]: proven, [instanceAnnotations.provenFor]: provenFor } = statefulSet?.metadata.annotations ?? {};
  // Ask the StatefulSet, not the Pods: with no Pod running, the next one would start untried. Ignore the StatefulSet of an earlier SampleDB
  // of the name, which is being deleted.
  const hasSomethingToLose = initialized && isControlledBy(statefulSet, db);
  return {
    isProven: proven === choices.trialDigest || !hasSomethingToLose,
    asked: provenFor !== choices.trialAskedDigest || restartIsOrdered(scope),
  };
}

/** A restart brings the changes of this version of the operator along. So the user who ordered it waits for their trial. */
function restartIsOrdered({ db, observed }: Scope): boolean {
  return restartWord(db, observed) !== observed.statefulSet?.spec?.template.metadata?.annotations?.[instanceAnnotations.restart];
}

async function tried(scope: Scope, asked: boolean): Promise<Trial> {
  const outcome = await runJob(jobContext(scope), trialRequest(scope, asked));
  switch (outcome.kind) {
    case "running":
    case "stranded":
      return { kind: "running", asked };
    case "succeeded":
      return { kind: "accepted" };
    case "stuck":
      return refused(scope, asked, `${outcome.problem.reason}: ${outcome.problem.message}`);
    case "refused":
    case "failed":
      return refused(scope, asked, outcome.message);
  }
}

function trialRequest(scope: Scope, asked: boolean): JobRequest {
  const { db, choices } = scope;
  const digest = choices.trialDigest;
  return {
    ...trialKey(scope),
    inputs: digest,
    inputsAnnotation: trialAnnotation,
    repeatable: true,
    retrySeconds: tryAgainSeconds,
    mayStart: () => asked || isItsTurn(scope),
    companions: () => [wanted(configMaps, trialSettings(db, digest))],
    build: () => trialJob(db, { digest, image: choices.image, asked, running: runningResources(scope) }),
  };
}

function trialKey({ db, key: { namespace } }: Scope): Pick<JobRequest, "key" | "owner"> {
  return { key: { namespace, name: namesOf(db).trialJob }, owner: db };
}

async function dropTrial(scope: Scope): Promise<void> {
  const { key, owner } = trialKey(scope);
  if (findJob(scope.deps.cache, owner, key)) await removeJob(jobContext(scope), trialRequest(scope, false));
}

function refused({ findings }: Scope, asked: boolean, message: string): Trial {
  findings.blockers.push({
    reason: reasons.changeRefused,
    message: `${asked ? "the change" : ownChange} was tried in a Pod of its own and did not work, so no instance has it: ${message}`,
    remedy: asked
      ? "correct or take back what was changed last (image, resources, placement, postgresql.parameters or hba)"
      : "mend what the message names, or go back to the version of the operator that was there before; the database goes on as it was",
  });
  return { kind: "refused", asked, message };
}

function isItsTurn({ deps }: Scope): boolean {
  const since = deps.now().getTime() - ownTrialSeconds * 1000;
  const others = deps.cache.watched(jobs).listBy(ownTrials, ownTrials);
  return others.filter(({ metadata }) => Date.parse(metadata.creationTimestamp ?? "") > since).length < mostOwnTrials;
}

function runningResources({ observed }: Scope): SampleDB["spec"]["resources"] {
  return observed.statefulSet?.spec?.template.spec?.containers[0]?.resources as SampleDB["spec"]["resources"];
}
