// Passwords and certificates: before the Pods that mount them.
import { rotateAnnotation, unprovenAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { doneUntil } from "../../../runtime/controller/steps.ts";
import { namesOf } from "../../desired/names.ts";
import type { SampleDBStep } from "../scope.ts";

/** Often enough to renew in time. */
const lookAgainSeconds = 6 * 3600;
const lookSoonSeconds = 60;

export const credentials: SampleDBStep = async ({ db, client, deps, observed, findings }) => {
  if (observed.instances.some(({ problem }) => problem?.reason === reasons.createContainerConfigError)) deps.credentials.forget(db); // one is gone
  const trusted = observed.instances.map(({ uid }) => deps.inspections.of(uid)?.authorities ?? "");
  const { serving, unproven, passwordWaits } = await deps.credentials.ensure(db, client, { trusted, hasData: observed.initialized });
  findings.serving = serving;
  findings.passwordWaits = passwordWaits;
  for (const name of unproven) {
    const byOrder = `kubectl annotate sampledb ${db.metadata.name} ${rotateAnnotation}=app`;
    const byHand = `ALTER ROLE … PASSWORD with the one in the Secret, as postgres in the primary's Pod; then kubectl annotate secret ${name} ${unprovenAnnotation}-`;
    findings.blockers.push({
      reason: reasons.passwordLost,
      message: `Secret ${name} was gone and has been made anew: PostgreSQL still has the old password of its role`,
      remedy: name === namesOf(db).applicationSecret ? byOrder : byHand,
    });
  }
  return doneUntil(unproven.length > 0 ? lookSoonSeconds : lookAgainSeconds);
};
