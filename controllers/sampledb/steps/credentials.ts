// Passwords and certificates: before the Pods that mount them.
import { doneUntil } from "../../../runtime/controller/steps.ts";
import type { SampleDBStep } from "../scope.ts";

/** Often enough to renew in time. */
const lookAgainSeconds = 6 * 3600;

export const credentials: SampleDBStep = async ({ db, client, deps, observed, findings }) => {
  if (observed.instances.some(({ problem }) => problem?.reason === "CreateContainerConfigError")) deps.credentials.forget(db); // one is gone
  const trusted = observed.instances.map(({ uid }) => deps.inspections.of(uid)?.authorities ?? "");
  findings.serving = await deps.credentials.ensure(db, client, trusted);
  return doneUntil(lookAgainSeconds);
};
