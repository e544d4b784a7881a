// Whether the repository can be used, and whether the write-ahead log reaches it. Pure functions of what was observed and answered.
import { conditionTypes } from "../../../api/conditions.ts";
import { reasons } from "../../../api/reasons.ts";
import type { Begun } from "../../desired/archive-notes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import type { Fault, InstanceAnswer, RecoveryWindow } from "../../repository/answers.ts";
import type { Report } from "../../repository/background-questions.ts";
import type { ArchiveReports } from "../../repository/reports.ts";
import { storeFailures } from "../../repository/run-failures.ts";
import type { Blocker } from "../../telling/blockers.ts";
import { no, type Verdict } from "../../telling/checks.ts";
import { conditionOf } from "../../telling/events.ts";
import { archivingBlocker, repositoryBlocker } from "./blockers.ts";
import type { Hindrance } from "./hindrance.ts";
import type { PresentArchive } from "./new-archive.ts";
import { walBlocker, walVerdict } from "./wal-complete.ts";

export interface ArchiveInputs {
  readonly db: Pick<SampleDB, "spec" | "status">;
  readonly reports: ArchiveReports;
  /** What keeps the repository's Pod from working. */
  readonly hindrance: Hindrance | undefined;
  /** Every instance runs with archive_mode on. */
  readonly switchedOn: boolean;
  /** The present archive; undefined before the repository is made. */
  readonly archive: Pick<PresentArchive, "stanza" | "notes"> | undefined;
  /** The present archive has a good backup. */
  readonly backedUp: boolean;
  readonly now: Date;
}

export interface ArchiveHealth {
  readonly repository: Verdict;
  readonly archiving: Verdict;
  readonly wal: Verdict;
  /** What can be restored from the present archive, as the repository found it last. */
  readonly window: RecoveryWindow | undefined;
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
  const archiving = withGap(archivingVerdict(inputs, repository), inputs.backedUp ? undefined : inputs.archive?.notes.begun);
  const window = windowOf(inputs);
  const wal = walVerdict(window, conditionOf(inputs.db.status, conditionTypes.walComplete));
  const blockers = [repositoryBlocker(repository, inputs.hindrance), archivingBlocker(archiving, inputs.archive?.stanza), walBlocker(wal)];
  return { repository, archiving, wal, window, blockers: blockers.flatMap((found) => found ?? []) };
}

/** A Pod that is about to go may still tell of the former archive. */
function windowOf({ reports: { repository }, archive }: ArchiveInputs): RecoveryWindow | undefined {
  const answer = repository?.answer;
  return answer !== undefined && answer.stanza === archive?.stanza ? answer.window : undefined;
}

function repositoryVerdict({ db, reports: { repository }, hindrance }: ArchiveInputs): Verdict {
  const before = conditionOf(db.status, conditionTypes.repositoryReachable);
  if (hindrance && !hindrance.mayPass && (!repository || repository.silence !== undefined))
    return no(reasons.repositorySilent, hindrance.message);
  if (repository?.silence !== undefined && silentSeconds(repository) >= silenceSeconds)
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

/** What can't be restored since an archive began anew, until there is a full backup in it. */
function withGap(verdict: Verdict, begun: Begun | undefined): Verdict {
  if (!begun || verdict.status === "Unknown" || verdict.message.includes(begun.former)) return verdict;
  const { former, at, lostSince } = begun;
  const [why, since] = {
    Dropped: [`archive ${former} was given up on a person's order`, lostSince ?? at],
    Conflict: [`archive ${former} has another content under the name of a segment`, at],
    Restored: ["the data was restored in place", at],
  }[begun.because];
  const gap = `A new archive began at ${at}, because ${why}: what was written since ${since} can't be restored until a full backup is made`;
  const reason = verdict.status === "True" ? reasons.fullBackupDue : verdict.reason;
  return { ...verdict, reason, message: `${verdict.message}. ${gap}` };
}

const conditionReasonOf = {
  ...storeFailures,
  ArchiveConflict: reasons.archiveConflict,
} as const satisfies Record<Fault, string>;

function archivingVerdict(inputs: ArchiveInputs, repository: Verdict): Verdict {
  const { db, reports, switchedOn, archive, now } = inputs;
  const { primary, repository: asked } = reports;
  const before = conditionOf(db.status, conditionTypes.archivingHealthy);
  if (!switchedOn)
    return { status: "Unknown", reason: reasons.archivingStarts, message: "the instances have yet to restart with archiving" };
  if (primary === undefined && before && before.reason !== reasons.archivingStarts) return before as Verdict; // nobody was asked yet
  // An answer from before a failover is another instance's.
  if (primary?.answer === undefined || silentSeconds(primary) >= silenceSeconds)
    return { status: "Unknown", reason: reasons.archivingUnknown, message: "the primary does not say what waits to be archived" };
  const refused = asked?.answer?.archive?.failure;
  // A conflict of the former archive is over: its successor has begun.
  if (refused?.reason === "ArchiveConflict" && asked?.answer?.stanza === archive?.stanza)
    return no(reasons.archiveConflict, `${refused.name}: ${refused.message}`);
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

/** Until the last question, and not until now: one that went unanswered some time ago says nothing of the time since. */
function silentSeconds({ silentSince, at }: Report<unknown>): number {
  return silentSince ? (at.getTime() - silentSince.getTime()) / 1000 : 0;
}

function secondsSince(since: Date | null | undefined, now: Date): number {
  return since ? (now.getTime() - since.getTime()) / 1000 : 0;
}
