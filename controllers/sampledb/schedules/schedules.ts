// Makes the Backups that the schedules of a SampleDB ask for, one at a time, each once.
import { labelNames } from "../../../api/labels.ts";
import { reasons } from "../../../api/reasons.ts";
import { secondsOnly } from "../../../runtime/controller/conditions.ts";
import { done, doneUntil, type Step } from "../../../runtime/controller/steps.ts";
import { AlreadyExists } from "../../../runtime/kube/errors.ts";
import { keyOf } from "../../../runtime/kube/object.ts";
import { hasEnded } from "../../database/ended.ts";
import { isSameSlot, type Slot, scheduledBackup, underAnotherName } from "../../desired/scheduled-backup.ts";
import { type Backup, backups } from "../../kinds/sampledb-io.ts";
import { byDatabase } from "../../watches.ts";
import type { Dependencies, Findings, Scope } from "../scope.ts";
import { type Due, planOf } from "./plan.ts";

/** All that it reads of the scope. */
type ScheduleScope = Pick<Scope, "key" | "client" | "db"> & {
  readonly deps: Pick<Dependencies, "cache" | "events" | "now">;
  readonly findings: Pick<Findings, "schedules">;
};

/** The Backup is made before the status says so. An operator that ends in between finds it by its name, which is the slot's. */
export const schedules: Step<ScheduleScope> = async (scope) => {
  const { db, deps, findings } = scope;
  const asked = db.spec.backup?.schedules ?? [];
  const now = deps.now();
  const { make, states, wake } = planOf({
    schedules: asked,
    told: db.status?.schedules ?? [],
    now,
    hibernated: db.spec.powerState === "Hibernated",
    open: (due) => openBackup(scope, due),
  });
  if (make) await makeBackup(scope, make);
  findings.schedules = states;
  return wake ? doneUntil(Math.max(0, wake.getTime() - now.getTime()) / 1000) : done;
};

/** A person's Backups do not hinder schedules: the Backups wait for each other. */
function openBackup({ db, deps, key }: ScheduleScope, due: Due): string | undefined {
  const own = scheduledBackup(db, slotOf(due));
  const all = deps.cache.watched(backups).listBy(byDatabase, `${key.namespace}/${key.name}`);
  const isScheduled = ({ metadata }: Backup) => metadata.labels?.[labelNames.schedule] !== undefined;
  const isOpen = (backup: Backup) => !hasEnded(backup) && backup.metadata.deletionTimestamp === undefined;
  return all.find((backup) => isScheduled(backup) && isOpen(backup) && !isSameSlot(backup, own))?.metadata.name;
}

function slotOf({ schedule, slot }: Due): Slot {
  return { schedule, time: secondsOnly(slot) };
}

async function makeBackup({ db, client, deps }: ScheduleScope, due: Due): Promise<void> {
  const { schedule, time } = slotOf(due);
  const wanted = scheduledBackup(db, { schedule, time });
  const other = underAnotherName(db, wanted);
  for (const backup of [wanted, other]) {
    try {
      const { metadata } = await client.create(backups, backup);
      const note = `Backup ${metadata.name} was made for slot ${time} of schedule ${schedule.name}`;
      deps.events.record(db, { type: "Normal", reason: reasons.backupScheduled, action: "BackUp", note });
      return;
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
      const there = await client.find(backups, keyOf(backup));
      if (!there || isSameSlot(there, wanted)) return; // it was made, and perhaps deleted again
    }
  }
  throw new Error(
    `schedule ${schedule.name} can't make a Backup for slot ${time}: Backups that it has not made have both of its names, ${wanted.metadata.name} and ${other.metadata.name}; delete one of them`,
  );
}
