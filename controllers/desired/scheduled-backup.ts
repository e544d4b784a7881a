// The Backup that a schedule asks for. Its name follows from schedule and slot, so that it can't be made twice.
import { scheduledForAnnotation } from "../../api/annotations.ts";
import type { BackupSpec } from "../../api/backup.ts";
import { labelNames } from "../../api/labels.ts";
import { apiVersion } from "../../api/version.ts";
import type { Backup, SampleDB } from "../kinds/sampledb-io.ts";

export interface Slot {
  readonly schedule: { readonly name: string; readonly type: BackupSpec["type"] };
  /** In UTC, such as 2026-11-18T03:00:00Z. */
  readonly time: string;
}

/** Retention removes object and artefact together, so the policy is Delete. Nothing else deletes it, and what is needed can't be deleted. */
export function scheduledBackup({ metadata: { namespace = "", name } }: SampleDB, { schedule, time }: Slot): Backup {
  return {
    apiVersion,
    kind: "Backup",
    metadata: {
      namespace,
      name: `${name}-${schedule.name}-${time.replaceAll(/[^0-9]/g, "").slice(0, 12)}`,
      labels: { [labelNames.schedule]: schedule.name },
      annotations: { [scheduledForAnnotation]: time },
    },
    spec: { sampleDBName: name, type: schedule.type, deletionPolicy: "Delete" },
  };
}

/**
 * The same under another name, for when its name is taken: schedule `c` of SampleDB `a-b` and schedule `b-c` of SampleDB `a` have the same
 * name for a slot, and a person can take any name.
 */
export function underAnotherName(db: SampleDB, backup: Backup): Backup {
  return { ...backup, metadata: { ...backup.metadata, name: `${backup.metadata.name}-${db.metadata.uid?.slice(0, 8)}` } };
}

/** Whether both are of the same slot of the same schedule of the same SampleDB. */
export function isSameSlot(one: Backup, other: Backup): boolean {
  return slotText(one) === slotText(other);
}

function slotText({ metadata: { labels, annotations }, spec }: Backup): string {
  return `${spec.sampleDBName}/${labels?.[labelNames.schedule]}/${annotations?.[scheduledForAnnotation]}`;
}
