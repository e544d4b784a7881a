// Every annotation of the group sampledb.io, once. Live objects have these names: a name is never changed, only added or retired.

export interface AnnotationDescription {
  readonly name: `sampledb.io/${string}`;
  /** The objects that have it. NAME is the SampleDB's name. */
  readonly on: string;
  /** Who writes it. */
  readonly writtenBy: string;
  readonly meaning: string;
  /** Whether a person may set it or take it off, and what happens then. */
  readonly byHand: string;
}

/** Orders: a person writes them on a SampleDB, and the operator carries them out. */
export const orderAnnotations = {
  switchover: {
    name: "sampledb.io/switchover",
    on: "SampleDB",
    writtenBy: "a person",
    meaning:
      "The Pod name of the replica that is to become the primary, or `any`. The operator replaces `any` by the replica that it has chosen, and takes the annotation off when that instance leads.",
    byHand: "Set it to order a switchover. Take it off to withdraw an order that has not begun.",
  },
  restart: {
    name: "sampledb.io/restart",
    on: "SampleDB; the operator copies it to the Pod template of the StatefulSet and so to the Pods",
    writtenBy: "a person; the copy: the operator",
    meaning:
      "Any text, such as the date. A new text orders a restart: the operator makes the Pods anew one by one, the replicas first, then after a switchover the old primary.",
    byHand: "Set it to a new text on the SampleDB to order a restart. The operator never takes it off. Leave the copies alone.",
  },
  replaceInstance: {
    name: "sampledb.io/replace-instance",
    on: "SampleDB",
    writtenBy: "a person; the operator adds to it",
    meaning:
      "The Pod name of an instance whose volume or node is gone for good. The operator adds `/` and the uid of the claim that is to go, deletes claim and Pod, and takes the annotation off when the new instance begins. If the instance was the last primary, the order also gives up the data that only this instance had.",
    byHand: "Set it to a Pod name to order a replacement. Take it off to withdraw an order that still waits.",
  },
  rotatePassword: {
    name: "sampledb.io/rotate-password",
    on: "SampleDB",
    writtenBy: "a person",
    meaning:
      "`app`: the application's role is to get a new password. The operator takes the annotation off when PostgreSQL and the Secret NAME-app have the new password.",
    byHand: "Set it to `app` to order a new password. Take it off to withdraw an order that PostgreSQL has refused.",
  },
  dropArchive: {
    name: "sampledb.io/drop-archive",
    on: "SampleDB",
    writtenBy: "a person",
    meaning:
      "The name of the archive that is given up, as the annotation `sampledb.io/stanza` of ConfigMap NAME-repository has it. The operator begins a new archive, lets go every segment that waits for the former one, and takes the annotation off. What these segments hold can't be restored. With any other name nothing happens, so an order that is given twice is carried out once.",
    byHand:
      "Set it when the store is gone for good and the data volume fills ([which way out first](backups.md#when-the-store-is-down)). Take it off to withdraw an order that still waits.",
  },
} as const satisfies Record<string, AnnotationDescription>;

const notByHand = "No.";

/** Notes: the operator writes them to remember something beside the object that it concerns. */
export const noteAnnotations = {
  unproven: {
    name: "sampledb.io/unproven",
    on: "Secrets NAME-superuser, NAME-replication and NAME-app",
    writtenBy: "the operator",
    meaning: "The Secret was lost and made anew beside existing data, so PostgreSQL does not know the password in it.",
    byHand:
      "Take it off after you have set the Secret's password in PostgreSQL with `ALTER ROLE`. A rotation of the application's password takes it off by itself.",
  },
  applied: {
    name: "sampledb.io/applied",
    on: "every object that the operator applies",
    writtenBy: "the operator",
    meaning: "Digest of the object as the operator applied it last. By it the operator notices a field that it does not want any more.",
    byHand: notByHand,
  },
  asked: {
    name: "sampledb.io/asked",
    on: "Pods of instances, and the Pod template of the StatefulSet",
    writtenBy: "the operator",
    meaning:
      "Digest of the spec fields that concern the Pod, as the user wrote them when the Pod was made, and of the restart order. The operator replaces a Pod with another digest. What a newer operator adds by itself is not part of it, so an upgrade of the operator replaces no Pod.",
    byHand: notByHand,
  },
  proven: {
    name: "sampledb.io/proven",
    on: "StatefulSet NAME",
    writtenBy: "the operator",
    meaning: "Digest of the image, settings, resources and placement with which a trial succeeded last.",
    byHand: notByHand,
  },
  provenFor: {
    name: "sampledb.io/proven-for",
    on: "StatefulSet NAME",
    writtenBy: "the operator",
    meaning:
      "Digest of the spec fields that a trial covers, as the user wrote them when that trial succeeded. Unchanged while `sampledb.io/proven` differs: a newer operator causes the difference, and Ready does not wait for the trial.",
    byHand: notByHand,
  },
  trial: {
    name: "sampledb.io/trial",
    on: "Job and ConfigMap NAME-trial",
    writtenBy: "the operator",
    meaning: "Digest of what this trial tries.",
    byHand: notByHand,
  },
  ownTrial: {
    name: "sampledb.io/trial-for-operator",
    on: "Job NAME-trial",
    writtenBy: "the operator",
    meaning:
      "`true`: no user asked for the change on trial, a newer operator makes it. At most ten such trials run at a time in the whole cluster.",
    byHand: notByHand,
  },
  initialization: {
    name: "sampledb.io/initialization",
    on: "Job NAME-init and its Pods",
    writtenBy: "the operator",
    meaning:
      "Digest of `spec.bootstrap`, of the scripts and of the image that the Job was made from. Another digest now: the Job is made anew.",
    byHand: notByHand,
  },
  cutOff: {
    name: "sampledb.io/cut-off",
    on: "Job NAME-cutoff",
    writtenBy: "the operator",
    meaning: "The uid of the primary's Pod whose clients this Job has cut off, in a deletion with `deletionPolicy: Snapshot`.",
    byHand: "Leave it alone.",
  },
  archiveCheck: {
    name: "sampledb.io/archive-check",
    on: "Job NAME-check",
    writtenBy: "the operator",
    meaning:
      "Digest of the last Backup and of the volume whose log this Job compares with the archive, in a deletion with `deletionPolicy: Snapshot`.",
    byHand: "Leave it alone.",
  },
  nextPassword: {
    name: "sampledb.io/next-password",
    on: "Job NAME-rotation and its Pods",
    writtenBy: "the operator",
    meaning: "The uid of the Secret NAME-rotation whose password the Job sets in PostgreSQL.",
    byHand: notByHand,
  },
  major: {
    name: "sampledb.io/major",
    on: "ConfigMap NAME-config",
    writtenBy: "the operator",
    meaning: "The major version of PostgreSQL that the data is of. It outlives the SampleDB, as the data does.",
    byHand: notByHand,
  },
  settingsSince: {
    name: "sampledb.io/settings-since",
    on: "ConfigMap NAME-config",
    writtenBy: "the operator",
    meaning: "When the settings in this ConfigMap were written. The instances read them within ten seconds.",
    byHand: notByHand,
  },
  settingsAsked: {
    name: "sampledb.io/settings-asked",
    on: "ConfigMap NAME-config",
    writtenBy: "the operator",
    meaning:
      "The fields of the spec that settings follow from, as the user wrote them when the settings were written, and the restart order. JSON.",
    byHand: notByHand,
  },
  settingsHeld: {
    name: "sampledb.io/settings-held",
    on: "ConfigMap NAME-config",
    writtenBy: "the operator",
    meaning:
      "Names of settings that must not cause a restart, because a newer operator changed them and no user did. A restart order brings them.",
    byHand: notByHand,
  },
  beforeClosing: {
    name: "sampledb.io/before-closing",
    on: "ConfigMap NAME-config",
    writtenBy: "the operator",
    meaning:
      "`pg_hba` and `synchronous_mode_strict` as they were in these settings before applications were cut off, for a restore in place or a deletion with `Snapshot`. JSON. The operator puts them back when a restore is over or taken back, also while a change of the settings is refused or on trial.",
    byHand: notByHand,
  },
  lastPrimary: {
    name: "sampledb.io/last-primary",
    on: "ConfigMap NAME-leader",
    writtenBy: "the operator",
    meaning:
      "The Pod name of the instance that was primary when the database was stopped. It has the newest data, so it starts first. It outlives the SampleDB.",
    byHand: notByHand,
  },
  named: {
    name: "sampledb.io/named",
    on: "ConfigMap NAME-failover",
    writtenBy: "the operator; the image's program may-promote reads it",
    meaning: "The Pod name that a switchover names. This instance may lead only when it has everything that the last primary had.",
    byHand: notByHand,
  },
  volumeFate: {
    name: "sampledb.io/volume-fate",
    on: "PersistentVolumeClaims data-NAME-N",
    writtenBy: "the operator",
    meaning:
      "What the claim's volume was told, and the uid of the claim. `keep`: the volume outlives the claim. `release`: it goes with the claim, if it did before. `releasing`: it is being told so.",
    byHand: "Take it off to have the operator tell the volume again. Do not set it.",
  },
  formerPolicy: {
    name: "sampledb.io/former-reclaim-policy",
    on: "PersistentVolumes of instances",
    writtenBy: "the operator",
    meaning:
      "The reclaim policy that the volume had before the operator set it to Retain. The operator restores this policy when `spec.deletionPolicy` is Delete.",
    byHand: notByHand,
  },
  archiveGeneration: {
    name: "sampledb.io/archive-generation",
    on: "ConfigMap NAME-repository",
    writtenBy: "the operator",
    meaning:
      "A number that counts the archives of the database. A new one begins when archiving was off in between, when a person has given an archive up, and when an archive has another content under the name of a segment. It outlives the SampleDB, as the repository does.",
    byHand: notByHand,
  },
  archiveOff: {
    name: "sampledb.io/archive-off",
    on: "ConfigMap NAME-repository",
    writtenBy: "the operator",
    meaning: "`true`: `spec.backup` was removed, and nothing is archived. What was archived before is still in the repository.",
    byHand: notByHand,
  },
  archiveBegun: {
    name: "sampledb.io/archive-begun",
    on: "ConfigMap NAME-repository",
    writtenBy: "the operator",
    meaning:
      "Why and when the present archive began in place of another one: a person has given that one up (`Dropped`), it has another content under the name of a segment (`Conflict`), or the data was restored in place (`Restored`). A full backup is due since then. JSON.",
    byHand: notByHand,
  },
  archiveLetGo: {
    name: "sampledb.io/archive-let-go",
    on: "ConfigMap NAME-repository; the operator copies it to the key `archive-let-go` of ConfigMap NAME-patroni, and so to the instances",
    writtenBy: "the operator",
    meaning:
      "The system identifier of the data, `/`, and the name of the last file of the write-ahead log that waited when a person gave the archive up. The instances archive no file up to this name.",
    byHand: notByHand,
  },
  stanza: {
    name: "sampledb.io/stanza",
    on: "ConfigMap and Pods of NAME-repository",
    writtenBy: "the operator",
    meaning: "The name of the present archive: the SampleDB's uid, the major version of PostgreSQL, and the generation.",
    byHand: notByHand,
  },
  task: {
    name: "sampledb.io/task",
    on: "Jobs NAME-backup and NAME-restore",
    writtenBy: "the operator",
    meaning:
      "What the Job does: `backup`; `adopt`, to see whether the backup of a lost Pod is whole; `expire`, to remove one from the repository; `look`, to ask a repository what it has; or `restore`.",
    byHand: notByHand,
  },
  scheduledFor: {
    name: "sampledb.io/scheduled-for",
    on: "Backups that a schedule has made",
    writtenBy: "the operator",
    meaning: "The slot of the schedule that the Backup was made for, in UTC. The Backup may begin later.",
    byHand: notByHand,
  },
  restoredBy: {
    name: "sampledb.io/restored-by",
    on: "what a Restore has made: the SampleDB, its first claim and Patroni's ConfigMaps",
    writtenBy: "the operator",
    meaning: "The uid of the Restore.",
    byHand: notByHand,
  },
  restoreInPlace: {
    name: "sampledb.io/restore-in-place",
    on: "SampleDB",
    writtenBy: "the operator",
    meaning:
      "Name and uid of the Restore that replaces the data of this SampleDB, as `NAME/UID`. While it is there, the instances run or stop as that Restore needs it. Two Restores can't have it at the same time.",
    byHand: "No. Delete the Restore instead: before the first byte is overwritten, that takes the annotation off.",
  },
  restoreFound: {
    name: "sampledb.io/restore-found",
    on: "the first claim of a SampleDB that is being restored",
    writtenBy: "the operator",
    meaning: "The names of the Secrets that were there before the Restore. Where it fails, it removes the others.",
    byHand: notByHand,
  },
  uninstallAttempt: {
    name: "sampledb.io/uninstall-attempt",
    on: "the CustomResourceDefinitions",
    writtenBy: "`make uninstall`",
    meaning: "A number that changes, so that the API server looks again at a CustomResourceDefinition that is being deleted.",
    byHand: notByHand,
  },
} as const satisfies Record<string, AnnotationDescription>;

export const switchoverAnnotation = orderAnnotations.switchover.name;
export const replaceAnnotation = orderAnnotations.replaceInstance.name;
export const rotateAnnotation = orderAnnotations.rotatePassword.name;
export const dropAnnotation = orderAnnotations.dropArchive.name;

export const instanceAnnotations = {
  asked: noteAnnotations.asked.name,
  restart: orderAnnotations.restart.name,
  proven: noteAnnotations.proven.name,
  provenFor: noteAnnotations.provenFor.name,
} as const;

export const unprovenAnnotation = noteAnnotations.unproven.name;
export const appliedAnnotation = noteAnnotations.applied.name;
export const trialAnnotation = noteAnnotations.trial.name;
export const ownTrialAnnotation = noteAnnotations.ownTrial.name;
export const initializationAnnotation = noteAnnotations.initialization.name;
export const nextPasswordAnnotation = noteAnnotations.nextPassword.name;
export const cutOffAnnotation = noteAnnotations.cutOff.name;
export const archiveCheckAnnotation = noteAnnotations.archiveCheck.name;
export const majorAnnotation = noteAnnotations.major.name;
export const settingsSinceAnnotation = noteAnnotations.settingsSince.name;
export const settingsAskedAnnotation = noteAnnotations.settingsAsked.name;
export const settingsHeldAnnotation = noteAnnotations.settingsHeld.name;
export const beforeClosingAnnotation = noteAnnotations.beforeClosing.name;
export const lastPrimaryAnnotation = noteAnnotations.lastPrimary.name;
export const namedAnnotation = noteAnnotations.named.name;
export const formerPolicyAnnotation = noteAnnotations.formerPolicy.name;
export const archiveGenerationAnnotation = noteAnnotations.archiveGeneration.name;
export const archiveOffAnnotation = noteAnnotations.archiveOff.name;
export const archiveBegunAnnotation = noteAnnotations.archiveBegun.name;
export const archiveLetGoAnnotation = noteAnnotations.archiveLetGo.name;
export const stanzaAnnotation = noteAnnotations.stanza.name;
export const scheduledForAnnotation = noteAnnotations.scheduledFor.name;
export const restoredByAnnotation = noteAnnotations.restoredBy.name;
export const restoreInPlaceAnnotation = noteAnnotations.restoreInPlace.name;
export const restoreFoundAnnotation = noteAnnotations.restoreFound.name;
export const taskAnnotation = noteAnnotations.task.name;
export const volumeFateAnnotation = noteAnnotations.volumeFate.name;
