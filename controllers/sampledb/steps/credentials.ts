// Passwords and certificates: before the Pods that mount them.
import { doneUntil } from "../../../runtime/controller/steps.ts";
import type { SampleDBStep } from "../scope.ts";

/** Often enough to renew in time. */
const lookAgainSeconds = 6 * 3600;

export const credentials: SampleDBStep = async ({ db, client, deps, findings }) => {
  findings.certificateExpires = await deps.credentials.ensure(db, client);
  return doneUntil(lookAgainSeconds);
};
