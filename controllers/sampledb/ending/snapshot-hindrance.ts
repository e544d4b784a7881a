// What keeps a deletion with `Snapshot` from going on, and the way out. Pure.
import { conditionTypes } from "../../../api/conditions.ts";
import type { SnapshotPhase } from "../../../api/deletion-policy.ts";
import { reasons } from "../../../api/reasons.ts";
import type { StepError } from "../../../runtime/controller/steps.ts";
import { isGood } from "../../database/backups.ts";
import type { JobOutcome } from "../../jobs/outcome.ts";
import type { Backup } from "../../kinds/sampledb-io.ts";
import type { Blocker } from "../../telling/blockers.ts";
import { conditionOf } from "../../telling/events.ts";
import type { Scope } from "../scope.ts";
import type { ArchiveCheck, CutOff } from "./snapshot-jobs.ts";

/** Every phase but the Backup itself takes seconds. */
const patienceSeconds = 60;

export interface Standing {
  readonly phase: SnapshotPhase;
  readonly final: Backup | undefined;
  readonly cutOff: CutOff;
  readonly check: ArchiveCheck;
  readonly errors: readonly StepError[];
}

export function hindranceTold({ db, deps }: Pick<Scope, "db" | "deps">, standing: Standing): Blocker[] {
  const { phase } = standing;
  const stored = db.status?.deletion;
  const seconds = stored?.phase === phase ? (deps.now().getTime() - Date.parse(stored.sinceTime)) / 1000 : 0;
  const words = hindrance(standing, seconds >= patienceSeconds);
  if (words === undefined) return [];
  const retain = `kubectl patch sampledb ${db.metadata.name} --namespace=${db.metadata.namespace} --type=merge --patch='{"spec":{"deletionPolicy":"Retain"}}'`;
  return [
    {
      reason: reasons.snapshotWaits,
      message: `${phase}: ${words}; nothing is removed meanwhile`,
      remedy: `mend it, and the deletion goes on by itself; or delete without a last Backup: ${retain} keeps the volumes, and Delete in place of Retain destroys them`,
    },
  ];
}

function hindrance({ phase, final, cutOff, check, errors }: Standing, isLate: boolean): string | undefined {
  switch (phase) {
    case "Waking":
      if (check.kind === "refused") return check.message;
      return isLate ? `no primary serves${errors.map(({ message }) => `; ${message}`).join("")}` : undefined;
    case "CuttingOff":
      return ofJob("cutoff", cutOff.kind === "open" ? cutOff.outcome : undefined) ?? (isLate ? "clients are not cut off yet" : undefined);
    case "BackingUp":
      return ofBackup(final, isLate);
    case "Stopping":
      return isLate ? "instances do not stop: if their node is gone for good, delete the node" : undefined;
    case "CheckingArchive":
      return ofJob("check", check.kind === "open" ? check.outcome : undefined) ?? (isLate ? "the archive is not checked yet" : undefined);
    case "Releasing":
      return undefined;
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
