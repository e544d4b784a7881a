// Readiness as a chain of pure checks over what was observed and found. The first check that finds something names the reason.
import { instanceAnnotations } from "../../../api/annotations.ts";
import { deletionPolicyOf } from "../../../api/deletion-policy.ts";
import { reasons } from "../../../api/reasons.ts";
import { compareQuantities } from "../../../kubernetes/quantity.ts";
import { Occupied } from "../../../runtime/controller/objects.ts";
import type { StepsOutcome } from "../../../runtime/controller/steps.ts";
import { Conflict } from "../../../runtime/kube/errors.ts";
import { isOfOlderMake } from "../../database/instance.ts";
import { unprepared } from "../../database/succession.ts";
import type { DatabaseView } from "../../database/view.ts";
import { ordinalOf } from "../../desired/names.ts";
import type { Backup, SampleDB } from "../../kinds/sampledb-io.ts";
import { type Check as CheckOf, no } from "../../telling/checks.ts";
import { phaseWords } from "../ending/snapshot-phase.ts";
import { restoreWords } from "../restoring/restore-phase.ts";
import type { Findings } from "../scope.ts";

export interface StatusInputs {
  readonly db: SampleDB;
  readonly observed: DatabaseView;
  readonly findings: Findings;
  /** All Backups that name this SampleDB. */
  readonly backups: readonly Backup[];
  readonly outcome: Pick<StepsOutcome, "errors">;
  /** The version of PostgreSQL in the primary. */
  readonly version: string | undefined;
  readonly now: () => Date;
}

export type Check = CheckOf<StatusInputs>;

export const invalidSpec: Check = ({ findings: { invalid } }) =>
  invalid === undefined ? undefined : no(reasons.invalidSpec, `the spec can't be acted on: ${invalid}`);

export const deleting: Check = ({ db, observed, findings: { deletion } }) => {
  if (db.metadata.deletionTimestamp === undefined) return undefined;
  if (deletion) return no(reasons.deleting, snapshotTold(db, deletion));
  const left = observed.instances.map(({ podName }) => podName).join(", ");
  const policy = deletionPolicyOf(db.spec) === "Delete" ? "then volumes and passwords are deleted" : "volumes and passwords stay";
  return no(reasons.deleting, `it waits until ${left || "nothing"} has stopped; ${policy}`);
};

function snapshotTold({ metadata: { deletionTimestamp } }: SampleDB, { phase, backupName }: NonNullable<Findings["deletion"]>): string {
  const wayOut =
    phase === "Releasing"
      ? `a Restore from Backup ${backupName} brings it back`
      : "deletionPolicy may still be changed: Retain keeps the volumes, Delete destroys them, both without the last Backup";
  return `${phase}: ${phaseWords[phase]} (Backup ${backupName}; deleted at ${deletionTimestamp}); ${wayOut}`;
}

export const restoringInPlace: Check = ({ findings: { restore }, outcome }) => {
  if (!restore) return undefined;
  const errors = outcome.errors.filter(({ cause }) => !(cause instanceof Conflict));
  const trouble = errors.length > 0 ? `; ${triedAgain({ errors })}` : "";
  const names = `Restore ${restore.restoreName}; Backup ${restore.backupName} has everything from before`;
  return no(reasons.restoringInPlace, `${restore.phase}: ${restoreWords[restore.phase]} (${names})${trouble}`);
};

const nameTaken: Check = ({ outcome }) => {
  const taken = outcome.errors.find(({ cause }) => cause instanceof Occupied);
  return taken && no(reasons.nameTaken, `${(taken.cause as Error).message}; rename or delete it, or give the SampleDB another name`);
};

export const paused: Check = ({ db }) =>
  db.spec.paused
    ? no(reasons.paused, "the operator leaves everything alone while spec.paused is true; what is changed meanwhile waits")
    : undefined;

export const hibernated: Check = (inputs) => {
  const { db, observed } = inputs;
  if (db.spec.powerState !== "Hibernated") return undefined;
  if (observed.instances.length > 0 && db.spec.paused) return paused(inputs);
  return observed.instances.length === 0
    ? no(reasons.hibernated, "all instances are stopped and their volumes kept; set powerState to Running to wake it")
    : no(reasons.hibernating, `${observed.instances.length} instances are still stopping`);
};

export const noPrimary: Check = ({ db, observed, outcome }) => {
  const { primary, initialized, statefulSet } = observed;
  if (primary?.ready && primary.takesWrites) return undefined;
  if (db.spec.paused && !statefulSet) return no(reasons.paused, "nothing is made while spec.paused is true");
  if (!initialized && outcome.errors.length > 0) return no(reasons.provisioning, triedAgain(outcome));
  if (!initialized) return no(reasons.provisioning, "the first instance is being made");
  if (primary?.ready) return no(reasons.noPrimary, `${primary.podName} is primary, and the read-write Service does not lead to it yet`);
  if (primary) return no(reasons.noPrimary, `${primary.podName} is primary and does not answer SQL`);
  return no(reasons.noPrimary, "no instance takes writes at the moment; the instances elect a primary by themselves");
};

export const notInitialized: Check = ({ findings: { initialization } }) => {
  switch (initialization.kind) {
    case "done":
      return undefined;
    case "failed":
      return no(reasons.initializationFailed, initialization.message);
    case "missing":
      return no(reasons.scriptMissing, initialization.message);
    case "running":
    case "waiting":
      return no(reasons.initializing, "role, database, extensions and scripts are being made");
  }
};

export const ownChange = "what this version of the operator makes differently";

export const changeNotIn: Check = ({ db, findings: { trial } }) => {
  if (trial.kind === "accepted" || trial.kind === "unproven") return undefined;
  const what = trial.asked ? "the change" : ownChange;
  if (db.spec.powerState === "Hibernated") return no(reasons.changeOnTrial, `${what} is tried out in a Pod of its own once it is woken`);
  return trial.kind === "running"
    ? no(reasons.changeOnTrial, `${what} is tried out in a Pod of its own first; the instances go on as they were`)
    : no(reasons.changeRefused, `${what} does not work, and the instances go on as they were: ${trial.message}`);
};

/** Ready waits for a change by the user. It does not wait for a change that a newer operator made by itself. */
const askedChangeNotIn: Check = (inputs) => {
  const { trial } = inputs.findings;
  return (trial.kind === "running" || trial.kind === "refused") && trial.asked ? changeNotIn(inputs) : undefined;
};

/** The step of the trial threw an error, so no change reaches the instances. */
export const trialNotHeld: Check = ({ findings: { trial }, outcome }) =>
  trial.kind === "unproven" && outcome.errors.length > 0 ? no(reasons.changeOnTrial, triedAgain(outcome)) : undefined;

export const upgradeNotDone: Check = ({ findings: { upgrade } }) => (upgrade === undefined ? undefined : no(reasons.notSupported, upgrade));

export const rollingOut: Check = ({ findings: { rollout } }) => (rollout === undefined ? undefined : no(reasons.rollingOut, rollout));

/**
 * Instances that an older version of the operator made, or that have held settings. They run as the user asked, so Ready does not depend
 * on this.
 */
export const restartPending: Check = ({ observed: { statefulSet, instances } }) => {
  const newest = statefulSet?.status?.updateRevision;
  const older = instances.filter((instance) => isOfOlderMake(instance, newest) || instance.heldSettings.length > 0);
  if (older.length === 0) return undefined;
  const names = older.map(({ podName, heldSettings }) => (heldSettings.length > 0 ? `${podName} (${heldSettings.join(", ")})` : podName));
  const how = `annotate the SampleDB with ${instanceAnnotations.restart}=NOW (any new value) when it suits`;
  return no(reasons.restartPending, `${names.join(", ")} would be made differently by this version of the operator: ${how}`);
};

const scaling: Check = ({ db, observed }) => {
  const there = observed.instances.length;
  const going = observed.instances.filter((instance) => instance.going || instance.ordinal >= db.spec.replicas).length;
  if (going > 0 && there > db.spec.replicas) return no(reasons.scaling, `${there} instances are there, and ${db.spec.replicas} are wanted`);
  return undefined;
};

const instancesMissing: Check = ({ db, observed }) => {
  const ready = observed.instances.filter((instance) => instance.ready).length;
  if (ready >= db.spec.replicas) return undefined;
  const missing = observed.instances
    .filter((instance) => !instance.ready)
    .map(({ podName, problem }) => (problem ? `${podName} (${problem.reason})` : podName));
  const which = missing.length > 0 ? `: not ready ${missing.join(", ")}` : "";
  return no(reasons.instancesNotReady, `${ready} of ${db.spec.replicas} instances answer SQL${which}`);
};

/** Ready is false when losing the primary, or the primary and then its successor, would leave no instance able to lead. */
const replicasUnprepared: Check = ({ db, observed }) => {
  const { instances, primary } = observed;
  const names = unprepared(observed).map(({ podName }) => podName);
  if (db.spec.replicas < 2 || !primary || names.length === 0) return undefined;
  const usually = "After a change of primary, or of an instance, this takes seconds; where it lasts, their logs say why";
  const told = (meanwhile: string) => `${names.join(" and ")} can't take over from ${primary.podName} yet${meanwhile}. ${usually}`;
  if (instances.some(({ mayTakeOver }) => mayTakeOver)) {
    // While paused, the operator does not change the disruption budget, so nothing is said about evictions.
    return no(reasons.replicasBehind, told(db.spec.paused ? "" : ", and until then no instance is evicted"));
  }
  return no(reasons.noFailoverCandidate, told(db.spec.synchronousReplication === "Required" ? ", and commits may wait for that" : ""));
};

const resizing: Check = ({ db, observed }) => {
  const { size } = db.spec.storage;
  const growing = [...observed.claims.values()].filter(({ metadata, spec, status }) => {
    const [asked, there] = [spec?.resources?.requests?.["storage"], status?.capacity?.["storage"]];
    if (status?.phase !== "Bound" || asked === undefined || there === undefined) return false;
    // The volume of an instance beyond `replicas` may not grow until a Pod mounts it.
    const isWanted = metadata.deletionTimestamp === undefined && ordinalOf(metadata.name) < db.spec.replicas;
    return isWanted && (isSmaller(there, asked) || isSmaller(asked, size)); // the latter where growth was refused: see blockers
  });
  if (growing.length === 0) return undefined;
  return no(reasons.resizing, `volumes are to grow to ${size}: ${growing.map(({ metadata }) => metadata.name).join(", ")}`);
};

function isSmaller(one: string, other: string): boolean {
  return (compareQuantities(one, other) ?? 0) < 0;
}

/** A conflict means that another writer was faster. The next reconcile follows at once and sees that write. */
const failures: Check = ({ outcome: { errors } }) => {
  const worthTelling = errors.filter(({ cause }) => !(cause instanceof Conflict));
  return worthTelling.length === 0 ? undefined : no(reasons.reconcileFailed, triedAgain({ errors: worthTelling }));
};

function triedAgain({ errors }: StatusInputs["outcome"]): string {
  return `it is tried again: ${errors.map(({ message }) => message).join("; ")}`;
}

/** The first check that finds something gives the reason. Checks for trouble that applications notice come before the others. */
export const readiness: readonly Check[] = [
  deleting,
  invalidSpec,
  restoringInPlace,
  nameTaken,
  hibernated,
  noPrimary,
  notInitialized,
  askedChangeNotIn,
  upgradeNotDone,
  rollingOut,
  scaling,
  instancesMissing,
  replicasUnprepared,
  resizing,
  failures,
];
