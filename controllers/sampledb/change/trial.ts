// No image and no setting reaches an instance that serves before PostgreSQL has started with it in a Pod of its own.
import { instanceAnnotations, trialAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { wanted } from "../../../runtime/controller/kept.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { controllerOf } from "../../../runtime/kube/object.ts";
import { namesOf } from "../../desired/names.ts";
import { trialJob, trialSettings } from "../../desired/trial.ts";
import { findJob, type JobRequest, lookAtJobSeconds, removeJob, runJob } from "../../jobs/runner.ts";
import { configMaps, jobs } from "../../kinds/kubernetes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import { ownTrials } from "../../watches.ts";
import { ownChange } from "../report/readiness.ts";
import { jobContext, type SampleDBStep, type Scope, type Trial } from "../scope.ts";
import { restartWord } from "./restart-word.ts";

/** A failure that is not PostgreSQL's word may be over: it is told, and tried again after this. */
const tryAgainSeconds = 300;
/** Trials that no user has asked for, in all databases together: a newer operator has one for each. */
const mostOwnTrials = 10;
/** An own trial that can't even start is not waited for any longer. Where it is the image, which is the same for all, they come this slowly. */
const ownTrialSeconds = 600;

export const trial: SampleDBStep = async (scope) => {
  const { findings } = scope;
  const { isProven, asked } = proofOf(scope);
  if (isProven) {
    await dropTrial(scope);
    findings.trial = { kind: "accepted" };
    return done;
  }
  findings.trial = { kind: "running", asked }; // also when the next line throws
  findings.trial = await tried(scope, asked);
  return findings.trial.kind === "accepted" ? done : doneUntil(lookAtJobSeconds);
};

/** While a database sleeps nothing is tried, and it wakes as it was. */
export const postponedTrial: SampleDBStep = async (scope) => {
  const { isProven, asked } = proofOf(scope);
  scope.findings.trial = isProven ? { kind: "accepted" } : { kind: "running", asked };
  await dropTrial(scope);
  return done;
};

interface Proof {
  readonly isProven: boolean;
  /** The user waits for what is tried. */
  readonly asked: boolean;
}

function proofOf(scope: Scope): Proof {
  const { db, choices, observed } = scope;
  const { statefulSet, initialized } = observed;
  const { [instanceAnnotations.proven]: proven, [instanceAnnotations.provenFor]: provenFor } = statefulSet?.metadata.annotations ?? {};
  // The StatefulSet is asked, not the Pods: with no Pod running, the next one would start untried. The StatefulSet of a SampleDB that had the
  // name before is going, and is ignored.
  const isOurs = statefulSet !== undefined && controllerOf(statefulSet)?.uid === db.metadata.uid;
  const hasSomethingToLose = initialized && isOurs;
  return {
    isProven: proven === choices.trialDigest || !hasSomethingToLose,
    asked: provenFor !== choices.trialAskedDigest || restartIsOrdered(scope),
  };
}

/** A restart brings what this version of the operator makes differently, so the user waits for it. */
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
