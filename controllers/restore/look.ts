// The look into a repository of which no object is left: a Job finds the backup, and the spec that was stored with it. It comes before the claim,
// because the size of the claim is in that spec. The look changes nothing, so its Job may be repeated.
import { taskAnnotation } from "../../api/annotations.ts";
import { reasons } from "../../api/reasons.ts";
import { sampleDBSpec } from "../../api/sampledb.ts";
import { wanted } from "../../runtime/controller/kept.ts";
import { namesOf } from "../desired/names.ts";
import { ownImage } from "../desired/own-image.ts";
import { lookJob, lookTask, restoreConfig } from "../desired/restore.ts";
import { majorIn } from "../desired/store.ts";
import { type JobRequest, runJob } from "../jobs/runner.ts";
import { configMaps } from "../kinds/kubernetes.ts";
import type { Restore, SampleDB } from "../kinds/sampledb-io.ts";
import { unpackSpec } from "../repository/packed-spec.ts";
import { taken } from "./destination.ts";
import { release } from "./run.ts";
import { type LookEnd, parseLookEnd } from "./run-end.ts";
import type { Scope } from "./scope.ts";
import { destinationOf, findSource, specOfOverrides, type Unread } from "./source.ts";
import { failed, type RestoreState } from "./state.ts";

const longestStuckSeconds = 600;
const looking = (message: string): RestoreState => ({ kind: "looking", message });

/** Undefined where there is nothing to look for, or no more. */
export async function look(scope: Scope): Promise<RestoreState | undefined> {
  const { restore, run } = scope;
  const isLook = run?.job.metadata.annotations?.[taskAnnotation] === lookTask;
  if (isLook && restore.status?.sampleDBSpec) {
    await release(scope); // its name is needed for the next Job
    return looking("the repository has a backup for the target");
  }
  if (run && !isLook) return undefined;
  const source = findSource(scope);
  if (source.kind !== "unread") return undefined;
  return (run ? undefined : taken(scope)) ?? (await ask(scope, source));
}

async function ask(scope: Scope, unread: Unread): Promise<RestoreState> {
  const { restore, run, deps, objects } = scope;
  const outcome = await runJob({ ...deps, objects, now: deps.now() }, requestOf(scope, unread));
  switch (outcome.kind) {
    case "running":
    case "stranded":
      return looking("a Pod looks into the repository");
    case "stuck": {
      const seconds = (deps.now().getTime() - Date.parse((run?.pod ?? run?.job)?.metadata.creationTimestamp ?? "")) / 1000;
      const message = `the Pod that looks into the repository does not start: ${outcome.problem.message || outcome.problem.reason}`;
      return seconds > longestStuckSeconds ? failed(reasons.restoreLost, message) : looking(message);
    }
    default: {
      const end = parseLookEnd(outcome.message);
      if (!end) return failed(reasons.restoreLost, `the Pod that looked into the repository ended without a word: ${outcome.message}`);
      return end.outcome === "failed" ? failed(end.reason, end.message) : found(restore, unread.source.stanza, end);
    }
  }
}

function requestOf({ restore, key, deps }: Scope, { source }: Unread): JobRequest {
  const db = destinationOf(restore, standIn(restore, source.stanza));
  return {
    key: { namespace: key.namespace, name: namesOf(db).restore },
    owner: restore,
    inputs: lookTask,
    inputsAnnotation: taskAnnotation,
    repeatable: true,
    companions: () => [wanted(configMaps, restoreConfig(restore, db, source, ""))],
    build: () => lookJob(restore, db, source, ownImage(deps.images, db.spec.postgresVersion)),
  };
}

/** For the Job's Pod: where it may run. No volume is made from it, so the size is any. */
function standIn({ spec: { destination } }: Restore, stanza: string): SampleDB["spec"] {
  const { resources, nodeSelector, affinity, tolerations } = destination.overrides ?? {};
  const placement = { resources, nodeSelector, affinity, tolerations };
  return sampleDBSpec.parse({ postgresVersion: majorIn(stanza), storage: { size: "1Gi" }, ...placement }) as SampleDB["spec"];
}

/** The spec is checked where it is used: whoever can write a status could have written it. */
function found(restore: Restore, stanza: string, { label, spec, specBytes }: Extract<LookEnd, { outcome: "succeeded" }>): RestoreState {
  if (specBytes !== undefined)
    return failed(reasons.sourceBad, `the spec with backup ${label} has ${specBytes} bytes, too many for a Pod's last words: ${alone}`);
  const stored = spec === undefined ? specOfOverrides(restore, stanza) : unpackSpec(spec);
  if (stored) return { kind: "looked", sampleDBSpec: stored as Record<string, unknown> };
  return spec === undefined
    ? failed(reasons.sourceBad, `no spec is stored with backup ${label}: give destination.overrides.storage.size`)
    : failed(reasons.sourceBad, `what is stored with backup ${label} is no spec of a SampleDB: ${alone}`);
}

const alone = "set source.repository.sampleDBSpec: FromOverrides, and destination.overrides.storage.size";
