// The modes of a SampleDB, and the list of steps of each. The order of the steps is the design.
//
// Every step of a list runs, also after one that failed, unless a step says that the rest must wait. A SampleDB that is being deleted has a
// sequence of its own (ending/deletion.ts), in which an error stops everything after it.
import { restoreClaimOf } from "../database/in-place.ts";
import { archiving } from "./archive/archiving.ts";
import { archiveConflict } from "./archive/conflict.ts";
import { repository } from "./archive/repository.ts";
import { configuration } from "./change/configuration.ts";
import { rollout } from "./change/rollout.ts";
import { postponedTrial, trial } from "./change/trial.ts";
import { abandonedLock } from "./election/abandoned-lock.ts";
import { hangingOrder } from "./election/hanging-order.ts";
import { stalemate } from "./election/stalemate.ts";
import { writePath } from "./election/write-path.ts";
import { access, account } from "./foundation/access.ts";
import { credentials } from "./foundation/credentials.ts";
import { initialization } from "./foundation/initialization.ts";
import { monitoring } from "./foundation/monitoring.ts";
import { policies } from "./foundation/policies.ts";
import { retention } from "./foundation/retention.ts";
import { services } from "./foundation/services.ts";
import { storage } from "./foundation/storage.ts";
import { inspection } from "./instances/inspection.ts";
import { hibernation, instances } from "./instances/instances.ts";
import { podShortage } from "./instances/pod-shortage.ts";
import { stragglers } from "./instances/stragglers.ts";
import { dropArchive } from "./orders/drop-archive.ts";
import { replacement } from "./orders/replacement.ts";
import { rotation } from "./orders/rotation.ts";
import { switchoverOrder } from "./orders/switchover-order.ts";
import { formerVolumes } from "./restoring/former-volumes.ts";
import { restoring, whileRestored } from "./restoring/restoring.ts";
import { schedules } from "./schedules/schedules.ts";
import type { SampleDBStep, Scope } from "./scope.ts";
import { mending } from "./securing/mending.ts";

export type Mode = "Invalid" | "Paused" | "Restoring" | "Hibernated" | "Running";

/** The first mode that applies. */
export function modeOf({ db, findings }: Pick<Scope, "db" | "findings">): Mode {
  if (findings.invalid !== undefined) return "Invalid";
  if (db.spec.paused) return "Paused";
  if (restoreClaimOf(db)) return "Restoring";
  return db.spec.powerState;
}

/**
 * Unblock elections first. Then grow disks, also of a database that is not healthy: a full disk must not wait for health. A slot of a schedule
 * comes at its time, whatever a later step waits for.
 */
const always: readonly SampleDBStep[] = [abandonedLock, hangingOrder, stalemate, storage, retention, formerVolumes, schedules];

/**
 * Finish password rotations early: PostgreSQL may have a password already that applications do not have. Then mend what serves. Whether an
 * archive begins anew is decided before the repository is made for it.
 */
const foundation: readonly SampleDBStep[] = [
  ...[credentials, rotation, account, services],
  ...[dropArchive, archiveConflict, repository],
  ...[policies, monitoring, writePath],
];

export const steps: Readonly<Record<Mode, readonly SampleDBStep[]>> = {
  /** The operator can't know what the user wants, so the instances go on as they are. */
  Invalid: [],
  /** The user wants everything left alone. */
  Paused: [],
  /** A Restore replaces the data. Until the first byte is overwritten, the database can go back. */
  Restoring: [restoring, ...mending.map(whileRestored)],
  Hibernated: [...always, ...foundation, postponedTrial, configuration, access, hibernation],
  /** Changes come last, when everything that serves is mended. */
  Running: [
    ...always,
    ...foundation,
    ...[trial, configuration, access, instances],
    ...[podShortage, inspection, stragglers, initialization, archiving],
    ...[switchoverOrder, replacement, rollout],
  ],
};
