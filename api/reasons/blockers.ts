// Reasons of blockers that the operator finds itself. Each is also told as an Event when it begins.
import { replaceAnnotation, rotateAnnotation, switchoverAnnotation, unprovenAnnotation } from "../annotations.ts";
import type { Descriptions } from "./description.ts";

export const blockerReasons = {
  restoreWaits: {
    name: "RestoreWaits",
    where: ["blocker"],
    meaning:
      "A restore in place can't go on: the Backup from before can't be made or checked, the Job that overwrites is not made, or the restored instance does not start. The message names the phase and the cause. The operator goes on by itself when the cause is mended.",
    wayOut: "Mend the cause. Before the first byte is overwritten, deleting the Restore takes everything back.",
    commands: ["kubectl get restores", "kubectl delete restore RESTORE   # before the first byte is overwritten"],
  },
  dataOverwritten: {
    name: "DataOverwritten",
    where: ["blocker"],
    meaning:
      "A restore in place has failed after it had begun to overwrite the only volume. No instance is started on what is there. Everything from before is in the Backup that the message names, and in the archive.",
    wayOut: "Make another Restore in place: from that Backup, to have everything from before, or from any other.",
    commands: ["kubectl get backups", "kubectl get sampledb NAME --output=jsonpath='{.status.restore}'"],
  },
  snapshotWaits: {
    name: "SnapshotWaits",
    where: ["blocker"],
    meaning:
      "The SampleDB is being deleted with `deletionPolicy: Snapshot`, and the last Backup can't be made or checked: its Pods can't run, or the store does not answer. Nothing is removed. The operator goes on by itself when the cause is mended. The message names the phase and the cause.",
    wayOut:
      "Mend the cause. If the last Backup is not worth waiting for, change the policy: with Retain the deletion ends at once and the volumes stay, with Delete everything is destroyed.",
    commands: [`kubectl patch sampledb NAME --type=merge --patch='{"spec":{"deletionPolicy":"Retain"}}'   # the volumes stay`],
  },
  nodeLost: {
    name: "NodeLost",
    where: ["blocker"],
    meaning:
      "The node of an instance does not answer. Its Pod may still run. The other instances serve meanwhile. If the primary is lost, a replica leads within half a minute; a single instance has no replica, and the database is down.",
    wayOut:
      "If the node comes back, nobody has to do anything. If the node is gone for good but its volume can be used elsewhere, delete the node. If the volume is gone as well, have the instance made anew.",
    commands: [
      "kubectl delete node NODE                                          # the node is gone for good, its volume is not",
      `kubectl annotate sampledb NAME ${replaceAnnotation}=POD   # the volume is gone for good`,
    ],
  },
  stalemate: {
    name: "Stalemate",
    where: ["blocker"],
    meaning:
      "No instance leads, and the instances can't agree on one: a former primary has more log of an older history, or a person has given up the data of the last primary. Nobody can write. The operator orders the instance with the newest data to lead when nobody has led for 40 seconds.",
    wayOut: "Wait for a minute. If it lasts, look in the logs of the instance that the message names.",
    commands: ["kubectl logs POD --container=postgres --tail=100"],
  },
  replicaBehind: {
    name: "ReplicaBehind",
    where: ["blocker"],
    meaning:
      "A replica answers SQL but has not followed the primary for two minutes. The operator has its data copied anew from the primary. The Service NAME-ro may have led to old data until then.",
    wayOut: "Wait. A copy takes as long as reading all data of the primary once.",
  },
  replicaStarting: {
    name: "ReplicaStarting",
    where: ["blocker"],
    meaning:
      "PostgreSQL in a replica has been starting for more than ten minutes. After a copy it replays everything that was written meanwhile, which may take hours.",
    wayOut:
      "Look at the log of the Pod. While PostgreSQL replays its write-ahead log, wait. If it gets nowhere, have the instance made anew from the primary.",
    commands: [
      "kubectl logs POD --container=postgres --tail=100",
      `kubectl annotate sampledb NAME ${replaceAnnotation}=POD   # deletes its volume`,
    ],
  },
  podRefused: {
    name: "PodRefused",
    where: ["blocker"],
    meaning:
      "A StatefulSet or a Job of the database has not been able to make a Pod for 15 seconds. A quota or an admission rule refuses it; the message has the words of the API server.",
    wayOut: "Raise the quota, lower `spec.resources`, or change the rule. Kubernetes tries again by itself.",
    commands: ["kubectl describe statefulset NAME", "kubectl describe resourcequota"],
  },
  volumeCannotGrow: {
    name: "VolumeCannotGrow",
    where: ["blocker"],
    meaning:
      "The API server refuses to let a claim grow to `spec.storage.size`. The database serves with the volume that it has. The operator tries again every 30 seconds.",
    wayOut:
      "Allow the StorageClass to grow volumes, if its driver can. If the driver can't, make a new SampleDB with another StorageClass and move the data.",
    commands: [`kubectl patch storageclass CLASS --type=merge --patch='{"allowVolumeExpansion":true}'`],
  },
  passwordLost: {
    name: "PasswordLost",
    where: ["blocker"],
    meaning:
      "A Secret with a password was gone, and the operator has made it anew with another password. PostgreSQL still has the old one. Open connections stay, and new ones with the password in the Secret fail. With NAME-app the applications are concerned. With NAME-replication a replica whose Pod is made anew can't follow. With NAME-superuser the operator's Jobs can't connect, and a former primary can't be rewound.",
    wayOut:
      "For NAME-app order a new password; the operator does the rest. For NAME-superuser (role postgres) and NAME-replication (role replication) set the password of the Secret in PostgreSQL by hand, in the primary's Pod, and take the mark off the Secret.",
    commands: [
      `kubectl annotate sampledb NAME ${rotateAnnotation}=app   # for NAME-app`,
      "# for NAME-superuser; in the same way for NAME-replication with the role replication:",
      "kubectl get secret NAME-superuser --output=jsonpath='{.data.password}' | base64 --decode",
      "kubectl exec --stdin --tty POD -- psql --username=postgres --command='\\password postgres'",
      `kubectl annotate secret NAME-superuser ${unprovenAnnotation}-`,
    ],
  },
  passwordWaits: {
    name: "PasswordWaits",
    where: ["blocker"],
    meaning:
      "A new password for the application was ordered, and PostgreSQL can't be told at the moment; the message says why. Applications go on with the old password. The operator goes on by itself.",
    wayOut: "Wait. If the message names a Pod that does not start, mend what it names.",
    commands: ["kubectl describe job NAME-rotation"],
  },
  passwordRefused: {
    name: "PasswordRefused",
    where: ["blocker"],
    meaning:
      "PostgreSQL has refused the application's new password; the message has its error. The old password holds, in PostgreSQL and in the Secret NAME-app.",
    wayOut: "Mend what the message names and delete the Job, which has it tried again. Or take the order back.",
    commands: ["kubectl delete job NAME-rotation", `kubectl annotate sampledb NAME ${rotateAnnotation}-`],
  },
  initializationStuck: {
    name: "InitializationStuck",
    where: ["blocker"],
    meaning: "The Pod of the Job NAME-init does not start, or has failed and is tried again. The message says why.",
    wayOut: "Mend what the message names. The Job goes on by itself.",
    commands: ["kubectl describe job NAME-init", "kubectl describe pod --selector=batch.kubernetes.io/job-name=NAME-init"],
  },
  switchoverWaits: {
    name: "SwitchoverWaits",
    where: ["blocker"],
    meaning:
      "A switchover was ordered, and the replica that is to lead, or any replica at all, is not ready to take over. The primary goes on.",
    wayOut: "Wait until the replica follows the primary, or take the order back.",
    commands: [`kubectl annotate sampledb NAME ${switchoverAnnotation}-`],
  },
  replacementWaits: {
    name: "ReplacementWaits",
    where: ["blocker"],
    meaning: "An instance is to be made anew, and no primary answers from which it could be copied. The order waits.",
    wayOut: "Wait for a primary, see NoPrimary; or take the order back.",
    commands: [`kubectl annotate sampledb NAME ${replaceAnnotation}-`],
  },
  upgradeNotSupported: {
    name: "UpgradeNotSupported",
    where: ["blocker"],
    meaning:
      "`spec.postgresVersion` asks for another major version than the data is of, and this version of the operator does not upgrade data. The database goes on with the major version of its data.",
    wayOut:
      "Set `spec.postgresVersion` back, or wait for a version of the operator that upgrades, or make a new SampleDB with the other major version and move the data with `pg_dump`.",
  },
} as const satisfies Descriptions;
