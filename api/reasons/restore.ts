// Reasons of Restores.
import { labelNames } from "../labels.ts";
import { type Descriptions, nothing } from "./description.ts";

const untouched = "Nothing was made, and the source is as it was.";
const another = "Correct it, and make another Restore: it works at once.";
const pod = `kubectl describe pod --selector=${labelNames.database}=NAME,${labelNames.component}=restore`;

export const restoreReasons = {
  restoreSucceeded: {
    name: "RestoreSucceeded",
    where: ["Succeeded", "event"],
    meaning:
      "Succeeded is True. The restored database serves. `status` says which moment was reached. Its replicas follow, and its first full Backup is made.",
    wayOut: nothing,
  },
  sourceMissing: {
    name: "SourceMissing",
    where: ["Succeeded", "event"],
    meaning: `There is no such Backup, SampleDB or repository in this namespace, or it has no good backup. ${untouched}`,
    wayOut: `Name one that is there. ${another}`,
    commands: ["kubectl get backups"],
  },
  sourceNotReady: {
    name: "SourceNotReady",
    where: ["Succeeded"],
    meaning:
      "The Backup is still being made, or retention removes an older one from the same archive. The Restore begins when that is over.",
    wayOut: nothing,
  },
  sourceBad: {
    name: "SourceBad",
    where: ["Succeeded", "event"],
    meaning: `The Backup has failed, or the spec that was stored with it is missing, too long, or refused by the checks of this version. The message says which, and names the field. ${untouched}`,
    wayOut: `Name another Backup. Where the spec is refused, restore from the repository itself (\`source.repository\`) with \`sampleDBSpec: FromOverrides\`: the SampleDB is then made from \`destination.overrides\` alone.`,
  },
  destinationTaken: {
    name: "DestinationTaken",
    where: ["Succeeded", "event"],
    meaning: `A SampleDB of that name is there, or volumes that one has left, or another Restore makes one. ${untouched} While Succeeded is Unknown, a volume of that name is being deleted, or an earlier Restore into the SampleDB has not ended, and the Restore begins when that is over.`,
    wayOut:
      "Make another Restore with another name. To use this name, delete what an earlier SampleDB has left ([how](databases.md#deleting-it)).",
    commands: ["kubectl get sampledbs,restores", `kubectl get pvc --selector=${labelNames.database}=NAME`],
  },
  destinationUnfit: {
    name: "DestinationUnfit",
    where: ["Succeeded", "event"],
    meaning:
      "The data of this SampleDB can't be replaced in place: it is not there, is being deleted, protected, paused or hibernated, does not archive, is of another major version, or another Restore replaces its data. The message says which. Nothing was changed.",
    wayOut: `${another} Or restore into a new SampleDB (\`destination.type: New\`), which needs nothing of this one.`,
  },
  restoreSecuring: {
    name: "Securing",
    where: ["Succeeded"],
    meaning:
      "Before anything is overwritten: clients are disconnected, a Backup is made (`status.safetyBackupName`), the instances stop, and the archive is compared with the log of the primary. The message has the phase.",
    wayOut: "Wait. To take everything back, delete the Restore in this phase: the database then serves again with the data that it has.",
  },
  runRecovering: {
    name: "Recovering",
    where: ["Succeeded"],
    meaning: "The data is copied, and PostgreSQL replays the write-ahead log up to the target.",
    wayOut: nothing,
  },
  runCleaning: {
    name: "Cleaning",
    where: ["Succeeded"],
    meaning: "The target is reached. Settings, replication slots and subscriptions of the source are removed, and passwords are set.",
    wayOut: nothing,
  },
  restoreStarting: {
    name: "Starting",
    where: ["Succeeded"],
    meaning: "The data is whole. The SampleDB is made, and its first instance starts. The message has the reason of its condition Ready.",
    wayOut: "Wait. If it lasts, look at the SampleDB.",
    commands: ["kubectl describe sampledb NAME"],
  },
  targetOutsideWindow: {
    name: "TargetOutsideWindow",
    where: ["Succeeded", "event"],
    meaning: `The target is before the first moment that can be restored, or after the last one, and the message has both. Or nothing in the archive proves that every commit before the asked time is there, as after an outage of the store or a failover: the message has the last moment that is known. ${untouched}`,
    wayOut: `Choose a target between them, a time up to the last known moment, or \`Latest\`. ${another}`,
  },
  targetAcrossGap: {
    name: "TargetAcrossGap",
    where: ["Succeeded", "event"],
    meaning: `A segment of the write-ahead log on the way to the target is missing. The message names it, and the last moment before it. ${untouched}`,
    wayOut: `Choose a target before the gap, or a later backup. ${another}`,
  },
  targetNotFound: {
    name: "TargetNotFound",
    where: ["Succeeded", "event"],
    meaning: `The archive has no such restore point, transaction or timeline. ${untouched}`,
    wayOut: another,
  },
  backupMissing: {
    name: "BackupMissing",
    where: ["Succeeded", "event"],
    meaning: `The repository has no good backup that fits, or not the named one. ${untouched}`,
    wayOut: `Look at the repository. ${another}`,
  },
  volumeTooSmall: {
    name: "VolumeTooSmall",
    where: ["Succeeded", "event"],
    meaning: `The data does not fit on the volume. The message says how much it needs. ${untouched}`,
    wayOut: `Give \`destination.overrides.storage.size\` more. ${another}`,
  },
  archiveCutShort: {
    name: "ArchiveCutShort",
    where: ["Succeeded", "event"],
    meaning: `A segment could not be read, or recovery ended before the end of the archive: rows would be missing. What was made is removed. The source is as it was.`,
    wayOut: "Look at the store. Make another Restore when it answers.",
  },
  recoveryFailed: {
    name: "RecoveryFailed",
    where: ["Succeeded", "event"],
    meaning: "PostgreSQL or pgBackRest failed; the message has its words. What was made is removed. The source is as it was.",
    wayOut: another,
  },
  restoreLost: {
    name: "RestoreLost",
    where: ["Succeeded", "event"],
    meaning:
      "Its Pod was lost, killed or deleted, or could not be made or started for ten minutes: what was made is removed. Or the new SampleDB was deleted before it served. The source is as it was.",
    wayOut: "Make another Restore.",
    commands: [pod],
  },
} as const satisfies Descriptions;
