// Whether the repository can be used, and whether the write-ahead log reaches it. Pure functions of what was observed and answered.
import { conditionTypes } from "../../../api/conditions.ts";
import { reasons } from "../../../api/reasons.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import type { Fault, InstanceAnswer } from "../../repository/answers.ts";
import type { ArchiveReports } from "../../repository/reports.ts";
import type { Blocker } from "../../telling/blockers.ts";
import { no, type Verdict } from "../../telling/checks.ts";
import { conditionOf } from "../../telling/events.ts";
import { describePod, type Hindrance } from "./hindrance.ts";

export interface ArchiveInputs {
  readonly db: Pick<SampleDB, "spec" | "status">;
  readonly reports: ArchiveReports;
  /** What keeps the repository's Pod from working. */
  readonly hindrance: Hindrance | undefined;
  /** Every instance runs with archive_mode on. */
  readonly switchedOn: boolean;
  readonly now: Date;
}

export interface ArchiveHealth {
  readonly repository: Verdict;
  readonly archiving: Verdict;
  readonly blockers: readonly Blocker[];
}

/** A repository that moves to another node is silent for less. */
const silenceSeconds = 90;
/** PostgreSQL waits for up to a minute between two tries, and a store may be away for a moment. */
const failingSeconds = 300;
/** Below this part of the primary's volume a person has to act at once. */
const littleRoom = 0.2;
const segmentBytes = 16 * 1024 * 1024;

export function archiveHealth(inputs: ArchiveInputs): ArchiveHealth {
  const repository = repositoryVerdict(inputs);
  const archiving = archivingVerdict(inputs, repository);
  const blockers = [repositoryBlocker(repository, inputs), archivingBlocker(archiving)];
  return { repository, archiving, blockers: blockers.flatMap((found) => found ?? []) };
}

function repositoryVerdict({ db, reports: { repository }, hindrance, now }: ArchiveInputs): Verdict {
  const before = conditionOf(db.status, conditionTypes.repositoryReachable);
  const silentSeconds = secondsSince(repository?.silentSince, now);
  if (hindrance && !hindrance.mayPass && (!repository || repository.silence !== undefined))
    return no(reasons.repositorySilent, hindrance.message);
  if (repository?.silence !== undefined && silentSeconds >= silenceSeconds)
    return no(reasons.repositorySilent, hindrance?.message ?? `the repository does not answer: ${repository.silence}`);
  const probe = repository?.answer?.probe;
  if (!probe) {
    // After a restart of the operator nobody has been asked yet: what was told before is the best that is known.
    if (before && before.reason !== reasons.repositoryStarting) return before as Verdict;
    return { status: "Unknown", reason: reasons.repositoryStarting, message: "the repository's Pod has not answered yet" };
  }
  if (probe.ok)
    return { status: "True", reason: reasons.repositoryReachable, message: "a file can be written to the repository, read and deleted" };
  const { reason = "StoreFailed", step = "probe", message = "no reason was given" } = probe;
  return no(conditionReasonOf[reason], `${step}: ${namingSecrets(message, db)}`);
}

/** The repository's Pod knows its files by their folders. The user knows them as keys of Secrets. */
function namingSecrets(message: string, { spec: { backup } }: Pick<SampleDB, "spec">): string {
  const s3 = backup?.repository?.s3;
  const secrets = { store: s3?.credentialsSecretName, "store-ca": s3?.caSecretName, encryption: backup?.encryptionSecretName };
  return Object.entries(secrets).reduce(
    (told, [folder, secret]) => (secret === undefined ? told : told.replaceAll(`${folder}/`, `Secret ${secret}, key `)),
    message,
  );
}

const conditionReasonOf = {
  CredentialsMissing: reasons.credentialsMissing,
  StoreDenied: reasons.storeDenied,
  BucketMissing: reasons.bucketMissing,
  WrongRegion: reasons.wrongRegion,
  StoreUntrusted: reasons.storeUntrusted,
  StoreUnreachable: reasons.storeUnreachable,
  RepositoryFull: reasons.repositoryFull,
  WrongPassphrase: reasons.wrongPassphrase,
  ArchiveConflict: reasons.archiveConflict,
  StoreFailed: reasons.storeFailed,
} as const satisfies Record<Fault, string>;

function archivingVerdict({ db, reports: { primary, repository: asked }, switchedOn, now }: ArchiveInputs, repository: Verdict): Verdict {
  const before = conditionOf(db.status, conditionTypes.archivingHealthy);
  if (!switchedOn)
    return { status: "Unknown", reason: reasons.archivingStarts, message: "the instances have yet to restart with archiving" };
  if (primary === undefined && before && before.reason !== reasons.archivingStarts) return before as Verdict; // nobody was asked yet
  // An answer from before a failover is another instance's.
  if (primary?.answer === undefined || secondsSince(primary.silentSince, now) >= silenceSeconds)
    return { status: "Unknown", reason: reasons.archivingUnknown, message: "the primary does not say what waits to be archived" };
  const refused = asked?.answer?.archive?.failure;
  if (refused?.reason === "ArchiveConflict") return no(reasons.archiveConflict, `${refused.name}: ${refused.message}`);
  const { answer } = primary;
  const failing = secondsSince(answer.failure && new Date(answer.failure.since), now);
  const words = answer.failure?.message ?? repository.message;
  if (failing > 0 && answer.availableBytes < answer.sizeBytes * littleRoom)
    return no(reasons.archiveFillsDisk, `${backlog(answer, failing)}. ${words}`);
  if (failing >= failingSeconds) return no(reasons.archivingFails, `for ${minutes(failing)}: ${backlog(answer, failing)}. ${words}`);
  if (answer.oldestSeconds >= failingSeconds)
    return no(
      reasons.archivingFails,
      `the oldest segment waits for ${minutes(answer.oldestSeconds)}: ${backlog(answer, answer.oldestSeconds)}`,
    );
  return { status: "True", reason: reasons.archiving, message: "segments of the write-ahead log reach the repository" };
}

/** Rounded, so that the status is not written at every look. */
function backlog({ waiting, availableBytes, sizeBytes }: InstanceAnswer, seconds: number): string {
  const percent = sizeBytes === 0 ? 0 : Math.round((20 * availableBytes) / sizeBytes) * 5;
  const hours = (availableBytes * seconds) / (Math.max(waiting, 1) * segmentBytes) / 3600;
  const left = hours >= 100 ? "more than four days" : hours >= 2 ? `about ${rounded(hours)} hours` : "less than two hours";
  return `about ${rounded(waiting)} segments wait, ${percent} % of the primary's volume is free, and lasts for ${left} at this rate`;
}

/** To one digit: 1, 2, 30, 400. */
function rounded(value: number): number {
  const scale = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(value, 1))));
  return Math.round(value / scale) * scale;
}

function minutes(seconds: number): string {
  return seconds < 7200 ? `${Math.floor(seconds / 300) * 5} minutes` : `${Math.floor(seconds / 3600)} hours`;
}

function secondsSince(since: Date | null | undefined, now: Date): number {
  return since ? (now.getTime() - since.getTime()) / 1000 : 0;
}

/** The faults that last until a person acts. A store that is away for a moment is none of them. */
function repositoryBlocker({ status, reason, message }: Verdict, { hindrance }: ArchiveInputs): Blocker | undefined {
  if (status !== "False") return undefined;
  switch (reason) {
    case reasons.repositorySilent:
      return { reason, message, remedy: hindrance?.remedy ?? describePod };
    case reasons.credentialsMissing:
      return { reason, message, remedy: "make the Secret that spec.backup names, with the key that the message names" };
    case reasons.storeDenied:
      return { reason, message, remedy: "correct the keys in the Secret, or the policy of the bucket (docs/backups.md)" };
    case reasons.bucketMissing:
      return { reason, message, remedy: "make the bucket, or correct its name: remove spec.backup and set it up anew" };
    case reasons.wrongRegion:
      return { reason, message, remedy: "correct spec.backup.repository.s3.region" };
    case reasons.storeUntrusted:
      return { reason, message, remedy: "name a Secret with the store's authority in spec.backup.repository.s3.caSecretName" };
    case reasons.repositoryFull:
      return { reason, message, remedy: "let spec.backup.repository.volume.size grow, or make room in the store" };
    case reasons.wrongPassphrase:
      return { reason, message, remedy: "put the former passphrase back into the Secret; or remove spec.backup and set it up anew" };
    default:
      return undefined;
  }
}

function archivingBlocker({ status, reason, message }: Verdict): Blocker | undefined {
  if (status !== "False") return undefined;
  if (reason === reasons.archiveFillsDisk) return { reason, message, remedy: "let spec.storage.size grow now, then mend the repository" };
  if (reason === reasons.archiveConflict)
    return { reason, message, remedy: "remove spec.backup and set it up anew: a new archive begins, and the former one stays" };
  if (reason === reasons.archivingFails)
    return {
      reason,
      message,
      remedy: "mend the repository (condition RepositoryReachable); if that takes long, let spec.storage.size grow",
    };
  return undefined;
}
