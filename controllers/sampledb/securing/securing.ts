// Brings everything that a database has into the archive: one step towards the next phase. Nothing is removed or overwritten here, and
// whoever does so acts only on "Secured" (docs/designs/0011-snapshot-on-delete.md).
import type { SecuringPhase } from "../../../api/deletion-policy.ts";
import { after, type Result } from "../../../runtime/controller/result.ts";
import { runSteps, type StepsOutcome } from "../../../runtime/controller/steps.ts";
import { lastPrimary } from "../../database/view.ts";
import type { Backup } from "../../kinds/sampledb-io.ts";
import { applyInstances, stop } from "../instances/instances.ts";
import type { Scope } from "../scope.ts";
import { type Cause, findLast, judge, keepLast } from "./last-backup.ts";
import { mending } from "./mending.ts";
import { type ArchiveCheck, type CutOff, dropCheck, lookAtCheck, lookAtCutOff, runCheck, runCutOff } from "./securing-jobs.ts";
import type { SecuringInputs } from "./securing-phase.ts";

/** The watch reports most of it. */
export const lookAgainSeconds = 5;

export interface Secured {
  readonly cause: Cause;
  readonly last: Backup | undefined;
  readonly cutOff: CutOff;
  readonly check: ArchiveCheck;
  readonly inputs: SecuringInputs;
}

export function lookAtSecuring(scope: Scope, cause: Cause): Secured {
  const { observed } = scope;
  const last = findLast(scope, cause);
  const cutOff = lookAtCutOff(scope);
  const check = lookAtCheck(scope, last);
  const inputs = {
    running: isRunning(scope),
    serves: observed.primary?.ready === true && observed.primary.takesWrites,
    cutOff: cutOff.kind === "done",
    backup: judge(scope, last, cause),
    check: check.kind,
  };
  return { cause, last, cutOff, check, inputs };
}

/** Pods of instances, also those that are going, or a StatefulSet that asks for some. */
export function isRunning({ observed }: Pick<Scope, "observed">): boolean {
  return observed.instances.length > 0 || (observed.range?.count ?? 0) > 0;
}

/** The steps that mend go on. Not where the spec can't be acted on. */
export async function mend(scope: Scope): Promise<StepsOutcome | undefined> {
  return scope.findings.invalid === undefined ? await runSteps(mending, scope) : undefined;
}

/** Instances run in these phases, and the Backup needs them. */
export function isAwake(phase: string): boolean {
  return phase === "Waking" || phase === "CuttingOff" || phase === "BackingUp";
}

export async function secure(scope: Scope, { cause, last, inputs }: Secured, phase: SecuringPhase): Promise<Result> {
  switch (phase) {
    case "Waking":
      await wake(scope);
      break;
    case "CuttingOff":
      await runCutOff(scope);
      break;
    case "BackingUp":
      return await keepLast(scope, cause, last, inputs.backup);
    case "Stopping":
      await dropCheck(scope); // it told of an earlier stop
      await stop(scope);
      break;
    case "CheckingArchive":
      await runCheck(scope, last);
      break;
  }
  return after(lookAgainSeconds);
}

/** The last primary, alone, where nothing runs. Where instances run, they elect a primary by themselves. */
async function wake(scope: Scope): Promise<void> {
  const { db, observed } = scope;
  if (!isRunning(scope)) await applyInstances(scope, { start: lastPrimary(db, observed) ?? 0, count: 1 });
}
