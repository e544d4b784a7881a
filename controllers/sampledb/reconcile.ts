// One reconcile of a SampleDB, on one screen: gather the scope, run the steps of the mode, write the status.
import { conditionTypes } from "../../api/conditions.ts";
import { finalizer } from "../../api/labels.ts";
import type { Request } from "../../runtime/controller/builder.ts";
import { type finished, withFinalizer } from "../../runtime/controller/finalizer.ts";
import { awaitChange, type Result } from "../../runtime/controller/result.ts";
import { runSteps, type StepsOutcome } from "../../runtime/controller/steps.ts";
import { backupsOf } from "../database/backups.ts";
import { observeDatabase } from "../database/view.ts";
import { type SampleDB, sampledbs } from "../kinds/sampledb-io.ts";
import { conditionOf } from "../telling/events.ts";
import { deletion } from "./ending/deletion.ts";
import { modeOf, steps } from "./modes.ts";
import { eventsBetween } from "./report/events.ts";
import { computeStatus } from "./report/status.ts";
import type { Dependencies, Findings, Initialization, Scope } from "./scope.ts";
import { heldBack } from "./upgrade/major.ts";

export async function reconcile(request: Request, deps: Dependencies): Promise<Result> {
  const db = deps.cache.watched(sampledbs).get(request.key);
  if (!db) return awaitChange;
  const { client } = request;
  return await withFinalizer({
    ...{ client, resource: sampledbs, object: db, finalizer },
    reconcile: (held) => keep(openScope(held, request, deps)),
    cleanup: (going) => cleanUp(openScope(going, request, deps)),
  });
}

async function keep(scope: Scope): Promise<Result> {
  const outcome = await runSteps(steps[modeOf(scope)], scope);
  await tell(scope, outcome);
  return outcome.result;
}

async function cleanUp(scope: Scope): Promise<Result | typeof finished> {
  const { result, errors } = await deletion(scope);
  if (result.kind !== "finished") await tell(scope, { errors });
  return result;
}

/** Writes the status once, at the end, also after an error. It has what was observed at the beginning and what the steps found. */
async function tell(scope: Scope, outcome: Pick<StepsOutcome, "errors">): Promise<void> {
  const { db, deps, objects, observed } = scope;
  const version = deps.inspections.of(observed.primary?.uid ?? "")?.version;
  const status = computeStatus({ ...scope, backups: backupsOf(deps.cache, scope.key), outcome, version, now: deps.now });
  await objects.applyStatus(sampledbs, db, status);
  for (const event of eventsBetween(db.status, status)) deps.events.record(db, event);
  deps.timeToReady.told(db, status);
}

function openScope(asked: SampleDB, request: Request, deps: Dependencies): Scope {
  const observed = observeDatabase(asked, deps.cache);
  const { db, upgrade } = heldBack(asked, observed);
  const choices = deps.choices.of(db.spec);
  const findings: Findings = {
    blockers: upgrade ? [upgrade] : [],
    confirmed: new Set(),
    trial: { kind: "unproven" },
    initialization: initializationTold(db),
    rollout: undefined,
    settling: false,
    serving: undefined,
    passwordWaits: false,
    switchoverOrdered: false,
    archive: undefined,
    schedules: undefined,
    deletion: undefined,
    restore: undefined,
    formerVolumes: undefined,
    // Of the spec as the user wrote it: the one that is acted on lacks settings that wait for the upgrade.
    invalid: upgrade ? deps.choices.of(asked.spec).invalid : choices.invalid,
    upgrade: upgrade?.message,
  };
  return { ...request, db, choices, deps, observed, findings };
}

/** From the stored status: a database that was hibernated or paused must not be initialized again. */
function initializationTold({ status }: SampleDB): Initialization {
  const told = conditionOf(status, conditionTypes.initialized);
  return told?.status === "True" ? { kind: "done", message: told.message } : { kind: "waiting" };
}
