// Reasons of Events that are no blockers: what happened, and orders that were dropped.
import { labelNames } from "../labels.ts";
import { type Descriptions, nothing } from "./description.ts";

export const eventReasons = {
  ready: {
    name: "Ready",
    where: ["event"],
    meaning: "The condition Ready has become True.",
    wayOut: nothing,
  },
  notReady: {
    name: "NotReady",
    where: ["event"],
    meaning: "The condition Ready is no longer True. The note begins with the reason of the condition.",
    wayOut: "Look that reason up here.",
  },
  primaryChanged: {
    name: "PrimaryChanged",
    where: ["event"],
    meaning:
      "Another instance is the primary, or the first one is. Connections to the former primary have ended; applications connect anew.",
    wayOut: "Nothing. If it happens often, look why the primary ends: see PrimaryEnded and the log of the former primary.",
    commands: ["kubectl logs POD --container=postgres --previous"],
  },
  primaryEnded: {
    name: "PrimaryEnded",
    where: ["event"],
    meaning:
      "The container of the primary has ended, with the exit code in the note. The operator has given its lock back, so that a replica leads at once.",
    wayOut: "Find out why it ended. `OOMKilled` in the note means that the memory limit is too low.",
    commands: ["kubectl logs POD --container=postgres --previous", "kubectl describe pod POD"],
  },
  failoverOrdered: {
    name: "FailoverOrdered",
    where: ["event"],
    meaning: "Nobody had led for 40 seconds, and the operator has ordered the instance with the newest data to lead. It ends a Stalemate.",
    wayOut: nothing,
  },
  switchoverOrdered: {
    name: "SwitchoverOrdered",
    where: ["event"],
    meaning:
      "The operator has ordered the primary to hand over to a replica, for a person's order or for a change. Writes stop for a moment, and no commit is lost.",
    wayOut: nothing,
  },
  switchoverTakenBack: {
    name: "SwitchoverTakenBack",
    where: ["event"],
    meaning:
      "A switchover was not carried out for 30 seconds, as when the primary is lost before it could hand over. The operator has taken the order away, so that the instances elect a primary.",
    wayOut: "Nothing, unless NoPrimary follows. A person's order stays on the SampleDB, and is given again.",
  },
  switchoverImpossible: {
    name: "SwitchoverImpossible",
    where: ["event"],
    meaning: "A person has ordered a switchover to an instance that does not exist. The operator has dropped the order.",
    wayOut: "Order it again with the name of a Pod, or with `any`.",
    commands: [`kubectl get pods --selector=${labelNames.database}=NAME`],
  },
  replacementRefused: {
    name: "ReplacementRefused",
    where: ["event"],
    meaning:
      "A person has ordered an instance to be made anew that does not exist or is the primary. The operator has dropped the order, and nothing was deleted.",
    wayOut: "Correct the name. If it is the primary, order a switchover first.",
  },
  instanceReplaced: {
    name: "InstanceReplaced",
    where: ["event"],
    meaning:
      "The operator has deleted the Pod of an instance, so that it is made anew: for a change of the spec, or with an empty volume for a person's order.",
    wayOut: nothing,
  },
  replicaMadeAnew: {
    name: "ReplicaMadeAnew",
    where: ["event"],
    meaning: "A replica had not followed the primary for two minutes. The operator has its data copied anew from the primary.",
    wayOut: "Nothing. If it happens often, look in the replica's log for the reason why it falls behind.",
    commands: ["kubectl logs POD --container=postgres"],
  },
  volumeGrowing: {
    name: "VolumeGrowing",
    where: ["event"],
    meaning: "The operator has asked for a larger volume, because `spec.storage.size` was raised.",
    wayOut: nothing,
  },
  passwordRotated: {
    name: "PasswordRotated",
    where: ["event"],
    meaning: "The application's role has a new password, and the Secret NAME-app has it too. New connections with the old password fail.",
    wayOut:
      "Restart applications that take the Secret as environment. Applications that mount it read the new password within a minute or so.",
  },
  rotationImpossible: {
    name: "RotationImpossible",
    where: ["event"],
    meaning: "A person has ordered a new password for something other than `app`. The operator has dropped the order.",
    wayOut: "Order it with `app`. The passwords of superuser and replication can't be changed in this way.",
  },
  retained: {
    name: "Retained",
    where: ["event"],
    meaning:
      "The SampleDB is deleted, and its volumes, passwords and certificates stay, because `spec.deletionPolicy` is not Delete. A new SampleDB of this name takes them up.",
    wayOut:
      "Nothing if the data is wanted. If it is not, delete what was kept, and then the PersistentVolumes; there is no way back. Where a repository is left, delete [the Backups in it](deleting.md#being-rid-of-all-of-it) before it.",
    commands: [
      `kubectl delete pvc,configmap --selector=${labelNames.database}=NAME,${labelNames.component}=postgresql   # the data is not wanted`,
      "kubectl delete pvc,configmap --ignore-not-found NAME-repository   # the repository, after its Backups",
      `kubectl delete secret --selector=${labelNames.database}=NAME`,
      "kubectl --namespace=sampledb-system delete secret authority.NAMESPACE.NAME",
    ],
  },
  snapshotted: {
    name: "Snapshotted",
    where: ["event"],
    meaning:
      "The SampleDB is deleted with `deletionPolicy: Snapshot`. Its last Backup is good, the archive has everything up to the last commit, and the volumes are gone. Passwords, the repository and all Backups stay.",
    wayOut: "Nothing. To bring the SampleDB back, restore the Backup that the note names ([deleting](deleting.md)).",
    commands: [`kubectl get sdbbackup --selector=${labelNames.finalBackup}   # what can be brought back`],
  },
  namespaceDeleted: {
    name: "NamespaceDeleted",
    where: ["event"],
    meaning:
      "The namespace of a SampleDB is being deleted. The Event is in the operator's namespace and names the PersistentVolumes that keep the data. Passwords and certificates go with the namespace.",
    wayOut: "Write the names of the volumes down before the Event expires, if the data is wanted.",
    commands: ["kubectl --namespace=sampledb-system get events --field-selector=reason=NamespaceDeleted", "kubectl get persistentvolumes"],
  },
} as const satisfies Descriptions;
