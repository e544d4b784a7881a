// The init Job. It is made while the first instance makes the data, waits for it, and is made anew when a script is corrected.
import { initializationAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { digest } from "../../../runtime/controller/settled.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { initJob, type Script, scriptSource } from "../../desired/initialization.ts";
import { limitsLike } from "../../desired/limits.ts";
import { namesOf } from "../../desired/names.ts";
import { jobPlacement } from "../../desired/primary-job.ts";
import { findJob, type JobRequest, lookAtJobSeconds, removeJob, runJob } from "../../jobs/runner.ts";
import { configMaps, secrets } from "../../kinds/kubernetes.ts";
import { jobHindrance } from "../job-hindrance.ts";
import { type Initialization, imageInUse, jobContext, type SampleDBStep, type Scope } from "../scope.ts";

/** Scripts are in the user's objects, which the operator does not watch. While one is wrong or missing, they are read again after this. */
const lookAgainSeconds = 10;
/** The Job goes once the status says that it is done. No watch might cause the reconcile that removes it, so this does. */
const removeSeconds = 1;

export const initialization: SampleDBStep = async (scope) => {
  const { observed, findings } = scope;
  if (findings.initialization.kind === "done") {
    const job = initKey(scope);
    if (findJob(scope.deps.cache, job.owner, job.key)) await removeJob(jobContext(scope), job); // the stored status has its outcome
    return done;
  }
  if (!observed.bootstrapping && !observed.primary) return done; // the Job would have no server to wait for
  findings.initialization = await initialized(scope);
  const { kind } = findings.initialization;
  if (kind === "running") return doneUntil(lookAtJobSeconds);
  return doneUntil(kind === "done" ? removeSeconds : lookAgainSeconds);
};

async function initialized(scope: Scope): Promise<Initialization> {
  const { findings } = scope;
  const texts = await Promise.all((scope.db.spec.bootstrap.scripts ?? []).map((script) => scriptText(scope, script)));
  const missing = texts.flatMap((text) => (text.kind === "missing" ? [text.message] : []));
  if (missing.length > 0) {
    const message = missing.join("; ");
    findings.blockers.push({ reason: reasons.scriptMissing, message, remedy: "make it; initialization goes on by itself then" });
    return { kind: "missing", message };
  }
  const request = initRequest(scope, texts);
  const outcome = await runJob(jobContext(scope), request);
  switch (outcome.kind) {
    case "succeeded":
      return { kind: "done", message: outcome.message ?? "initialized" };
    case "refused":
      findings.blockers.push({
        reason: reasons.initializationFailed,
        message: outcome.message,
        remedy: `correct the script: it is run again by itself; or look at the logs of Job ${request.key.name}`,
      });
      return { kind: "failed", message: outcome.message };
    default: {
      const hindrance = jobHindrance(scope, request.key.name, outcome);
      if (hindrance) findings.blockers.push({ reason: reasons.initializationStuck, ...hindrance });
      return { kind: "running" };
    }
  }
}

function initKey({ db, key: { namespace } }: Scope): Pick<JobRequest, "key" | "owner"> {
  return { key: { namespace, name: namesOf(db).initJob }, owner: db };
}

function initRequest(scope: Scope, texts: readonly ScriptText[]): JobRequest {
  const { db } = scope;
  const { bootstrap } = db.spec;
  const image = imageInUse(scope);
  const inputs = digest({ bootstrap, texts, image, where: jobPlacement(db), ...limitsLike(db) });
  return {
    ...initKey(scope),
    inputs,
    inputsAnnotation: initializationAnnotation,
    repeatable: true,
    successIsFinal: true, // a script that is edited later does not run
    retrySeconds: 0, // its tries can run out before the first server is up, as while no volume can be had
    build: () => initJob(db, inputs, image),
  };
}

type ScriptText = { readonly kind: "text"; readonly digest: string } | { readonly kind: "missing"; readonly message: string };

/** A digest in place of the text: the content of a Secret must not stay in memory. */
async function scriptText({ client, key }: Scope, script: Script): Promise<ScriptText> {
  const { kind, name, key: entry } = scriptSource(script);
  const place = { namespace: key.namespace, name };
  const data = kind === "ConfigMap" ? await configMapData(place) : (await client.find(secrets, place))?.data;
  if (!data) return { kind: "missing", message: `bootstrap.scripts names ${kind} ${name}, which is not there` };
  if (data[entry] === undefined)
    return { kind: "missing", message: `bootstrap.scripts names the key ${entry} of ${kind} ${name}, which is not in it` };
  return { kind: "text", digest: digest(data[entry]) };

  async function configMapData(at: typeof place) {
    const found = await client.find(configMaps, at);
    return found && { ...found.data, ...found.binaryData };
  }
}
