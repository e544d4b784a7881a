// Asks the repository and the primary how the archive is, in the background, and tells what is wrong.
import { conditionTypes } from "../../../api/conditions.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { backupsOf, isGood } from "../../database/backups.ts";
import { identityOf } from "../../desired/identity.ts";
import { isArchived } from "../../desired/store.ts";
import { conditionOf } from "../../telling/events.ts";
import type { SampleDBStep } from "../scope.ts";
import { allArchive } from "./archive-mode.ts";
import { archiveHealth } from "./health.ts";
import { hindranceOf } from "./hindrance.ts";
import { presentArchive } from "./new-archive.ts";

/** Nothing of this can be watched. A fault is told within minutes, and the end of one soon. */
const lookAgainSeconds = 60;
const lookSoonSeconds = 10;
/** An answer takes some milliseconds, and five seconds at most. */
const answerSeconds = 2;

export const archiving: SampleDBStep = async (scope) => {
  const { db, deps, observed, findings } = scope;
  if (!isArchived(db)) return done;
  const told = [conditionTypes.repositoryReachable, conditionTypes.archivingHealthy].map((type) => conditionOf(db.status, type));
  const before = deps.reports.of(identityOf(db));
  const isSilent = [before.repository, before.primary].some((report) => report?.silence !== undefined);
  const seconds = isSilent ? lookSoonSeconds : secondsUntilLook(told);
  const reports = deps.reports.look(identityOf(db), deps.archiveQuestions(db, observed), seconds);
  const archive = presentArchive(scope);
  findings.archive = archiveHealth({
    db,
    reports,
    hindrance: hindranceOf(observed.repository),
    switchedOn: allArchive(observed),
    archive,
    backedUp: backupsOf(deps.cache, scope.key).some((backup) => isGood(backup) && backup.status?.repository?.stanza === archive?.stanza),
    now: deps.now(),
  });
  findings.blockers.push(...findings.archive.blockers);
  const { repository, archiving } = findings.archive;
  if (deps.reports.isAsking(identityOf(db))) return doneUntil(answerSeconds);
  return doneUntil(isSilent ? lookSoonSeconds : secondsUntilLook([repository, archiving]));
};

function secondsUntilLook(verdicts: readonly ({ readonly status: string } | undefined)[]): number {
  return verdicts.every((verdict) => verdict?.status === "True") ? lookAgainSeconds : lookSoonSeconds;
}
