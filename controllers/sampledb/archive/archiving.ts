// Asks the repository and the primary how the archive is, in the background, and tells what is wrong.
import { conditionTypes } from "../../../api/conditions.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { identityOf } from "../../desired/identity.ts";
import { isArchived } from "../../desired/repository.ts";
import { conditionOf } from "../../telling/events.ts";
import type { SampleDBStep } from "../scope.ts";
import { allArchive } from "./archive-mode.ts";
import { archiveHealth } from "./health.ts";
import { hindranceOf } from "./hindrance.ts";

/** Nothing of this can be watched. A fault is told within minutes, and the end of one soon. */
const lookAgainSeconds = 60;
const lookSoonSeconds = 10;

export const archiving: SampleDBStep = async ({ db, deps, observed, findings }) => {
  if (!isArchived(db)) return done;
  const isWell = [conditionTypes.repositoryReachable, conditionTypes.archivingHealthy].every(
    (type) => conditionOf(db.status, type)?.status === "True",
  );
  const seconds = isWell ? lookAgainSeconds : lookSoonSeconds;
  const reports = deps.reports.look(identityOf(db), deps.archiveQuestions(db, observed), seconds);
  findings.archive = archiveHealth({
    db,
    reports,
    hindrance: hindranceOf(observed.repository),
    switchedOn: allArchive(observed),
    now: deps.now(),
  });
  findings.blockers.push(...findings.archive.blockers);
  return doneUntil(seconds);
};
