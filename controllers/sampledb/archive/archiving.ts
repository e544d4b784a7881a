// Asks the repository and the primary how the archive is, in the background, and tells what is wrong.
import { conditionTypes } from "../../../api/conditions.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { problemOf } from "../../database/instance.ts";
import { identityOf } from "../../desired/identity.ts";
import { isArchived } from "../../desired/repository.ts";
import { conditionOf } from "../../telling/events.ts";
import type { SampleDBStep, Scope } from "../scope.ts";
import { archiveHealth } from "./health.ts";

/** Nothing of this can be watched. A fault is told within minutes, and the end of one soon. */
const lookAgainSeconds = 60;
const lookSoonSeconds = 10;

export const archiving: SampleDBStep = async (scope) => {
  const { db, deps, observed, findings } = scope;
  if (!isArchived(db)) return done;
  const { pod } = observed.repository;
  const isWell = [conditionTypes.repositoryReachable, conditionTypes.archivingHealthy].every(
    (type) => conditionOf(db.status, type)?.status === "True",
  );
  const seconds = isWell ? lookAgainSeconds : lookSoonSeconds;
  const reports = deps.reports.look(identityOf(db), deps.archiveQuestions(db, observed), seconds);
  findings.archive = archiveHealth({
    db,
    reports,
    problem: pod && problemOf(pod),
    switchedOn: isSwitchedOn(scope),
    now: deps.now(),
  });
  findings.blockers.push(...findings.archive.blockers);
  return doneUntil(seconds);
};

function isSwitchedOn({ observed: { patroni, instances } }: Scope): boolean {
  const isOn = patroni.settings?.parameters?.["archive_mode"] === "on";
  return isOn && instances.every(({ pendingRestart }) => !pendingRestart?.some(({ name }) => name === "archive_mode"));
}
