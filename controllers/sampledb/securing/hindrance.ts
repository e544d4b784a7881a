// What keeps a database from being secured, in words. Pure.
import { conditionTypes } from "../../../api/conditions.ts";
import type { SecuringPhase } from "../../../api/deletion-policy.ts";
import type { StepError } from "../../../runtime/controller/steps.ts";
import { isGood } from "../../database/backups.ts";
import type { JobOutcome } from "../../jobs/outcome.ts";
import type { Backup } from "../../kinds/sampledb-io.ts";
import { conditionOf } from "../../telling/events.ts";
import type { ArchiveCheck, CutOff } from "./securing-jobs.ts";

/** Every phase but the Backup itself takes seconds. */
const patienceSeconds = 60;

export interface Standing {
  readonly phase: SecuringPhase;
  readonly last: Backup | undefined;
  readonly cutOff: CutOff;
  readonly check: ArchiveCheck;
  readonly errors: readonly StepError[];
}

/** Undefined while there is nothing to tell. `since`: the beginning of this phase; undefined where it begins now. */
export function hindranceOf(standing: Standing, since: string | undefined, now: Date): string | undefined {
  const seconds = since === undefined ? 0 : (now.getTime() - Date.parse(since)) / 1000;
  return hindrance(standing, seconds >= patienceSeconds);
}

function hindrance({ phase, last, cutOff, check, errors }: Standing, isLate: boolean): string | undefined {
  switch (phase) {
    case "Waking":
      if (check.kind === "refused") return check.message;
      return isLate ? `no primary serves${errors.map(({ message }) => `; ${message}`).join("")}` : undefined;
    case "CuttingOff":
      return ofJob("cutoff", cutOff.kind === "open" ? cutOff.outcome : undefined) ?? (isLate ? "clients are not cut off yet" : undefined);
    case "BackingUp":
      return ofBackup(last, isLate);
    case "Stopping":
      return isLate ? "instances do not stop: if their node is gone for good, delete the node" : undefined;
    case "CheckingArchive":
      return ofJob("check", check.kind === "open" ? check.outcome : undefined) ?? (isLate ? "the archive is not checked yet" : undefined);
  }
}

function ofBackup(final: Backup | undefined, isLate: boolean): string | undefined {
  const told = conditionOf(final?.status, conditionTypes.succeeded);
  if (!final || !told || isGood(final)) return isLate ? "the last Backup is not begun yet" : undefined;
  if (told.status === "False") return `Backup ${final.metadata.name} has failed (${told.reason}: ${told.message}), and is made anew`;
  // A Backup that copies may take hours.
  return isLate && final.status?.startTime === undefined
    ? `Backup ${final.metadata.name} waits (${told.reason}: ${told.message})`
    : undefined;
}

function ofJob(name: string, outcome: JobOutcome | undefined): string | undefined {
  switch (outcome?.kind) {
    case "stuck":
      return `the Pod of the Job ${name} does not start: ${outcome.problem.message || outcome.problem.reason}`;
    case "failed":
    case "refused":
      return `the Job ${name} has failed, and is made anew: ${outcome.message}`;
    case "stranded":
      return `Pod ${outcome.podName} does not end, as on a lost node`;
    case "running":
      return outcome.lastFailure === undefined ? undefined : `the Job ${name} tries again: ${outcome.lastFailure}`;
    default:
      return undefined;
  }
}
