// The init Job: while the first server is made, so that it is there when the server is; and again when what failed was mended.
import { initializationAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { digest } from "../../../runtime/controller/settled.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { initJob, type Script, scriptSource } from "../../desired/initialization.ts";
import { limitsLike } from "../../desired/limits.ts";
import { namesOf } from "../../desired/names.ts";
import { jobPlacement } from "../../desired/primary-job.ts";
import { hindranceOf, isStranded, jobFailed, jobSucceeded, ranOutOfTries, terminationMessage } from "../../jobs/outcome.ts";
import { configMaps, jobs, secrets } from "../../kinds/kubernetes.ts";
import { type Initialization, imageInUse, type SampleDBStep, type Scope } from "../scope.ts";

/** Scripts are the user's objects and are not watched: while one is wrong or missing they are read again after this. */
const lookAgainSeconds = 10;
/** A Job that runs brings us back, unless its node is lost. */
const stillRunsSeconds = 30;
/** Once it has been told that it is done, the Job goes; and nobody else might bring us back for that. */
const removeSeconds = 1;

export const initialization: SampleDBStep = async (scope) => {
  const { db, observed, findings, objects } = scope;
  if (findings.initialization.kind === "done") {
    if (observed.initJob) await objects.remove(jobs, keyOf(observed.initJob), db); // it has been told
    return done;
  }
  if (!observed.bootstrapping && !observed.primary) return done; // it would wait for nobody
  findings.initialization = await initialized(scope);
  const { kind } = findings.initialization;
  if (kind === "running") return doneUntil(stillRunsSeconds);
  return doneUntil(kind === "done" ? removeSeconds : lookAgainSeconds);
};

async function initialized(scope: Scope): Promise<Initialization> {
  const { db, observed, objects, key, findings, deps } = scope;
  const { bootstrap } = db.spec;
  const texts = await Promise.all((bootstrap.scripts ?? []).map((script) => scriptText(scope, script)));
  const missing = texts.flatMap((text) => (text.kind === "missing" ? [text.message] : []));
  if (missing.length > 0) {
    const message = missing.join("; ");
    findings.blockers.push({ reason: reasons.scriptMissing, message, remedy: "make it; initialization goes on by itself then" });
    return { kind: "missing", message };
  }
  const image = imageInUse(scope);
  const inputs = digest({ bootstrap, texts, image, where: jobPlacement(db), ...limitsLike(db) });
  const { initJob: name } = namesOf(db);
  const job = observed.initJob;
  if (!job) {
    await objects.apply(jobs, initJob(db, inputs, image));
    return { kind: "running" };
  }
  const pod = observed.jobPods.get(name);
  const message = terminationMessage(pod);
  if (jobSucceeded(job)) return { kind: "done", message: message ?? "initialized" };
  const mended = job.metadata.annotations?.[initializationAnnotation] !== inputs;
  if (mended || ranOutOfTries(job) || isStranded(job, pod, deps.now())) {
    await objects.remove(jobs, { namespace: key.namespace, name }, db); // its end brings us back, with a new one
    return { kind: "running" };
  }
  if (!jobFailed(job)) {
    const hindrance = hindranceOf(observed, name);
    if (hindrance) findings.blockers.push({ reason: reasons.initializationStuck, ...hindrance });
    return { kind: "running" };
  }
  const told = message ?? "the init Job failed";
  findings.blockers.push({
    reason: reasons.initializationFailed,
    message: told,
    remedy: `correct the script: it is run again by itself; or look at the logs of Job ${name}`,
  });
  return { kind: "failed", message: told };
}

type ScriptText = { readonly kind: "text"; readonly digest: string } | { readonly kind: "missing"; readonly message: string };

/** A digest of the text, and not the text: what a Secret holds is not kept here. */
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
