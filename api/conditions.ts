// Conditions: what each kind says of itself. Their reasons are a closed list, in reasons.ts.
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
  /** SampleDB with `spec.backup`: a file can be written to the repository, read and deleted. */
  repositoryReachable: "RepositoryReachable",
  /** SampleDB with `spec.backup`: the write-ahead log reaches the repository. */
  archivingHealthy: "ArchivingHealthy",
  /** SampleDB with `spec.backup`: no segment is missing between the oldest good backup and now. */
  walComplete: "WALComplete",
  /** Backup and Restore: whether it is over, and how it ended. */
  succeeded: "Succeeded",
  /** Backup: whether retention removes it, with what lies in the repository. */
  expiring: "Expiring",
} as const;
