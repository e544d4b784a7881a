// Certificates and passwords. Certificates come first, because the application's Secret has the authorities in it.
import { rotateAnnotation, unprovenAnnotation } from "../../../api/annotations.ts";
import { reasons } from "../../../api/reasons.ts";
import { doneUntil } from "../../../runtime/controller/steps.ts";
import { identityOf } from "../../desired/identity.ts";
import { namesOf } from "../../desired/names.ts";
import type { SampleDBStep } from "../scope.ts";

/** Often enough to renew certificates in time. */
const lookAgainSeconds = 6 * 3600;
const lookSoonSeconds = 60;

export const credentials: SampleDBStep = async ({ db, client, deps, observed, findings }) => {
  const database = identityOf(db);
  if (observed.instances.some(({ problem }) => problem?.reason === "CreateContainerConfigError")) {
    // The kubelet does not find a Secret that the operator remembers: it was deleted.
    deps.authority.forget(database);
    deps.passwords.forget(db);
  }
  const trusted = observed.instances.map(({ uid }) => deps.inspections.of(uid)?.authorities ?? "");
  const serving = await deps.authority.ensure(database, client, trusted);
  const { authorities } = serving;
  const { unproven, passwordWaits } = await deps.passwords.ensure(db, client, { authorities, hasData: observed.initialized });
  findings.serving = serving;
  findings.passwordWaits = passwordWaits;
  findings.confirmed.add("credentials");
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
