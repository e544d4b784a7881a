// Every label of the group sampledb.io, once, and the other names in that group by which the operator's work is recognised.
// Live objects have these names: a name is never changed, only added or retired.

export interface LabelDescription {
  readonly name: `sampledb.io/${string}`;
  /** The objects that have it. */
  readonly on: string;
  /** Who writes it. */
  readonly writtenBy: string;
  readonly meaning: string;
}

/** A person sets none of them: a wrong one takes an object out of the operator's sight. */
export const labels = {
  database: {
    name: "sampledb.io/name",
    on: "every object that belongs to a SampleDB",
    writtenBy: "the operator",
    meaning: "The name of the SampleDB. Patroni takes it as its scope. Select by it to list or delete what a SampleDB has left.",
  },
  component: {
    name: "sampledb.io/component",
    on: "Pods, claims, the StatefulSet and Patroni's ConfigMaps",
    writtenBy: "the operator; Patroni on its own objects",
    meaning:
      "The part: `postgresql` for instances and what Patroni keeps of them, `repository` for the repository's Pod, claim and ConfigMap, `init`, `trial`, `rotation`, `cutoff`, `check`, `backup` or `restore` for the Pods of Jobs.",
  },
  role: {
    name: "sampledb.io/role",
    on: "Pods of instances",
    writtenBy: "Patroni",
    meaning: "`primary` or `replica`. The read-only Service selects the replicas by it. The read-write Service does not depend on it.",
  },
  schedule: {
    name: "sampledb.io/schedule",
    on: "Backups that a schedule has made",
    writtenBy: "the operator",
    meaning: "The name of the schedule, as `spec.backup.schedules` of the SampleDB has it.",
  },
  finalBackup: {
    name: "sampledb.io/final",
    on: "the last Backup of a SampleDB that was deleted with `deletionPolicy: Snapshot`",
    writtenBy: "the operator",
    meaning: "`true`. `kubectl get sdbbackup --selector=sampledb.io/final` lists what can be brought back.",
  },
} as const satisfies Record<string, LabelDescription>;

export const labelNames = {
  database: labels.database.name,
  component: labels.component.name,
  role: labels.role.name,
  schedule: labels.schedule.name,
  finalBackup: labels.finalBackup.name,
} as const;

/** On every SampleDB before the first side effect. The operator takes it off when the instances have stopped in order. */
export const finalizer = "sampledb.io/database";

/** On every Backup before its Job is made. The operator takes it off when the artefact is removed, or is to stay. */
export const backupFinalizer = "sampledb.io/artefact";

/** On every Restore before its first side effect. The operator takes it off when nothing half-made is left. */
export const restoreFinalizer = "sampledb.io/restore";

/** The reporting controller of the operator's Events. */
export const reportingController = "sampledb.io/operator";
