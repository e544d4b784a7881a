// Conditions: what each kind says of itself, with reasons from closed lists.
import * as z from "zod";
import { listMap, time } from "./fields.ts";

/** As metav1.Condition. */
export const condition = z.object({
  type: z
    .string()
    .min(1)
    .max(316)
    .regex(/^[A-Za-z][A-Za-z0-9]*$/)
    .describe("What is told, in CamelCase."),
  status: z.enum(["True", "False", "Unknown"]).describe("Whether it is so."),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z][A-Za-z0-9]*$/)
    .describe("Why, in one CamelCase word from a closed list."),
  message: z.string().max(32_768).describe("Why, for people, with what can be done about it."),
  lastTransitionTime: time.describe("Since when the status is what it is."),
  observedGeneration: z.int().min(0).optional().describe("The generation of the spec that this was told of."),
});

export type Condition = z.infer<typeof condition>;

/** A list of conditions, one of each type. */
export const conditions = listMap(z.array(condition).max(32), "type");

export const conditionTypes = {
  /** SampleDB: it takes connections, writes and reads, with all that the spec asks for. */
  ready: "Ready",
  /** SampleDB: a primary answers SQL and the read-write Service leads to it. */
  primaryAvailable: "PrimaryAvailable",
  /** SampleDB: what `spec.bootstrap` asks for is in the database. */
  initialized: "Initialized",
  /** SampleDB: every instance runs as the spec asks. */
  upToDate: "UpToDate",
  /** SampleDB: whether this version acts on `spec.backup`. */
  backupConfigured: "BackupConfigured",
  /** Backup and Restore: whether it is over, and how it ended. */
  succeeded: "Succeeded",
} as const;

export const reasons = {
  /** All instances answer, as the spec asks. */
  allInstancesReady: "AllInstancesReady",
  /** The spec can't be acted on: the webhook was off when it was written. */
  invalidSpec: "InvalidSpec",
  /** An object of a name that is needed belongs to someone else. */
  nameTaken: "NameTaken",
  /** The first instance has not answered yet. */
  provisioning: "Provisioning",
  primaryAvailable: "PrimaryAvailable",
  /** Nobody takes writes. */
  noPrimary: "NoPrimary",
  instancesNotReady: "InstancesNotReady",
  /** All instances answer, and none of them would be let lead if the primary were lost now. */
  noFailoverCandidate: "NoFailoverCandidate",
  /** All instances answer, and not every replica would be let lead yet. */
  replicasBehind: "ReplicasBehind",
  /** The number of instances is being changed. */
  scaling: "Scaling",
  /** Volumes are growing. */
  resizing: "Resizing",
  hibernating: "Hibernating",
  hibernated: "Hibernated",
  deleting: "Deleting",
  paused: "Paused",
  initializing: "Initializing",
  initialized: "Initialized",
  initializationFailed: "InitializationFailed",
  /** A ConfigMap, a Secret or a key that bootstrap.scripts names is not there. */
  scriptMissing: "ScriptMissing",
  upToDate: "UpToDate",
  /** A change is tried out in a Pod of its own before any instance gets it. */
  changeOnTrial: "ChangeOnTrial",
  /** PostgreSQL did not start with it, or its Pod did not: the instances go on as they were. */
  changeRefused: "ChangeRefused",
  rollingOut: "RollingOut",
  /** A newer operator would make the Pods differently: it waits for a restart that someone asks for. */
  restartPending: "RestartPending",
  /** An event: the SampleDB went, and its data stayed. */
  retained: "Retained",
  /** An event in the operator's namespace: the namespace of a SampleDB is deleted, and its volumes stay. */
  namespaceDeleted: "NamespaceDeleted",
  /** The operator could not do its work; the message says what stood in the way. */
  reconcileFailed: "ReconcileFailed",
  /** The spec asks for what this version of the operator does not do yet. */
  notSupported: "NotSupportedByThisVersion",
} as const;
