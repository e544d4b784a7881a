// The whole story of a SampleDB; the order of the steps is the design.

import { conditionTypes } from "../../api/conditions.ts";
import type { Request } from "../../runtime/controller/builder.ts";
import { type finished, withFinalizer } from "../../runtime/controller/finalizer.ts";
import { awaitChange, type Result } from "../../runtime/controller/result.ts";
import { runSteps, type StepsOutcome } from "../../runtime/controller/steps.ts";
import { type SampleDB, sampledbs } from "../kinds/sampledb-io.ts";
import { configuration } from "./change/configuration.ts";
import { rollout } from "./change/rollout.ts";
import { trial } from "./change/trial.ts";
import { abandonedLock } from "./election/abandoned-lock.ts";
import { hangingOrder } from "./election/hanging-order.ts";
import { stalemate } from "./election/stalemate.ts";
import { writePath } from "./election/write-path.ts";
import { deletion } from "./ending/deletion.ts";
import { access } from "./foundation/access.ts";
import { credentials } from "./foundation/credentials.ts";
import { initialization } from "./foundation/initialization.ts";
import { monitoring } from "./foundation/monitoring.ts";
import { policies } from "./foundation/policies.ts";
import { retention } from "./foundation/retention.ts";
import { services } from "./foundation/services.ts";
import { storage } from "./foundation/storage.ts";
import { inspection } from "./instances/inspection.ts";
import { instances } from "./instances/instances.ts";
import { podShortage } from "./instances/pod-shortage.ts";
import { stragglers } from "./instances/stragglers.ts";
import { replacement } from "./orders/replacement.ts";
import { rotation } from "./orders/rotation.ts";
import { orders } from "./orders/switchover-order.ts";
import { eventsBetween } from "./report/events.ts";
import { computeStatus } from "./report/status.ts";
import { type Dependencies, type Findings, type Initialization, observe, type SampleDBStep, type Scope } from "./scope.ts";
import { heldBack } from "./upgrade/major.ts";

export const finalizer = "sampledb.io/database";

/**
 * What keeps the instances from electing goes first, then growth: a full disk must not wait for health. A password that PostgreSQL has and
 * applications have not waits for nothing else. What serves is mended before anything is changed.
 */
export const steps: readonly SampleDBStep[] = [
  abandonedLock,
  hangingOrder,
  stalemate,
  storage,
  retention,
  credentials,
  rotation,
  access,
  services,
  policies,
  monitoring,
  writePath,
  trial,
  configuration,
  instances,
  podShortage,
  inspection,
  stragglers,
  initialization,
  orders,
  replacement,
  rollout,
];

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

async function cleanUp(scope: Scope): Promise<Result | typeof finished> {
  const result = await deletion(scope);
  if (result.kind !== "finished") await tell(scope, { errors: [] });
  return result;
}

async function keep(scope: Scope): Promise<Result> {
  const outcome = await runSteps(stepsFor(scope), scope);
  await tell(scope, outcome);
  return outcome.result;
}

/** None where the operator is to leave everything alone, or can't know what is wanted: what runs goes on. */
function stepsFor({ db, findings }: Scope): readonly SampleDBStep[] {
  return db.spec.paused || findings.invalid !== undefined ? [] : steps;
}

/** Once, at the end, also after an error: what was observed is what is told. */
async function tell(scope: Scope, outcome: Pick<StepsOutcome, "errors">): Promise<void> {
  const { db, deps, objects, observed } = scope;
  const version = deps.inspections.of(observed.primary?.uid ?? "")?.version;
  const status = computeStatus({ ...scope, outcome, version, now: deps.now });
  await objects.applyStatus(sampledbs, db, status);
  for (const event of eventsBetween(db.status, status)) deps.events.record(db, event);
  deps.timeToReady.told(db, status);
}

function openScope(asked: SampleDB, request: Request, deps: Dependencies): Scope {
  const observed = observe(asked, deps.cache);
  const { db, upgrade } = heldBack(asked, observed);
  const choices = deps.choices.of(db.spec);
  const findings: Findings = {
    blockers: upgrade ? [upgrade] : [],
    trial: { kind: "accepted" },
    initialization: initializationTold(db),
    rollout: undefined,
    settling: false,
    serving: undefined,
    passwordWaits: false,
    volumesReady: false,
    switchoverOrdered: false,
    // Of the spec as the user wrote it: the one that is acted on lacks settings that wait for the upgrade.
    invalid: upgrade ? deps.choices.of(asked.spec).invalid : choices.invalid,
    upgrade: upgrade?.message,
  };
  return { ...request, db, choices, deps, observed, findings };
}

/** What is done stays done where no step looks at it: a database that sleeps or is paused is not initialized anew afterwards. */
function initializationTold({ status }: SampleDB): Initialization {
  const told = status?.conditions?.find(({ type }) => type === conditionTypes.initialized);
  return told?.status === "True" ? { kind: "done", message: told.message } : { kind: "waiting" };
}
