// The status of a SampleDB: only observations of the operator, never its intentions.
import * as z from "zod";
import { conditions } from "./conditions.ts";
import { snapshotPhases } from "./deletion-policy.ts";
import { atomicList, listMap, time } from "./fields.ts";
import { restorePhases } from "./restore-phase.ts";

const instance = z.object({
  podName: z.string().max(63).describe("The instance's Pod."),
  role: z.enum(["Primary", "Replica", "Unknown"]).describe("What it is at the moment."),
  ready: z.boolean().describe("Whether it answers SQL."),
  timeline: z.int().min(0).optional().describe("The timeline it is on; all are on the same, unless one has diverged."),
  node: z.string().max(253).optional().describe("The node it runs on."),
});

const blocker = z.object({
  reason: z.string().min(1).max(128).describe("Why, in one CamelCase word."),
  message: z.string().max(4096).describe("Why, for people."),
  remedy: z.string().max(4096).describe("What a person can do about it."),
  sinceTime: time.describe("Since when."),
});

export const sampleDBStatus = z.object({
  observedGeneration: z.int().min(0).optional().describe("The generation of the spec that this status is of."),
  conditions: conditions.optional().describe("What can be said of it. Ready sums it up."),
  replicas: z.int().min(0).optional().describe("How many instances there are."),
  readyReplicas: z.int().min(0).optional().describe("How many of them answer SQL."),
  selector: z.string().max(1024).optional().describe("The label selector of the Pods, for the scale subresource."),
  primaryPodName: z.string().max(63).optional().describe("The Pod of the primary."),
  instances: listMap(z.array(instance).max(16), "podName").optional().describe("Each instance as it was observed."),
  postgresVersion: z.string().max(32).optional().describe("The full version that serves, such as 17.5."),
  appSecretName: z.string().max(253).optional().describe("The Secret that applications bind to: host, port, dbname, user, password, uri."),
  services: z
    .object({
      readWrite: z.string().max(63).optional().describe("For writing."),
      readOnly: z.string().max(63).optional().describe("For reading."),
    })
    .optional()
    .describe("The names of the Services."),
  schedules: listMap(
    z
      .array(
        z.object({
          name: z.string().max(20).describe("The schedule's name."),
          expression: z
            .string()
            .max(200)
            .optional()
            .describe("The schedule and time zone that the next slot follows from. When they are changed, it is computed anew from then."),
          lastScheduleTime: time.optional().describe("The last slot that a Backup was made for."),
          nextScheduleTime: time
            .optional()
            .describe("The next slot; one that has passed waits for the end of another Backup. Empty while the schedule is suspended."),
          reason: z.string().max(128).optional().describe("Why no Backup was made for a slot, in one CamelCase word."),
          message: z.string().max(1024).optional().describe("The same for people. Empty once a Backup was made again."),
        }),
      )
      .max(16),
    "name",
  )
    .optional()
    .describe("Each schedule of backups."),
  lastSuccessfulBackupTime: time.optional().describe("When the last good Backup ended."),
  firstRecoverableTime: time
    .optional()
    .describe(
      "From this moment on every one can be restored, up to the newest segment before a gap: the condition WALComplete tells of gaps.",
    ),
  deletion: z
    .object({
      phase: z.enum(snapshotPhases).describe("How far it is. From `Releasing` on volumes go."),
      sinceTime: time.describe("Since when it is in this phase."),
      backupName: z.string().max(253).describe("The last Backup."),
    })
    .optional()
    .describe("How the deletion with `deletionPolicy: Snapshot` stands."),
  restore: z
    .object({
      restoreName: z.string().max(253).describe("The Restore."),
      restoreUID: z.string().max(64).describe("Its uid: another one of the same name is another Restore."),
      phase: z.enum(restorePhases).describe("How far it is. From `Restoring` on a volume is overwritten."),
      sinceTime: time.describe("Since when it is in this phase."),
      backupName: z
        .string()
        .max(253)
        .describe("The Backup of everything from before the restore. A Restore in place from it undoes this one."),
      podName: z.string().max(253).optional().describe("The instance whose volume is overwritten."),
      formerPrimaryPodName: z.string().max(253).optional().describe("The primary from before the restore."),
      formerStanza: z
        .string()
        .max(128)
        .optional()
        .describe("The archive from before the restore. The restored database begins another one."),
    })
    .optional()
    .describe("How a restore in place stands."),
  formerVolumes: atomicList(z.array(z.string().max(253)).max(32))
    .optional()
    .describe("The volumes from before a restore in place. They are kept until the restored database has a good full Backup."),
  blockers: atomicList(z.array(blocker).max(16)).optional().describe("What stands in the way, with the way out."),
});

export type SampleDBStatus = z.output<typeof sampleDBStatus>;
