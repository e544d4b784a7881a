// Volumes outlive their claims unless the user has said that data may go: a namespace that is deleted takes claims along without asking,
// and then it is too late to say either.
import { done } from "../../../runtime/controller/steps.ts";
import type { SampleDBStep } from "../scope.ts";

export const retention: SampleDBStep = async ({ db, observed, client, deps }) => {
  for (const claim of observed.claims.values()) {
    if (db.spec.deletionPolicy === "Delete") await deps.volumes.release(client, claim);
    else await deps.volumes.keep(client, claim);
  }
  return done;
};
