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
export type InstanceAnswer = z.output<typeof instanceAnswer>;

/** Throws where the text is no such answer. */
export function parseRepositoryAnswer(text: string): RepositoryAnswer {
  return repositoryAnswer.parse(JSON.parse(text));
}

export function parseInstanceAnswer(text: string): InstanceAnswer {
  return instanceAnswer.parse(JSON.parse(text));
}
