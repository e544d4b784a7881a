// Sets whether volumes outlive their claims: they do, unless `deletionPolicy` is Delete. It is set ahead of time, because a namespace
// that is deleted takes the claims along without asking the operator.
import { deletionPolicyOf } from "../../../api/deletion-policy.ts";
import { done } from "../../../runtime/controller/steps.ts";
import type { SampleDBStep } from "../scope.ts";

export const retention: SampleDBStep = async ({ db, observed, client, deps }) => {
  const fate = deletionPolicyOf(db.spec) === "Delete" ? "release" : "keep";
  const { claim: repository } = observed.repository;
  for (const claim of [...observed.claims.values(), ...(repository ? [repository] : [])]) await deps.volumes.ensure(client, claim, fate);
  return done;
};
