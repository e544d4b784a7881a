// The whole story of a SampleDB; the order of the steps is the design.

import { conditionTypes } from "../../api/conditions.ts";
import type { Request } from "../../runtime/controller/builder.ts";
import { type finished, withFinalizer } from "../../runtime/controller/finalizer.ts";
import { awaitChange, type Result } from "../../runtime/controller/result.ts";
import { runSteps, type StepsOutcome } from "../../runtime/controller/steps.ts";
import { type SampleDB, sampledbs } from "../resources.ts";
import { deletion } from "./deletion.ts";
import { eventsBetween } from "./events.ts";
import { heldBack } from "./major.ts";
import { type Dependencies, type Findings, type Initialization, observe, type SampleDBStep, type Scope } from "./scope.ts";
import { computeStatus } from "./status.ts";
import { abandonedLock } from "./steps/abandoned-lock.ts";
import { access } from "./steps/access.ts";
import { configuration } from "./steps/configuration.ts";
import { credentials } from "./steps/credentials.ts";
import { hangingOrder } from "./steps/hanging-order.ts";
import { initialization } from "./steps/initialization.ts";
import { inspection } from "./steps/inspection.ts";
import { instances } from "./steps/instances.ts";
import { monitoring } from "./steps/monitoring.ts";
import { orders } from "./steps/orders.ts";
import { podShortage } from "./steps/pod-shortage.ts";
import { policies } from "./steps/policies.ts";
import { replacement } from "./steps/replacement.ts";
import { retention } from "./steps/retention.ts";
import { rollout } from "./steps/rollout.ts";
import { rotation } from "./steps/rotation.ts";
import { services } from "./steps/services.ts";
import { stalemate } from "./steps/stalemate.ts";
import { storage } from "./steps/storage.ts";
import { stragglers } from "./steps/stragglers.ts";
import { trial } from "./steps/trial.ts";
import { writePath } from "./steps/write-path.ts";

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
    invalid: choices.invalid,
    upgrade: upgrade?.message,
  };
  return { ...request, db, choices, deps, observed, findings };
}

/** What is done stays done where no step looks at it: a database that sleeps or is paused is not initialized anew afterwards. */
function initializationTold({ status }: SampleDB): Initialization {
  const told = status?.conditions?.find(({ type }) => type === conditionTypes.initialized);
  return told?.status === "True" ? { kind: "done", message: told.message } : { kind: "waiting" };
}
