// The PodMonitor of the SampleDB, where the cluster has the Prometheus operator.
import { doneUntil } from "../../../runtime/controller/steps.ts";
import type { SampleDBStep } from "../scope.ts";

/** Someone may install the Prometheus operator later, and no watch reports that. */
const lookAgainSeconds = 3600;
const tryAgainSeconds = 600;

export const monitoring: SampleDBStep = async ({ db, client, deps, log }) => {
  try {
    await deps.monitors.ensure(db, client);
    return doneUntil(lookAgainSeconds);
  } catch (error) {
    // Only logged: a database without monitoring serves as well as any, so Ready must not depend on it.
    log.warn({ error: error as Error }, "the PodMonitor could not be written; it is tried again");
    return doneUntil(tryAgainSeconds);
  }
};
