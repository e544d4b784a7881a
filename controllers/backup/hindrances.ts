// Why a Backup can't begin now: a chain of pure checks, the first of which decides.
import { archiveOffAnnotation } from "../../api/annotations.ts";
import { reasons } from "../../api/reasons.ts";
import { controllerOf } from "../../runtime/kube/object.ts";
import { hasEnded } from "../database/ended.ts";
import { restoreClaimOf } from "../database/in-place.ts";
import { safetyBackupName } from "../desired/names.ts";
import { isArchived, pgBackRestFile } from "../desired/store.ts";
import type { Backup } from "../kinds/sampledb-io.ts";
import type { Scope } from "./scope.ts";
import { type BackupState, failed, waiting } from "./state.ts";

export type Inputs = Pick<Scope, "backup" | "db" | "observed" | "repository" | "siblings" | "lock"> & { readonly now: Date };

/** A SampleDB that is applied together with its Backup may come a moment later. */
const patienceSeconds = 300;
/** More than these mean that somebody makes them faster than they can be carried out. */
export const mostWaiting = 20;

type Check = (inputs: Inputs) => BackupState | undefined;

const checks: readonly Check[] = [tooMany, noDatabase, noRepository, restoreAhead, othersAhead, noPrimary];

export function hindrance(inputs: Inputs): BackupState | undefined {
  for (const check of checks) {
    const found = check(inputs);
    if (found) return found;
  }
  return undefined;
}

function tooMany(inputs: Inputs): BackupState | undefined {
  const count = ahead(inputs).length;
  if (count < mostWaiting) return undefined;
  return failed(
    reasons.tooManyBackups,
    `${count} Backups of SampleDB ${inputs.backup.spec.sampleDBName} wait already: no more than ${mostWaiting} may`,
  );
}

function noDatabase(inputs: Inputs): BackupState | undefined {
  const name = inputs.backup.spec.sampleDBName;
  return inputs.db ? undefined : waitOrFail(inputs, reasons.databaseMissing, `there is no SampleDB ${name} in this namespace`);
}

function noRepository(inputs: Inputs): BackupState | undefined {
  const { db, repository } = inputs;
  const name = inputs.backup.spec.sampleDBName;
  if (db && !isArchived(db))
    return waitOrFail(inputs, reasons.noRepository, `SampleDB ${name} has no spec.backup, so there is no repository`);
  const isOn = repository?.data?.[pgBackRestFile] !== undefined && repository.metadata.annotations?.[archiveOffAnnotation] === undefined;
  return isOn ? undefined : waitOrFail(inputs, reasons.noRepository, `the repository of SampleDB ${name} is not made yet`);
}

/** Clients are cut off for the Backup that the Restore waits for: no other one may begin before it. */
function restoreAhead({ backup, db }: Inputs): BackupState | undefined {
  const claim = db && db.metadata.deletionTimestamp === undefined ? restoreClaimOf(db) : undefined;
  if (!db || !claim || backup.metadata.name === safetyBackupName(db, claim.uid)) return undefined;
  return waiting(reasons.backupWaits, `it waits for Restore ${claim.name}, which replaces the data of SampleDB ${db.metadata.name}`);
}

function othersAhead(inputs: Inputs): BackupState | undefined {
  const others = ahead(inputs);
  const [next] = others;
  if (next) {
    const more = others.length > 1 ? `, and ${others.length - 1} more are before it` : "";
    return waiting(reasons.backupWaits, `it waits for Backup ${next.metadata.name}${more}`);
  }
  const holder = inputs.lock && controllerOf(inputs.lock);
  return (
    inputs.lock &&
    waiting(reasons.backupWaits, `it waits for the end of Job ${inputs.lock.metadata.name} of ${holder?.kind} ${holder?.name}`)
  );
}

function noPrimary({ db, observed: { primary } }: Inputs): BackupState | undefined {
  if (primary?.ready) return undefined;
  const name = db?.metadata.name;
  const why = db?.spec.powerState === "Hibernated" ? "sleeps" : "has no primary that answers";
  return waiting(reasons.databaseDown, `SampleDB ${name} ${why}: the backup begins when it does`);
}

/**
 * Those that were made earlier and are not over. Of a SampleDB that is being deleted, or whose data a Restore replaces, only those that run: no
 * other one begins now.
 */
function ahead({ backup, siblings, db }: Inputs) {
  const own = siblings.findIndex(({ metadata }) => metadata.uid === backup.metadata.uid);
  const isOpen = (other: Backup) => !hasEnded(other) && other.metadata.deletionTimestamp === undefined;
  const isSecured = db !== undefined && (db.metadata.deletionTimestamp !== undefined || restoreClaimOf(db) !== undefined);
  const mayRun = ({ status }: Backup) => !isSecured || status?.startTime !== undefined;
  return siblings.slice(0, Math.max(0, own)).filter((other) => isOpen(other) && mayRun(other));
}

function waitOrFail(
  { backup, now }: Inputs,
  reason: typeof reasons.databaseMissing | typeof reasons.noRepository,
  message: string,
): BackupState {
  const age = (now.getTime() - Date.parse(backup.metadata.creationTimestamp ?? "")) / 1000;
  return age > patienceSeconds ? failed(reason, message) : waiting(reason, message);
}
