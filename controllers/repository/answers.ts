// The answers of the repository's Pod and of an instance about the archive. Both are input: whoever holds such a Pod can answer anything.
import * as z from "zod";

const time = z.iso.datetime({ offset: true });
const words = z.string().max(4000);
const bytes = z.number().min(0).max(Number.MAX_SAFE_INTEGER);

/** Why the repository can't be used, as its program tells it. */
export const faults = [
  "CredentialsMissing",
  "StoreDenied",
  "BucketMissing",
  "WrongRegion",
  "StoreUntrusted",
  "StoreUnreachable",
  "RepositoryFull",
  "WrongPassphrase",
  "ArchiveConflict",
  "StoreFailed",
] as const;

export type Fault = (typeof faults)[number];

const fault = z.enum(faults).catch("StoreFailed"); // a newer image may know more

const probe = z.object({
  at: time,
  ok: z.boolean(),
  reason: fault.optional(),
  step: words.optional(),
  message: words.optional(),
  seconds: z.number().min(0).optional(),
});

const segmentName = z.string().regex(/^[0-9A-F]{24}$/);
const count = z.int().min(0);
const backup = z.object({ label: z.string().max(64), at: time });

/** What can be restored from the archive, as the program found it when it looked last. */
const recoveryWindow = z.object({
  /** Undefined before the first look that succeeded. */
  at: time.optional(),
  /** The newest moment in the archive can be restored. False without a good backup. */
  complete: z.boolean().default(false),
  /** The newest timeline in the archive. */
  timeline: count.optional(),
  /** Good backups that lead to it. */
  backupCount: count.default(0),
  /** The oldest backup that leads anywhere. */
  oldest: backup.optional(),
  /** The oldest backup from which every moment up to `last` can be restored. */
  first: backup.optional(),
  /** The last segment that can be reached. */
  last: z.object({ name: segmentName, at: time }).optional(),
  /** The last ten of them; `before` is when the last segment before it was closed. */
  gaps: z
    .array(z.object({ first: segmentName, last: segmentName, count, before: time.optional() }))
    .max(10)
    .default([]),
  gapCount: count.default(0),
  /** Why the last look failed. */
  failure: z.object({ reason: fault, message: words, at: time }).optional(),
});

const space = z.object({ sizeBytes: bytes, availableBytes: bytes });

const repositoryAnswer = z.object({
  stanza: words,
  probe: probe.optional(),
  archive: z
    .object({
      last: z.object({ name: words, at: time }).optional(),
      failure: z.object({ name: words, reason: fault, message: words, at: time }).optional(),
    })
    .optional(),
  /** An older image does not tell it. */
  window: recoveryWindow.optional().catch(undefined),
  space: space.optional(),
});

/** A file of the write-ahead log. Such names grow with the log. */
const fileName = z.string().regex(/^[0-9A-F]{8}(\.history|[0-9A-F]{16}(\.partial|\.[0-9A-F]{8}\.backup)?)$/);

const instanceAnswer = z.object({
  waiting: z.int().min(0),
  /** The greatest name among those that wait. An older image does not tell it. */
  newest: fileName.nullish().catch(undefined),
  oldestSeconds: z.number().min(0),
  failure: z.object({ since: time, segment: words, message: words }).nullish(),
  sizeBytes: bytes,
  availableBytes: bytes,
});

export type RepositoryAnswer = z.output<typeof repositoryAnswer>;
export type RecoveryWindow = z.output<typeof recoveryWindow>;
export type InstanceAnswer = z.output<typeof instanceAnswer>;

/** Throws where the text is no such answer. */
export function parseRepositoryAnswer(text: string): RepositoryAnswer {
  return repositoryAnswer.parse(JSON.parse(text));
}

export function parseInstanceAnswer(text: string): InstanceAnswer {
  return instanceAnswer.parse(JSON.parse(text));
}
