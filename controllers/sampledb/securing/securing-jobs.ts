// The two Jobs that secure the data of a database. Both may be repeated: one ends sessions, and the other only reads a volume.
import { archiveCheckAnnotation, cutOffAnnotation } from "../../../api/annotations.ts";
import { digest } from "../../../runtime/controller/settled.ts";
import { lastPrimary } from "../../database/view.ts";
import { closedAuthentication } from "../../desired/configuration.ts";
import { namesOf } from "../../desired/names.ts";
import { archiveCheckJob, type CheckedArchive, cutOffJob } from "../../desired/snapshot.ts";
import { type JobOutcome, outcomeOf } from "../../jobs/outcome.ts";
import { findJob, type JobRequest, removeJob, runJob } from "../../jobs/runner.ts";
import type { Backup } from "../../kinds/sampledb-io.ts";
import { imageInUse, jobContext, type Scope } from "../scope.ts";

/** It waits for Patroni's next loop, and for sessions that roll back. */
const longestCutOffSeconds = 180;
const retrySeconds = 10;

export type CutOff = { readonly kind: "done" } | { readonly kind: "open"; readonly outcome?: JobOutcome | undefined };

/** Of the present primary. Its settings are part of it: somebody may have written them anew. */
export function lookAtCutOff(scope: Scope): CutOff {
  const { observed } = scope;
  const { primary, patroni } = observed;
  const found = findJob(scope.deps.cache, scope.db, cutOffKey(scope).key);
  const outcome = found && outcomeOf(found.job, found.pod, scope.deps.now());
  const isOfPrimary = primary !== undefined && found?.job.metadata.annotations?.[cutOffAnnotation] === primary.uid;
  const isClosed = patroni.settings?.letsIn(closedAuthentication, circumstances(scope)) ?? false;
  return isOfPrimary && isClosed && outcome?.kind === "succeeded" ? { kind: "done" } : { kind: "open", outcome };
}

/** First nobody new is let in, and then those that are there go. */
export async function runCutOff(scope: Scope): Promise<void> {
  const { db, observed, client } = scope;
  const { settings } = observed.patroni;
  if (!settings || !observed.primary) return;
  if (!settings.letsIn(closedAuthentication, circumstances(scope)))
    await settings.close(client, closedAuthentication, circumstances(scope));
  const inputs = observed.primary.uid;
  await runJob(jobContext(scope), {
    ...cutOffKey(scope),
    inputs,
    inputsAnnotation: cutOffAnnotation,
    ...{ repeatable: true, retrySeconds, longestSeconds: longestCutOffSeconds },
    build: () => cutOffJob(db, inputs, imageInUse(scope)),
  });
}

/** A database that was woken runs without its replicas: no commit must wait for them. */
function circumstances({ observed: { range } }: Scope): { readonly alone: boolean } {
  return { alone: range?.count === 1 };
}

export type ArchiveCheck =
  | { readonly kind: "missing" }
  | { readonly kind: "open"; readonly outcome: JobOutcome }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "passed" };

export function lookAtCheck(scope: Scope, final: Backup | undefined): ArchiveCheck {
  const found = findJob(scope.deps.cache, scope.db, checkKey(scope).key);
  if (!found) return { kind: "missing" };
  const outcome = outcomeOf(found.job, found.pod, scope.deps.now());
  const isOfFinal = found.job.metadata.annotations?.[archiveCheckAnnotation] === checked(scope, final)?.inputs;
  if (outcome.kind === "refused") return { kind: "refused", message: outcome.message };
  return outcome.kind === "succeeded" && isOfFinal && !found.job.metadata.deletionTimestamp
    ? { kind: "passed" }
    : { kind: "open", outcome };
}

export async function runCheck(scope: Scope, final: Backup | undefined): Promise<void> {
  const { db } = scope;
  const what = checked(scope, final);
  if (!what) return;
  await runJob(jobContext(scope), {
    ...checkKey(scope),
    inputs: what.inputs,
    inputsAnnotation: archiveCheckAnnotation,
    ...{ repeatable: true, retrySeconds },
    build: () => archiveCheckJob(db, what, imageInUse(scope)),
  });
}

/** While an instance is there, or begins, what was checked before says nothing. */
export async function dropCheck(scope: Scope): Promise<void> {
  if (findJob(scope.deps.cache, scope.db, checkKey(scope).key)) await removeJob(jobContext(scope), checkKey(scope));
}

function checked({ db, observed }: Scope, final: Backup | undefined): CheckedArchive | undefined {
  const { timeline, lastWAL } = final?.status ?? {};
  const ordinal = lastPrimary(db, observed);
  if (timeline === undefined || lastWAL === undefined || ordinal === undefined) return undefined;
  return { ordinal, timeline, lastWAL, inputs: digest({ ordinal, timeline, lastWAL, backup: final?.metadata.uid }) };
}

const cutOffKey = ({ db, key: { namespace } }: Scope): Pick<JobRequest, "key" | "owner"> => ({
  key: { namespace, name: namesOf(db).cutOff },
  owner: db,
});

const checkKey = ({ db, key: { namespace } }: Scope): Pick<JobRequest, "key" | "owner"> => ({
  key: { namespace, name: namesOf(db).archiveCheck },
  owner: db,
});
