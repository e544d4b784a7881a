// Reasons about the repository and the archive of the write-ahead log.
import { dropAnnotation, stanzaAnnotation } from "../annotations.ts";
import { labelNames } from "../labels.ts";
import { apiVersion } from "../version.ts";
import { type Descriptions, nothing } from "./description.ts";

const serves = "The database serves. Segments of the write-ahead log wait on the primary's volume meanwhile.";
const describe = "kubectl describe sampledb NAME";
const selector = `${labelNames.database}=NAME,${labelNames.component}=repository`;
const presentStanza = `kubectl get configmap NAME-repository --output=jsonpath='{.metadata.annotations.${stanzaAnnotation.replace(".", "\\.")}}'`;
const fullBackupObject = {
  apiVersion,
  kind: "Backup",
  metadata: { generateName: "NAME-by-hand-" },
  spec: { sampleDBName: "NAME", type: "Full", deletionPolicy: "Delete" },
};
const fullBackup = `echo '${JSON.stringify(fullBackupObject)}' | kubectl create --filename=-`;
const logs = "kubectl logs deployment/NAME-repository --tail=100";

export const archiveReasons = {
  repositoryReachable: {
    name: "RepositoryReachable",
    where: ["RepositoryReachable"],
    meaning: "RepositoryReachable is True. A file was written to the repository, read and deleted within the last minutes.",
    wayOut: nothing,
  },
  repositoryStarting: {
    name: "RepositoryStarting",
    where: ["RepositoryReachable"],
    meaning: `The repository's Pod has not answered yet. ${serves}`,
    wayOut: "Wait for a minute. If it lasts, look at the Pod and its volume claim.",
    commands: [`kubectl describe pod --selector=${selector}`, "kubectl describe pvc NAME-repository"],
  },
  repositorySilent: {
    name: "RepositorySilent",
    where: ["RepositoryReachable", "blocker"],
    meaning: `The repository's Pod does not run, or does not answer. ${serves}`,
    wayOut:
      "Look at the Pod; the message has the words of the kubelet or the scheduler. If it names a node whose volume can't be used elsewhere, bring that node back, or [begin a new archive](backups.md#when-the-repositorys-node-is-lost).",
    commands: [`kubectl describe pod --selector=${selector}`, logs],
  },
  credentialsMissing: {
    name: "CredentialsMissing",
    where: ["RepositoryReachable", "blocker", "Succeeded"],
    meaning: `A Secret that \`spec.backup\` names is missing, or a key of it is missing, empty, or has a line break inside. The message names it. ${serves}`,
    wayOut: "Make the Secret as the message says. The repository reads it within two minutes, without a restart.",
    commands: ["kubectl create secret generic SECRET --from-literal=accessKeyId=… --from-literal=secretAccessKey=…"],
  },
  storeDenied: {
    name: "StoreDenied",
    where: ["RepositoryReachable", "blocker", "Succeeded"],
    meaning: `The store refuses the keys: they are wrong, or may not do what is needed. ${serves}`,
    wayOut:
      "Correct the keys in the Secret, or the policy of the bucket ([which rights are needed](backups.md#keys-with-least-rights)). A changed Secret is taken up within two minutes.",
  },
  bucketMissing: {
    name: "BucketMissing",
    where: ["RepositoryReachable", "blocker", "Succeeded"],
    meaning: `The bucket does not exist. ${serves}`,
    wayOut: "Make the bucket; the operator makes none. If its name is misspelt, remove `spec.backup` and set it up anew.",
  },
  wrongRegion: {
    name: "WrongRegion",
    where: ["RepositoryReachable", "blocker", "Succeeded"],
    meaning: `The bucket is in another region than \`spec.backup.repository.s3.region\`. ${serves}`,
    wayOut: "Correct the region.",
    commands: ["kubectl edit sampledb NAME"],
  },
  storeUntrusted: {
    name: "StoreUntrusted",
    where: ["RepositoryReachable", "blocker", "Succeeded"],
    meaning: `The certificate of the store is not signed by a known authority, or has another name. ${serves}`,
    wayOut: "Put the store's authority into a Secret under the key `ca.crt`, and name it in `spec.backup.repository.s3.caSecretName`.",
    commands: ["kubectl create secret generic store-ca --from-file=ca.crt"],
  },
  storeUnreachable: {
    name: "StoreUnreachable",
    where: ["RepositoryReachable", "Succeeded", "event"],
    meaning: `The store has no address, refuses connections, or does not answer. ${serves}`,
    wayOut: "Look at the store and the network. When it is back, everything that waits is archived by itself.",
    commands: [describe],
  },
  repositoryFull: {
    name: "RepositoryFull",
    where: ["RepositoryReachable", "blocker", "Succeeded"],
    meaning: `There is no room in the repository. ${serves}`,
    wayOut: "Let the volume grow (`spec.backup.repository.volume.size`), or make room in the store.",
    commands: [`kubectl patch sampledb NAME --type=merge --patch='{"spec":{"backup":{"repository":{"volume":{"size":"…"}}}}}'`],
  },
  wrongPassphrase: {
    name: "WrongPassphrase",
    where: ["RepositoryReachable", "blocker", "Succeeded"],
    meaning: `The repository was begun with another passphrase, or without one. ${serves}`,
    wayOut:
      "Put the former passphrase back into the Secret. Without it nobody can read what is there: remove `spec.backup`, and set it up anew.",
  },
  archiveConflict: {
    name: "ArchiveConflict",
    where: ["RepositoryReachable", "ArchivingHealthy", "blocker"],
    meaning: `The archive has another content under the name of a segment: two histories have the same numbers. Nothing was overwritten. The operator begins a new archive, at most once in ten minutes, and the former one stays. ${serves}`,
    wayOut:
      "Wait for ten minutes. If it comes again and again, two servers write the log of one database: look at the instances and their logs.",
    commands: [`kubectl get pods --selector=${labelNames.database}=NAME`, logs],
  },
  storeFailed: {
    name: "StoreFailed",
    where: ["RepositoryReachable", "Succeeded", "event"],
    meaning: `The store answered with an error. The message has its words. ${serves}`,
    wayOut: "Look at the store. When it is well again, everything that waits is archived by itself.",
    commands: [logs],
  },
  archiving: {
    name: "Archiving",
    where: ["ArchivingHealthy"],
    meaning: "ArchivingHealthy is True. Segments of the write-ahead log reach the repository.",
    wayOut: nothing,
  },
  fullBackupDue: {
    name: "FullBackupDue",
    where: ["ArchivingHealthy"],
    meaning:
      "ArchivingHealthy is True. Segments of the write-ahead log reach a new archive, which began because a person has given the former one up, because that one has another content under the name of a segment, or because the data was restored in place. The message says since when nothing can be restored until a full backup is made.",
    wayOut: "After a restore in place, wait: the Restore makes that Backup. Otherwise make a full Backup now.",
    commands: [fullBackup],
  },
  archiveComplete: {
    name: "ArchiveComplete",
    where: ["WALComplete", "event"],
    meaning:
      "WALComplete is True. Every moment from `status.firstRecoverableTime` to the newest segment in the archive can be restored. The repository lists its archive every five minutes to know it.",
    wayOut: nothing,
  },
  archiveGap: {
    name: "ArchiveGap",
    where: ["WALComplete", "blocker"],
    meaning:
      "Segments of the write-ahead log are missing in the archive, or no good backup leads to its newest timeline. The database serves, and what it writes now can't be restored. The message names the gap, and what can be restored. A gap is told when it lasts for more than a minute.",
    wayOut:
      "Make a full Backup now: from its end on everything can be restored again. If the Pod of a former primary is down, bring it back first: it pushes what it has left, and the gap closes by itself within two minutes.",
    commands: [`kubectl get pods --selector=${labelNames.database}=NAME`, fullBackup],
  },
  archiveGapPassed: {
    name: "ArchiveGapPassed",
    where: ["WALComplete"],
    meaning:
      "Segments are missing in the archive between two good backups. What is written now can be restored. What was written between the gap and the next backup can't be. The message has both windows.",
    wayOut: "Nothing has to be done. It ends when the Backups before the gap are deleted from the repository.",
    commands: ["kubectl get backups"],
  },
  archiveUnlisted: {
    name: "ArchiveUnlisted",
    where: ["WALComplete"],
    meaning: "The repository has not listed its archive yet, or can't.",
    wayOut:
      "Wait for two minutes. If it lasts, look at the condition RepositoryReachable; keys of a bucket need the right `s3:ListBucket`.",
    commands: [describe, logs],
  },
  noBackupYet: {
    name: "NoBackupYet",
    where: ["WALComplete"],
    meaning: "The archive has no good backup, so nothing can be restored from it. Segments are kept for the first one.",
    wayOut: "Make a full Backup.",
    commands: [fullBackup],
  },
  archivingStarts: {
    name: "ArchivingStarts",
    where: ["ArchivingHealthy"],
    meaning: "The operator switches archiving on: the repository starts, or the instances have yet to restart with it.",
    wayOut: "Wait. If it lasts, look at the conditions UpToDate and RepositoryReachable.",
    commands: [describe],
  },
  archivingUnknown: {
    name: "ArchivingUnknown",
    where: ["ArchivingHealthy"],
    meaning: "No primary answers, so nobody knows what waits to be archived.",
    wayOut: "Look at the conditions PrimaryAvailable and Ready.",
    commands: [describe],
  },
  archivingFails: {
    name: "ArchivingFails",
    where: ["ArchivingHealthy", "blocker"],
    meaning:
      "No segment of the write-ahead log has reached the repository for five minutes, or more of them wait than are archived. What is written since then can't be restored if all volumes are lost. Segments wait on the primary's volume, and fill it. The message tells how many wait, and for how long there is room.",
    wayOut:
      "Mend the repository (the condition RepositoryReachable says what is wrong). If that takes longer than there is room, let the data volume grow (`spec.storage.size`). If the store is gone for good, [give the archive up](backups.md#when-the-store-is-down).",
    commands: [describe, `kubectl patch sampledb NAME --type=merge --patch='{"spec":{"storage":{"size":"…"}}}'`],
  },
  archiveFillsDisk: {
    name: "ArchiveFillsDisk",
    where: ["ArchivingHealthy", "blocker"],
    meaning:
      "Segments that can't be archived fill the primary's volume: less than a fifth of it is free. When it is full, PostgreSQL stops and nobody can write.",
    wayOut:
      "Let the data volume grow now (`spec.storage.size`), then mend the repository. If the store is gone for good, [give the archive up](backups.md#when-the-store-is-down).",
    commands: [`kubectl patch sampledb NAME --type=merge --patch='{"spec":{"storage":{"size":"…"}}}'`],
  },
  dropWaits: {
    name: "DropWaits",
    where: ["blocker"],
    meaning:
      "A person has given up the archive, and the operator can't learn yet which segments wait. The message says why. Nothing is let go meanwhile.",
    wayOut: "Wait until the primary's Pod answers. If the order is no longer wanted, take the annotation off.",
    commands: [`kubectl annotate sampledb NAME ${dropAnnotation}-`],
  },
  dropRefused: {
    name: "DropRefused",
    where: ["event"],
    meaning:
      "A person has ordered to give up an archive that is not the present one, or nothing waits for it, or segments reach it. The operator has dropped the order, and nothing was let go.",
    wayOut: "Nothing, if the name was that of an archive that is given up already. Otherwise give the order with the present name.",
    commands: [presentStanza],
  },
  archiveDropped: {
    name: "ArchiveDropped",
    where: ["event"],
    meaning:
      "A person has given up the archive. A new one begins, and the segments that waited for the former one are let go. The note says since when nothing can be restored until a full backup is made.",
    wayOut: "Make a full Backup now.",
    commands: [fullBackup],
  },
  archiveBegun: {
    name: "ArchiveBegun",
    where: ["event"],
    meaning:
      "The archive had another content under the name of a segment, and the operator has begun a new one. The former one stays. A full backup is due.",
    wayOut: "Make a full Backup now.",
    commands: [fullBackup],
  },
} as const satisfies Descriptions;
