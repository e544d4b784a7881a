// Reasons of schedules: in `status.schedules[].reason` and in Events of the SampleDB.
import { labelNames } from "../labels.ts";
import { type Descriptions, nothing } from "./description.ts";

const byHand = "To have a backup now, make a Backup yourself.";

export const scheduleReasons = {
  backupScheduled: {
    name: "BackupScheduled",
    where: ["event"],
    meaning: "A slot of a schedule has come, and the operator has made the Backup that the note names.",
    wayOut: nothing,
    commands: [`kubectl get backups --selector=${labelNames.schedule} --output=wide`],
  },
  slotWaits: {
    name: "SlotWaits",
    where: ["event"],
    meaning:
      "A slot of a schedule has come while a Backup of a schedule was not over. Schedules make one Backup at a time. The slot waits for its end, for as long as `startingDeadlineSeconds` of the schedule allows.",
    wayOut:
      "Nothing, if it happens seldom. If it happens often, the schedule is faster than the backups are: make it less often. If the Backup that the message names gets nowhere, look why, or delete it.",
    commands: ["kubectl describe backup BACKUP"],
  },
  slotMissed: {
    name: "SlotMissed",
    where: ["event"],
    meaning:
      "A slot of a schedule has passed by more than `startingDeadlineSeconds`, and is left out: the operator did not run, the SampleDB was paused or invalid, or another Backup took too long. The next slot is not concerned.",
    wayOut: `${byHand} To have such a slot made up for, raise \`startingDeadlineSeconds\` of the schedule.`,
  },
  slotCovered: {
    name: "SlotCovered",
    where: ["event"],
    meaning:
      "Several schedules were due at the same moment. The operator has made the fullest backup of them, which has all that the others would have had.",
    wayOut: nothing,
  },
  slotHibernated: {
    name: "SlotHibernated",
    where: ["event"],
    meaning: "A slot of a schedule is left out, because `spec.powerState` is Hibernated: nothing was written that is not in the archive.",
    wayOut: "Nothing. With the first slot after it is Running again, backups go on.",
  },
} as const satisfies Descriptions;
