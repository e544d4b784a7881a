// The last words of a Restore's Job. They are input: whoever holds the Pod can say anything.
import * as z from "zod";
import { lsn, uint64 } from "../../api/fields.ts";
import { reasons } from "../../api/reasons.ts";
import { jsonOf, storeFailures } from "../repository/run-failures.ts";

const succeeded = z.object({
  outcome: z.literal("succeeded"),
  label: z.string().max(64),
  reachedTime: z.iso.datetime({ offset: true }).optional(),
  reachedLSN: lsn,
  timeline: z.int().min(1).max(4_294_967_295),
  systemIdentifier: uint64,
  note: z.string().max(1024).optional(),
});

/** Of the Job that looks into the repository. `spec` is packed; with `specBytes` there is one that was too long to be told. */
const looked = z.object({
  outcome: z.literal("succeeded"),
  label: z.string().max(64),
  spec: z.string().max(4096).optional(),
  specBytes: z.int().min(0).optional(),
});

const failures = {
  ...storeFailures,
  RepositoryFileBad: reasons.repositoryFileBad,
  TargetOutsideWindow: reasons.targetOutsideWindow,
  TargetAcrossGap: reasons.targetAcrossGap,
  TargetNotFound: reasons.targetNotFound,
  BackupMissing: reasons.backupMissing,
  VolumeTooSmall: reasons.volumeTooSmall,
  ArchiveCutShort: reasons.archiveCutShort,
  DataForeign: reasons.destinationTaken,
  RecoveryFailed: reasons.recoveryFailed,
  Interrupted: reasons.restoreLost,
} as const;

const failed = z.object({
  outcome: z.literal("failed"),
  reason: z.enum(Object.keys(failures) as [keyof typeof failures]).catch("RecoveryFailed"), // a newer image may know more
  message: z.string().max(4000),
  untouched: z.boolean().optional(),
});

export type RestoreSuccess = z.output<typeof succeeded>;
interface Failure {
  readonly outcome: "failed";
  readonly reason: (typeof failures)[keyof typeof failures];
  readonly message: string;
  /** In place: the volume is as it was. */
  readonly untouched?: boolean | undefined;
}
export type RestoreEnd = RestoreSuccess | Failure;
export type LookEnd = z.output<typeof looked> | Failure;

/** Undefined where the text is no such message: the program was killed before it could say anything. */
export function parseRestoreEnd(text: string | undefined): RestoreEnd | undefined {
  return parse(succeeded, text);
}

export function parseLookEnd(text: string | undefined): LookEnd | undefined {
  return parse(looked, text);
}

function parse<T extends typeof succeeded | typeof looked>(success: T, text: string | undefined): z.output<T> | Failure | undefined {
  const parsed = z.discriminatedUnion("outcome", [success, failed]).safeParse(jsonOf(text ?? ""));
  if (!parsed.success) return undefined;
  return parsed.data.outcome === "failed" ? { ...parsed.data, reason: failures[parsed.data.reason] } : parsed.data;
}
