// Asks the repository and the primary how the archive is, in the background, and tells what is wrong.
import { conditionTypes } from "../../../api/conditions.ts";
import { reasons } from "../../../api/reasons.ts";
import { done, doneUntil } from "../../../runtime/controller/steps.ts";
import { type Problem, problemOf } from "../../database/instance.ts";
import { identityOf } from "../../desired/identity.ts";
import { isArchived } from "../../desired/repository.ts";
import type { Deployment } from "../../kinds/kubernetes.ts";
import { conditionOf } from "../../telling/events.ts";
import type { SampleDBStep } from "../scope.ts";
import { allArchive } from "./archive-mode.ts";
import { archiveHealth } from "./health.ts";
import { presentArchive } from "./new-archive.ts";

/** Nothing of this can be watched. A fault is told within minutes, and the end of one soon. */
const lookAgainSeconds = 60;
const lookSoonSeconds = 10;

export const archiving: SampleDBStep = async (scope) => {
  const { db, deps, observed, findings } = scope;
  if (!isArchived(db)) return done;
  const { pod, deployment } = observed.repository;
  const isWell = [conditionTypes.repositoryReachable, conditionTypes.archivingHealthy].every(
    (type) => conditionOf(db.status, type)?.status === "True",
  );
  const seconds = isWell ? lookAgainSeconds : lookSoonSeconds;
  const reports = deps.reports.look(identityOf(db), deps.archiveQuestions(db, observed), seconds);
  findings.archive = archiveHealth({
    db,
    reports,
    problem: pod ? problemOf(pod) : refusalOf(deployment),
    switchedOn: allArchive(observed),
    archive: presentArchive(scope),
    now: deps.now(),
  });
  findings.blockers.push(...findings.archive.blockers);
  return doneUntil(seconds);
};

/** Why Kubernetes can't make the Pod: a quota or an admission rule refuses it. */
export function refusalOf(deployment: Deployment | undefined): Problem | undefined {
  const refused = deployment?.status?.conditions?.find(({ type, status }) => type === "ReplicaFailure" && status === "True");
  return refused && { reason: reasons.podRefused, message: refused.message ?? "" };
}
