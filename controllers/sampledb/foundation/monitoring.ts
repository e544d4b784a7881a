// Has the Prometheus operator scrape the instances, where there is one.
import { doneUntil } from "../../../runtime/controller/steps.ts";
import type { SampleDBStep } from "../scope.ts";

/** The kind may come one day, and nothing tells of it. */
const lookAgainSeconds = 3600;
const tryAgainSeconds = 600;

export const monitoring: SampleDBStep = async ({ db, client, deps, log }) => {
  try {
    await deps.monitors.ensure(db, client);
    return doneUntil(lookAgainSeconds);
  } catch (error) {
    // A database that nobody looks at is as ready as any.
    log.warn({ error: error as Error }, "the PodMonitor could not be written; it is tried again");
    return doneUntil(tryAgainSeconds);
  }
};
