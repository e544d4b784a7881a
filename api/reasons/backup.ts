// Reasons of Backups.
import { orderAnnotations } from "../annotations.ts";
import { labelNames } from "../labels.ts";
import { type Descriptions, nothing } from "./description.ts";

const another = "Mend what the message names, and make another Backup.";
const nothingLost = "The database serves, and earlier backups are as they were.";
const pod = `kubectl describe pod --selector=${labelNames.database}=NAME,${labelNames.component}=backup`;
const eitherPod = `kubectl describe pod --selector='${labelNames.database}=NAME,${labelNames.component} in (backup,restore)'`;
const describe = "kubectl describe backup BACKUP";

export const backupReasons = {
  backupSucceeded: {
    name: "BackupSucceeded",
    where: ["Succeeded", "event"],
    meaning:
      "Succeeded is True. The repository holds all that a restore needs: every file was read back and checked, and so was the archive.",
    wayOut: nothing,
  },
  backupWaits: {
    name: "BackupWaits",
    where: ["Succeeded"],
    meaning:
      "It has not begun: another Backup of the same SampleDB is under way, or was made earlier, or a Restore replaces the data. The message names it.",
    wayOut: "Nothing: it begins by itself. To have it sooner, delete the Backup that it waits for.",
    commands: ["kubectl get backups"],
  },
  turnAwaited: {
    name: "WaitsForTurn",
    where: ["Succeeded"],
    meaning:
      "As many backups or restores run as the operator allows, in all or for this store. The message says what runs, and how many are before it. Namespaces take turns, and Restores come before Backups.",
    wayOut:
      "Nothing: it begins by itself. The operator's flags `--max-concurrent-backups`, `--max-concurrent-restores` and `--max-concurrent-runs-per-store` set the limits.",
    commands: ["kubectl get backups,restores --all-namespaces"],
  },
  runRefused: {
    name: "RunRefused",
    where: ["Succeeded"],
    meaning:
      "An object that it needs can't be made: there is one of that name which was not made for it, or the API server refuses it, as where a quota is full. The message has the words. The operator tries again every few seconds, and holds up nobody else's backups and restores meanwhile.",
    wayOut: "Rename or delete the object that the message names, or raise the quota. It goes on by itself then.",
    commands: ["kubectl get resourcequotas"],
  },
  databaseMissing: {
    name: "DatabaseMissing",
    where: ["Succeeded", "event"],
    meaning:
      "There is no SampleDB of that name in the namespace, or it is being deleted. The Backup waits for it, for five minutes from its creation.",
    wayOut: "Make the SampleDB, or correct the name: delete the Backup and make another one.",
    commands: ["kubectl get sampledbs"],
  },
  noRepository: {
    name: "NoRepository",
    where: ["Succeeded", "event"],
    meaning:
      "The SampleDB has no `spec.backup`, or its repository is still being made. The Backup waits for it, for five minutes from its creation.",
    wayOut: "Set `spec.backup` ([how](backups.md)), then make another Backup if this one has failed.",
  },
  databaseDown: {
    name: "DatabaseDown",
    where: ["Succeeded"],
    meaning: "The database has no primary that could be backed up: it sleeps, is paused, or is not ready. The Backup waits for it.",
    wayOut: "Look at the SampleDB. The Backup begins by itself when there is a primary.",
    commands: ["kubectl describe sampledb NAME"],
  },
  runPreparing: {
    name: "Preparing",
    where: ["Succeeded"],
    meaning:
      "The Pod of a Backup starts, and asks the store and the instances whether they answer. The Pod of a Restore starts, and lists what the repository has.",
    wayOut: "Wait. If it takes longer than a minute, look at the Pod. A Restore from a large archive may take minutes.",
    commands: [eitherPod],
  },
  runCopying: {
    name: "Copying",
    where: ["Succeeded"],
    meaning:
      "A Backup copies the data to the repository, and `status.progress` says how far it is. A Restore copies the data to the volume, and `status.progressPercent` says how far it is.",
    wayOut: nothing,
  },
  runVerifying: {
    name: "Verifying",
    where: ["Succeeded"],
    meaning: "All is copied, and is read back and checked.",
    wayOut: nothing,
  },
  backupStuck: {
    name: "BackupStuck",
    where: ["Succeeded", "event"],
    meaning: `Its Pod could not be made, or could not start, for ten minutes; the message has the words of Kubernetes. Nothing was copied. ${nothingLost}`,
    wayOut: another,
    commands: [pod],
  },
  backupInterrupted: {
    name: "Interrupted",
    where: ["Succeeded", "event"],
    meaning: `Its Pod was lost, killed or deleted before the backup was whole. The repository was asked, and has no whole backup of this object. ${nothingLost}`,
    wayOut: "Make another Backup. A full one goes on from what was copied already.",
  },
  backupLost: {
    name: "BackupLost",
    where: ["Succeeded", "event"],
    meaning: `Its Pod was lost, and nobody could ask the repository whether the backup is whole: the SampleDB has no repository any more, or the Pod that asked was lost too. ${nothingLost}`,
    wayOut: "Make another Backup. What the lost one has left counts for nothing.",
  },
  instanceUnreachable: {
    name: "InstanceUnreachable",
    where: ["Succeeded", "event"],
    meaning: `The primary did not answer its backup port, or refused the certificate; or an instance ended or lost its primary during the backup. The message names the instance. ${nothingLost}`,
    wayOut: `If the instance was deleted, killed or moved, make another Backup: it works as soon as the SampleDB has a primary. Otherwise look at the container \`backup\` of the instances. Instances that an earlier operator made get it by a restart (the annotation ${orderAnnotations.restart.name}).`,
    commands: ["kubectl logs POD --container=backup --tail=50"],
  },
  pageChecksumsBad: {
    name: "PageChecksumsBad",
    where: ["Succeeded", "event"],
    meaning:
      "A page of the database has a bad checksum: its disk or memory has damaged it. The message names file and page. The backup has the damage too, and counts for nothing.",
    wayOut:
      "Act now: earlier backups are good, and expire some day. Switch over to a replica, which has pages of its own, and make another Backup. If that one is good, replace the damaged instance.",
    commands: [`kubectl annotate sampledb NAME ${orderAnnotations.switchover.name}=any`],
  },
  repositoryFileBad: {
    name: "RepositoryFileBad",
    where: ["Succeeded", "event"],
    meaning: `A file in the repository is missing or damaged; the message names it. A backup with such a file is never Succeeded. ${nothingLost}`,
    wayOut: "Look at the store. Make another Backup, a full one: an incremental one would build on the damaged file.",
  },
  segmentMissing: {
    name: "SegmentMissing",
    where: ["Succeeded", "event"],
    meaning:
      "A segment of the write-ahead log is missing in the archive; the message names it. Without it a restore can't go past that place.",
    wayOut: "Make a full Backup now: the window of recovery begins anew with it. Then find out what removed the segment.",
  },
  segmentNotArchived: {
    name: "SegmentNotArchived",
    where: ["Succeeded", "event"],
    meaning: `The last segment of the backup did not reach the archive in time. ${nothingLost}`,
    wayOut: "Look at the conditions RepositoryReachable and ArchivingHealthy of the SampleDB. Make another Backup when they are True.",
    commands: ["kubectl describe sampledb NAME"],
  },
  backupRunning: {
    name: "BackupRunning",
    where: ["Succeeded", "event"],
    meaning: `pgBackRest still works for an earlier backup, as on a node that was cut off. ${nothingLost}`,
    wayOut: "Make another Backup when that has ended; at the latest when the node is back, or its Pod is deleted.",
  },
  backupFailed: {
    name: "BackupFailed",
    where: ["Succeeded", "event"],
    meaning: `pgBackRest failed; the message has its words. ${nothingLost}`,
    wayOut: another,
    commands: [describe],
  },
  tooManyBackups: {
    name: "TooManyBackups",
    where: ["Succeeded", "event"],
    meaning: "More than 20 Backups of this SampleDB waited already, so this one was refused.",
    wayOut: "Find out who makes so many, and delete those that are not needed.",
    commands: ["kubectl get backups"],
  },
  artefactRemoving: {
    name: "ArtefactRemoving",
    where: ["Succeeded"],
    meaning: "The Backup is being deleted, and what lies in the repository is removed first, because its `deletionPolicy` is Delete.",
    wayOut: "Wait. To let the object go and keep what lies in the repository, set `deletionPolicy` to Retain.",
    commands: [`kubectl patch backup BACKUP --type=merge --patch='{"spec":{"deletionPolicy":"Retain"}}'`],
  },
  retentionChanged: {
    name: "RetentionChanged",
    where: ["Expiring", "event"],
    meaning:
      "Expiring is True. `spec.backup.retention` or a Backup's `deletionPolicy` was changed, and by the new rules this Backup is too many. It goes after the next Backup that succeeds, an hour after this was told at the earliest.",
    wayOut: "To keep it: set its `deletionPolicy` to Retain, or raise `spec.backup.retention` of the SampleDB.",
    commands: [`kubectl patch backup BACKUP --type=merge --patch='{"spec":{"deletionPolicy":"Retain"}}'`],
  },
  beyondRetention: {
    name: "BeyondRetention",
    where: ["Expiring"],
    meaning:
      "Expiring is True. `spec.backup.retention` keeps it no longer, or it has failed and a later one succeeded. It goes now, or when the message's hindrance is over: a Restore that reads, or another Job on the repository.",
    wayOut: "Nothing. To keep it, set its `deletionPolicy` to Retain.",
    commands: [`kubectl patch backup BACKUP --type=merge --patch='{"spec":{"deletionPolicy":"Retain"}}'`],
  },
  artefactExpiring: {
    name: "ArtefactExpiring",
    where: ["Expiring"],
    meaning:
      "Expiring is True. A Job removes it from the repository, with the write-ahead log that only it needed. Restores wait meanwhile.",
    wayOut: "Nothing: it is too late to keep it.",
    commands: [pod],
  },
  artefactExpired: {
    name: "ArtefactExpired",
    where: ["Expiring", "event"],
    meaning: "Expiring is True. What lay in the repository is gone, and the object goes next.",
    wayOut: nothing,
  },
  expiryFailed: {
    name: "ExpiryFailed",
    where: ["Expiring", "event"],
    meaning:
      "Expiring is False. Retention could not remove it from the repository; the message says why. Nothing else was touched. The operator tries again after ten minutes.",
    wayOut:
      "Mend what the message names. If something in the repository builds on it that has no Backup any more, set its `deletionPolicy` to Retain: it stays then.",
    commands: [describe],
  },
  artefactNeeded: {
    name: "ArtefactNeeded",
    where: ["Succeeded", "event"],
    meaning:
      "The Backup is being deleted, and can't be removed from the repository: others build on it, a Restore reads it, it is the last good one, or the SampleDB is gone, has no `spec.backup`, or has another repository now. The message says which.",
    wayOut:
      "Delete those that build on it first. For the last good one: make another Backup first. Or set `deletionPolicy` to Retain, and the object goes while the artefact stays.",
    commands: [`kubectl patch backup BACKUP --type=merge --patch='{"spec":{"deletionPolicy":"Retain"}}'`],
  },
} as const satisfies Descriptions;
