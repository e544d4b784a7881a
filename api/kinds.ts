// The kinds of the API: their schemas, columns, names and rules.
import type * as z from "zod";
import { backupSpec, backupStatus } from "./backup.ts";
import { longestSampleDBName } from "./fields.ts";
import { labelNames } from "./labels.ts";
import { restoreSpec, restoreStatus } from "./restore.ts";
import type { Rule } from "./rules.ts";
import { majors, sampleDBSpec } from "./sampledb.ts";
import { sampleDBStatus } from "./sampledb-status.ts";

export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "date";
  readonly jsonPath: string;
  readonly description: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority?: 1;
}

export interface Kind {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
  readonly rules: readonly Rule[];
  readonly columns: readonly Column[];
  readonly selectableFields: readonly string[];
  readonly scalable: boolean;
  /** Kubernetes' kinds that the operator makes for it, which OLM lists. */
  readonly makes: readonly string[];
}

const age: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", description: "How long it has been there." };

function conditionColumn(name: string, type: string, field: "status" | "reason", description: string): Column {
  return { name, type: "string", jsonPath: `.status.conditions[?(@.type=="${type}")].${field}`, description };
}

/** Names of children are this name with a suffix; the longest suffix has 23 characters. */
const nameRule: Rule = {
  rule: `self.metadata.name.size() <= ${longestSampleDBName} && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')`,
  message: `metadata.name must have at most ${longestSampleDBName} characters, start with a letter, and have only a-z, 0-9 and - in it`,
};

/** In CEL: the full version that serves, as the operator told it last. */
const served = "oldSelf.status.postgresVersion";
const isTold = `has(oldSelf.status) && has(${served})`;

/**
 * A major that was raised may be taken back while the data is still of the old one. The rule is of the whole object, because the status
 * says which major that is. It reads the stored status, and not one that somebody sends along with a spec. There is a rule for each major:
 * the API server can't tell how long the text of a number gets, and refuses a message that is made of one as too costly.
 */
function loweredTo(major: number): Rule {
  const wayOut = `make a new SampleDB of PostgreSQL ${major} and move the data there with pg_dump, or restore a backup of ${major} into it`;
  const unknown = `status.postgresVersion does not say that the data is of ${major}`;
  return {
    rule: `self.spec.postgresVersion != ${major} || oldSelf.spec.postgresVersion <= ${major} || (${isTold} && ${served}.startsWith('${major}.'))`,
    message: `postgresVersion can't be lowered to ${major} where ${unknown}; ${wayOut}`,
    messageExpression: `"postgresVersion can't be lowered to ${major}: " + (${isTold} ? "the data is of PostgreSQL " + ${served} : "${unknown}") + "; ${wayOut}"`,
    fieldPath: ".spec.postgresVersion",
  };
}

export const kinds: readonly Kind[] = [
  {
    kind: "SampleDB",
    plural: "sampledbs",
    singular: "sampledb",
    shortNames: ["sdb"],
    description: "A PostgreSQL database with its replicas, its volumes and its backups.",
    spec: sampleDBSpec,
    status: sampleDBStatus,
    rules: [nameRule, ...majors.slice(0, -1).map(loweredTo)], // nothing is lowered to the newest
    columns: [
      { name: "Version", type: "integer", jsonPath: ".spec.postgresVersion", description: "The major version of PostgreSQL." },
      conditionColumn("Ready", "Ready", "status", "Whether it serves, with all that the spec asks for."),
      { name: "Replicas", type: "integer", jsonPath: ".status.readyReplicas", description: "How many instances answer SQL." },
      { name: "Primary", type: "string", jsonPath: ".status.primaryPodName", description: "The Pod of the primary." },
      conditionColumn("Status", "Ready", "reason", "Why it is ready or not."),
      { name: "Last Backup", type: "date", jsonPath: ".status.lastSuccessfulBackupTime", description: "When the last good Backup ended." },
      { name: "Storage", type: "string", jsonPath: ".spec.storage.size", description: "The size of each data volume.", priority: 1 },
      { name: "Power", type: "string", jsonPath: ".spec.powerState", description: "Running or Hibernated.", priority: 1 },
      age,
    ],
    selectableFields: [".spec.postgresVersion", ".spec.powerState", ".status.primaryPodName"],
    scalable: true,
    makes: [
      ...["ConfigMap", "Deployment", "EndpointSlice", "Job", "PersistentVolumeClaim", "Pod", "PodDisruptionBudget"],
      ...["Role", "RoleBinding", "Secret", "Service", "ServiceAccount", "StatefulSet"],
    ],
  },
  {
    kind: "Backup",
    plural: "backups",
    singular: "backup",
    shortNames: ["sdbbackup"],
    description: "One backup of a SampleDB. It outlives the SampleDB.",
    spec: backupSpec,
    status: backupStatus,
    rules: [],
    columns: [
      { name: "SampleDB", type: "string", jsonPath: ".spec.sampleDBName", description: "The SampleDB that is backed up." },
      { name: "Type", type: "string", jsonPath: ".spec.type", description: "Full, Differential or Incremental." },
      conditionColumn("Succeeded", "Succeeded", "status", "Whether the repository holds all that a restore needs."),
      conditionColumn("Status", "Succeeded", "reason", "How far it is, or why it failed."),
      {
        name: "Final",
        type: "string",
        jsonPath: ".metadata.labels.sampledb\\.io/final",
        description: "`true` for the last Backup of a SampleDB that was deleted: a Restore from it brings the SampleDB back.",
      },
      { name: "Percent", type: "integer", jsonPath: ".status.progress.percent", description: "How much of the data is copied." },
      { name: "Completed", type: "date", jsonPath: ".status.completionTime", description: "When it ended." },
      { name: "Bytes", type: "integer", jsonPath: ".status.repositoryBytes", description: "What it takes in the repository.", priority: 1 },
      { name: "Label", type: "string", jsonPath: ".status.label", description: "Its name in the repository.", priority: 1 },
      {
        name: "Schedule",
        type: "string",
        jsonPath: `.metadata.labels.${labelNames.schedule.replace(".", "\\.")}`,
        description: "The schedule that made it.",
        priority: 1,
      },
      age,
    ],
    selectableFields: [".spec.sampleDBName", ".spec.type"],
    scalable: false,
    makes: ["Job"],
  },
  {
    kind: "Restore",
    plural: "restores",
    singular: "restore",
    shortNames: ["sdbrestore"],
    description: "One restore, into a new SampleDB or in place.",
    spec: restoreSpec,
    status: restoreStatus,
    rules: [],
    columns: [
      { name: "Destination", type: "string", jsonPath: ".spec.destination.sampleDBName", description: "The SampleDB that is restored to." },
      { name: "Type", type: "string", jsonPath: ".spec.destination.type", description: "New or InPlace." },
      { name: "Target", type: "string", jsonPath: ".spec.target.type", description: "How far it is restored." },
      conditionColumn("Succeeded", "Succeeded", "status", "Whether the restored database serves."),
      conditionColumn("Status", "Succeeded", "reason", "How far it is, or why it failed."),
      { name: "Percent", type: "integer", jsonPath: ".status.progressPercent", description: "How much of the data is copied." },
      {
        name: "Reached",
        type: "date",
        jsonPath: ".status.recoveredToTime",
        description: "The last transaction that was restored.",
        priority: 1,
      },
      age,
    ],
    selectableFields: [".spec.destination.sampleDBName"],
    scalable: false,
    makes: ["ConfigMap", "Job", "PersistentVolumeClaim", "SampleDB", "Secret"],
  },
];
