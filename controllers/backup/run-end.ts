// The last words of a Job's program. They are input: whoever holds the Pod can say anything.
import * as z from "zod";
import { lsn, uint64 } from "../../api/fields.ts";
import { reasons } from "../../api/reasons.ts";
import { jsonOf, storeFailures } from "../repository/run-failures.ts";

const time = z.iso.datetime({ offset: true });
const bytes = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const segment = z.string().regex(/^[0-9A-F]{24}$/);
const seconds = z.number().min(0).max(1e9);

const succeeded = z.object({
  outcome: z.literal("succeeded"),
  label: z.string().regex(/^\d{8}-\d{6}F(_\d{8}-\d{6}[DI])?$/),
  type: z.enum(["full", "diff", "incr"]),
  source: z.string().max(253).optional(),
  startTime: time,
  stopTime: time,
  databaseBytes: bytes,
  copiedBytes: bytes,
  repositoryBytes: bytes,
  copySeconds: seconds.optional(),
  startLSN: lsn,
  stopLSN: lsn,
  firstWAL: segment,
  lastWAL: segment,
  timeline: z.int().min(1).max(4_294_967_295),
  systemIdentifier: uint64,
  postgresVersion: z.string().max(32),
  verification: z.object({ time, walComplete: z.literal(true), checksumsGood: z.literal(true), seconds: seconds.optional() }),
});

/** The reasons that the program may give, and what the condition says then. */
const failures = {
  ...storeFailures,
  InstanceUnreachable: reasons.instanceUnreachable,
  PageChecksumsBad: reasons.pageChecksumsBad,
  RepositoryFileBad: reasons.repositoryFileBad,
  WALIncomplete: reasons.segmentMissing,
  WALNotArchived: reasons.segmentNotArchived,
  BackupLost: reasons.backupInterrupted, // the program looked into the repository
  BackupRunning: reasons.backupRunning,
  BackupNeeded: reasons.artefactNeeded,
  BackupFailed: reasons.backupFailed,
} as const;

const failed = z.object({
  outcome: z.literal("failed"),
  reason: z.enum(Object.keys(failures) as [keyof typeof failures]).catch("BackupFailed"), // a newer image may know more
  message: z.string().max(4000),
});

/** Its Pod was deleted or drained. That says nothing of the backup, which may be whole. */
const interrupted = z.object({ outcome: z.literal("failed"), reason: z.literal("Interrupted") });

/** Of the task `expire`: the backup and those that built on it are gone from the repository. */
const expired = z.object({ outcome: z.literal("succeeded"), removed: z.int().min(0) });

export type RunSuccess = z.output<typeof succeeded>;
export type RunEnd =
  | RunSuccess
  | { readonly outcome: "expired" }
  | { readonly outcome: "failed"; readonly reason: (typeof failures)[keyof typeof failures]; readonly message: string };

/** Undefined where the text does not tell an end: the program was killed before it could say anything, or was told to end. */
export function parseRunEnd(text: string | undefined): RunEnd | undefined {
  const told = jsonOf(text ?? "");
  if (interrupted.safeParse(told).success) return undefined;
  if (expired.safeParse(told).success) return { outcome: "expired" };
  const parsed = z.discriminatedUnion("outcome", [succeeded, failed]).safeParse(told);
  if (!parsed.success) return undefined;
  return parsed.data.outcome === "failed" ? { ...parsed.data, reason: failures[parsed.data.reason] } : parsed.data;
}
