// One reconcile of a Restore, on one screen: gather the scope, go one step on, write the status.
import { checkRestore } from "../../api/checks/restore.ts";
import { describeViolations } from "../../api/checks/violation.ts";
import { conditionTypes } from "../../api/conditions.ts";
import { restoreFinalizer } from "../../api/labels.ts";
import { reasons } from "../../api/reasons.ts";
import type { Request } from "../../runtime/controller/builder.ts";
import { finished, withFinalizer } from "../../runtime/controller/finalizer.ts";
import { after, awaitChange, type Result } from "../../runtime/controller/result.ts";
import { hasEnded } from "../database/ended.ts";
import { targetObjection } from "../database/restore-window.ts";
import { waitingBecause } from "../jobs/refused.ts";
import { type Restore, restores } from "../kinds/sampledb-io.ts";
import { conditionOf } from "../telling/events.ts";
import { taken } from "./destination.ts";
import { followStart, handOver } from "./hand-over.ts";
import { goOnInPlace, letGo } from "./in-place.ts";
import { look } from "./look.ts";
import { begin, follow, release, undo } from "./run.ts";
import { type Dependencies, openScope, type Scope } from "./scope.ts";
import { findSource, refusedFor } from "./source.ts";
import { failed, type RestoreState } from "./state.ts";
import { computeStatus } from "./status.ts";
import { notItsTurn } from "./turn.ts";

/** No watch tells how far it is, or that a node is lost. */
const lookAgainSeconds = 5;
const soonSeconds = 1;
const unfinished: readonly RestoreState["kind"][] = ["waiting", "looking", "securing", "running", "starting"];

export async function reconcile(request: Request, deps: Dependencies): Promise<Result> {
  const restore = deps.cache.watched(restores).get(request.key);
  if (!restore) return awaitChange;
  return await withFinalizer({
    ...{ client: request.client, resource: restores, object: restore, finalizer: restoreFinalizer },
    reconcile: (held) => keep(openScope(held, request, deps)),
    cleanup: (going) => end(openScope(going, request, deps)),
  });
}

async function keep(scope: Scope): Promise<Result> {
  if (hasEnded(scope.restore)) {
    if (scope.run) await release(scope);
    return awaitChange;
  }
  const state = await goOn(scope).catch((error: unknown) => {
    const refused = waitingBecause(error);
    scope.deps.permits.giveBack(scope.restore.metadata.uid ?? "");
    return refused;
  });
  // Before it is told: once the status says failed, nobody looks again, and nothing half-made may be left.
  if (state.kind === "failed" && !isFilled(scope.restore)) await clear(scope);
  await tell(scope, state);
  return after(unfinished.includes(state.kind) ? lookAgainSeconds : soonSeconds);
}

async function goOn(scope: Scope): Promise<RestoreState> {
  const { restore, run } = scope;
  const violations = checkRestore(restore.spec);
  if (violations.length > 0)
    return failed(reasons.invalidSpec, describeViolations(violations), { untouched: restore.status?.overwriteTime === undefined });
  if (isInPlace(restore)) return await goOnInPlace(scope);
  const { firstBackupName } = restore.status ?? {};
  if (isFilled(restore) && firstBackupName !== undefined) return await followStart(scope, firstBackupName);
  const looking = await look(scope);
  if (looking) return looking;
  if (run && !isFilled(restore)) return await follow(scope, run);
  const hasBegun = restore.status?.startTime !== undefined;
  if (hasBegun && !isFilled(restore)) return failed(reasons.restoreLost, "its Job was deleted");
  const occupied = isFilled(restore) || run ? undefined : taken(scope);
  if (occupied) return occupied;
  const source = findSource(scope);
  if (source.kind === "unread") throw new Error("a repository that has been looked into has no spec");
  if (source.kind !== "found") return source;
  const { systemIdentifier } = restore.status ?? {};
  if (systemIdentifier !== undefined) return await handOver(scope, source, systemIdentifier);
  const objection = targetObjection(restore.spec, scope, scope.deps.now());
  if (objection) return refusedFor(objection);
  return (await notItsTurn(scope, source)) ?? (await begin(scope, source));
}

/** A Restore that is deleted before the data is whole leaves nothing. Afterwards the SampleDB is the user's. */
async function end(scope: Scope): Promise<Result | typeof finished> {
  const { restore, destination } = scope;
  if (isInPlace(restore)) {
    if (!(await letGo(scope))) return await keep(scope);
    await release(scope);
  } else if (!hasEnded(restore) && !(isFilled(restore) && destination)) await clear(scope);
  else await release(scope);
  return finished;
}

async function clear(scope: Scope): Promise<void> {
  await release(scope);
  if (!isInPlace(scope.restore)) await undo(scope);
}

function isInPlace({ spec: { destination } }: Restore): boolean {
  return destination.type === "InPlace";
}

/** The stored status says that the data is whole. */
function isFilled({ status }: Restore): boolean {
  return status?.systemIdentifier !== undefined;
}

async function tell({ restore, deps, objects }: Scope, state: RestoreState): Promise<void> {
  const status = computeStatus(restore, state, deps.now);
  await objects.applyStatus(restores, restore, status);
  const note = conditionOf(status, conditionTypes.succeeded)?.message ?? "";
  if (state.kind === "failed") deps.events.record(restore, { type: "Warning", reason: state.reason, action: "Restore", note });
  if (state.kind === "succeeded")
    deps.events.record(restore, { type: "Normal", reason: reasons.restoreSucceeded, action: "Restore", note });
}
