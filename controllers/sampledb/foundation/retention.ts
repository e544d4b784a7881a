// Volumes outlive their claims unless the user has said that data may go: a namespace that is deleted takes claims along without asking,
// and then it is too late to say either.
import { done } from "../../../runtime/controller/steps.ts";
import type { SampleDBStep } from "../scope.ts";

export const retention: SampleDBStep = async ({ db, observed, client, deps }) => {
  const fate = db.spec.deletionPolicy === "Delete" ? "release" : "keep";
  for (const claim of observed.claims.values()) await deps.volumes.ensure(client, claim, fate);
  return done;
};
