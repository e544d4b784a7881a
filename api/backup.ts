// Backup: one backup of a SampleDB. It has no owner and outlives it.
import * as z from "zod";
import { conditions } from "./conditions.ts";
import { lsn, sampleDBName, time, uint64 } from "./fields.ts";
import { withRules } from "./rules.ts";

export const backupSpec = withRules(
  z.object({
    sampleDBName: sampleDBName.describe("The SampleDB that is backed up, in the same namespace. It can't be changed."),
    type: z
      .enum(["Full", "Differential", "Incremental"])
      .default("Full")
      .describe("All of it, what changed since the last full one, or what changed since the last one. It can't be changed."),
    deletionPolicy: z
      .enum(["Retain", "Delete"])
      .default("Retain")
      .describe(
        "Whether what lies in the repository goes with this object. With Retain neither retention nor deleting this object removes it.",
      ),
  }),
  {
    rule: "self.sampleDBName == oldSelf.sampleDBName",
    message: "sampleDBName can't be changed; make another Backup",
    fieldPath: ".sampleDBName",
  },
  { rule: "self.type == oldSelf.type", message: "type can't be changed; make another Backup", fieldPath: ".type" },
);

export const backupStatus = z.object({
  observedGeneration: z.int().min(0).optional().describe("The generation of the spec that this status is of."),
  conditions: conditions.optional().describe("Succeeded is True when the repository holds all that a restore needs."),
  startTime: time.optional().describe("When its Job was made."),
  progress: z
    .object({
      percent: z.int().min(0).max(100).describe("How much of the data is copied."),
      copiedBytes: z.int().min(0).optional().describe("Bytes of the database that were read so far."),
      totalBytes: z.int().min(0).optional().describe("Bytes of the database that are to be read."),
    })
    .optional()
    .describe("How far it is, in steps of at least 5 percent."),
  completionTime: time.optional().describe("When it ended."),
  durationSeconds: z.int().min(0).optional().describe("How long all of it took, with waiting for its Pod and with verification."),
  copySeconds: z.number().min(0).optional().describe("How long copying took."),
  copiedBytes: z.int().min(0).optional().describe("Bytes of the database that were read for it: all of them in a full backup."),
  bytesPerSecond: z.int().min(0).optional().describe("How fast they were read."),
  sourcePodName: z.string().max(253).optional().describe("The instance whose data was copied."),
  databaseBytes: z.int().min(0).optional().describe("The size of the database, in bytes."),
  repositoryBytes: z.int().min(0).optional().describe("What it takes in the repository by itself, in bytes."),
  consistentTime: time.optional().describe("When copying ended: it can be restored to this moment and later ones."),
  label: z.string().max(64).optional().describe("Its name in the repository, as pgBackRest prints it."),
  timeline: z.int().min(1).optional().describe("The timeline it ended on."),
  startLSN: lsn.optional().describe("Where it began in the write-ahead log."),
  stopLSN: lsn.optional().describe("Where it ended: it can be restored to this place and later ones."),
  firstWAL: z.string().max(24).optional().describe("The first segment that a restore needs."),
  lastWAL: z.string().max(24).optional().describe("The last segment that a restore needs at least."),
  systemIdentifier: uint64.optional().describe("The database's own identity, which clones share. A string: it has 64 bits."),
  postgresVersion: z.string().max(32).optional().describe("The full version of PostgreSQL."),
  repository: z
    .object({
      stanza: z.string().max(128).describe("The folder in the repository."),
      volumeClaimName: z.string().max(253).optional().describe("The claim of its volume."),
      s3: z
        .object({
          endpoint: z.string().max(512).describe("The store."),
          bucket: z.string().max(63).describe("The bucket."),
          prefix: z.string().max(256).optional().describe("The folder."),
        })
        .optional()
        .describe("Its place in S3."),
    })
    .optional()
    .describe("Where it lies."),
  verification: z
    .object({
      time: time.describe("When it was checked."),
      walComplete: z.boolean().describe("Whether every segment that a restore needs is there."),
      checksumsGood: z.boolean().describe("Whether every page that was copied, and every file in the repository, has a good checksum."),
      seconds: z.number().min(0).optional().describe("How long it took."),
    })
    .optional()
    .describe("How it was checked."),
  sampleDBSpec: z.looseObject({}).optional().describe("The SampleDB's spec at that moment, to make it again from."),
});

export type BackupSpec = z.output<typeof backupSpec>;
export type BackupStatus = z.output<typeof backupStatus>;
