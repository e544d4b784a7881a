// Restore: one restore, into a new SampleDB or in place. It ends with Succeeded true or false; the user makes another object to repeat it.
import * as z from "zod";
import { conditions } from "./conditions.ts";
import { labels, lsn, objectName, sampleDBName, size, time, timeWithZone, uint64 } from "./fields.ts";
import { affinity, resources, tolerations } from "./pod-fields.ts";
import { s3 } from "./repository.ts";
import { exactlyOne, type Rule, spelled, withRules } from "./rules.ts";

const repositorySource = withRules(
  z.object({
    volumeClaimName: objectName.optional().describe("The claim of the repository's volume, in the same namespace."),
    s3: s3.optional().describe("The repository's place in S3."),
    stanza: spelled(
      z.string().min(1).max(128),
      /^[-_a-zA-Z0-9]+$/,
      "must be the name of a folder in the repository: letters, digits, - and _ in it",
    ).describe("The folder in the repository, as a Backup's status.repository.stanza told it."),
    encryptionSecretName: objectName.optional().describe("The Secret whose key `passphrase` the repository was encrypted with."),
    sampleDBSpec: z
      .enum(["FromRepository", "FromOverrides"])
      .default("FromRepository")
      .describe(
        "What the new SampleDB is made from: the spec that was stored with the backup, with `destination.overrides`; or the overrides alone, which then need `storage.size`.",
      ),
  }),
  exactlyOne(["volumeClaimName", "s3"], "source.repository"),
);

const source = withRules(
  z.object({
    backupName: objectName.optional().describe("A Backup, in the same namespace."),
    sampleDBName: sampleDBName.optional().describe("A SampleDB, in the same namespace: its newest good backup before the target is used."),
    repository: repositorySource.optional().describe("A repository, when no object of it is left in the cluster."),
  }),
  exactlyOne(["backupName", "sampleDBName", "repository"], "source"),
);

/** A field that belongs to one type: required with that type and refused with any other. */
function belongsTo(type: string, field: string): Rule {
  return {
    rule: `(self.type == '${type}') == has(self.${field})`,
    message: `target.${field} goes with target.type: ${type}, and with no other`,
    fieldPath: `.${field}`,
  };
}

const target = withRules(
  z.object({
    type: z
      .enum(["Latest", "Time", "LSN", "TransactionID", "RestorePoint", "Immediate"])
      .default("Latest")
      .describe("How far: to the end of the archive, to a point in it, or only until the backup is consistent (`Immediate`)."),
    time: timeWithZone
      .optional()
      .describe("With type Time: the last moment that is restored, with its zone, such as `2026-11-16T03:00:00Z`."),
    lsn: lsn.optional().describe("With type LSN: the last place in the write-ahead log that is restored."),
    transactionID: uint64.optional().describe("With type TransactionID: the last transaction that is restored. A string: it has 64 bits."),
    restorePoint: spelled(z.string().min(1).max(63), /^[^\r\n]+$/, "must be the name of a restore point, on one line")
      .optional()
      .describe("With type RestorePoint: the name that was given to pg_create_restore_point."),
    timeline: z.int().min(1).max(4_294_967_295).optional().describe("The timeline to follow; the newest one when empty."),
  }),
  belongsTo("Time", "time"),
  belongsTo("LSN", "lsn"),
  belongsTo("TransactionID", "transactionID"),
  belongsTo("RestorePoint", "restorePoint"),
);

const overrides = z.object({
  replicas: z.int().min(1).max(9).optional().describe("How many instances; as in the backup when empty."),
  storage: z
    .object({
      size: size.optional().describe("The size of each data volume; as in the backup when empty. It must hold the data."),
      storageClassName: objectName.optional().describe("The StorageClass of the data volumes; as in the backup when empty."),
    })
    .optional()
    .describe("The data volume of each instance."),
  resources: resources.optional().describe("CPU and memory of each instance."),
  nodeSelector: labels.optional().describe("Labels that a node must have."),
  affinity: affinity.optional().describe("Where instances may and should run, as in a Pod."),
  tolerations: tolerations.optional().describe("Taints of nodes that instances put up with, as in a Pod."),
});

const destination = withRules(
  z.object({
    type: z.enum(["New", "InPlace"]).describe("`New` makes a SampleDB; `InPlace` replaces the data of one that is there."),
    sampleDBName: sampleDBName.describe("The SampleDB that is made, or whose data is replaced."),
    overrides: overrides.optional().describe("With type New: what the new SampleDB has otherwise than the one in the backup."),
  }),
  {
    rule: "self.type == 'New' || !has(self.overrides)",
    message: "destination.overrides goes with destination.type: New; edit the SampleDB itself for InPlace",
    fieldPath: ".overrides",
  },
);

export const restoreSpec = withRules(
  z.object({
    source: source.describe("What is restored from."),
    target: target.default({ type: "Latest" }).describe("How far it is restored."),
    destination: destination.describe("Where it is restored to."),
  }),
  { rule: "self == oldSelf", message: "a Restore can't be changed; make another one" },
);

export const restoreStatus = z.object({
  observedGeneration: z.int().min(0).optional().describe("The generation of the spec that this status is of."),
  conditions: conditions.optional().describe("Succeeded is True when the restored database serves."),
  startTime: time.optional().describe("When it began."),
  completionTime: time.optional().describe("When it ended."),
  progressPercent: z.int().min(0).max(100).optional().describe("How much of the data is copied, in steps of at least 5 percent."),
  safetyBackupName: z
    .string()
    .max(253)
    .optional()
    .describe("With destination.type InPlace: the Backup of everything from before. A Restore in place from it undoes this one."),
  overwriteTime: time
    .optional()
    .describe(
      "With destination.type InPlace: from this moment on a volume may be overwritten. Until then deleting the Restore takes everything back.",
    ),
  dataUntouched: z.boolean().optional().describe("Of a restore in place that has failed: whether the database has the data from before."),
  firstBackupName: z.string().max(253).optional().describe("The Backup of the restored database, made at once."),
  backupLabel: z.string().max(64).optional().describe("The backup that was used, as pgBackRest names it."),
  recoveredToTime: time.optional().describe("The time of the last transaction that was restored."),
  recoveredToLSN: lsn.optional().describe("The last place in the write-ahead log that was restored."),
  timeline: z.int().min(1).optional().describe("The timeline that the restored database is on."),
  systemIdentifier: uint64.optional().describe("The database's own identity, which it shares with its source. A string: it has 64 bits."),
  sampleDBSpec: z
    .looseObject({})
    .optional()
    .describe("With source.repository: the spec that was found there with the backup, or what stands in for a missing one."),
  note: z.string().max(1024).optional().describe("Where the target was taken in another sense than its words: which, and why."),
});

export type RestoreSpec = z.output<typeof restoreSpec>;
export type RestoreStatus = z.output<typeof restoreStatus>;
