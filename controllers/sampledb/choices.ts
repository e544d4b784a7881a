// What follows from the spec and has to be the same wherever it is asked.
import { digest } from "../../runtime/controller/settled.ts";
import { trialSubject } from "../desired/trial.ts";
import type { SampleDB } from "../resources.ts";
import { type Dependencies, type Observed, restartWord } from "./scope.ts";

export function imageOf({ spec }: SampleDB, { images }: Pick<Dependencies, "images">): string {
  const image = spec.image ?? images[spec.postgresVersion];
  if (image === undefined) throw new Error(`this operator has no image for PostgreSQL ${spec.postgresVersion}: set spec.image`);
  return image;
}

/** Of what a trial has to prove. */
export function trialDigest(db: SampleDB, deps: Pick<Dependencies, "images">): string {
  return digest(trialSubject(db, imageOf(db, deps)));
}

/** Of what the user asks of the Pods. What the operator's own version adds is not in it: an upgrade of it restarts nothing. */
export function askedDigest(db: SampleDB, observed: Observed): string {
  const { resources, nodeSelector, affinity, tolerations, topologySpreadConstraints, priorityClassName, imagePullSecrets, podMetadata } =
    db.spec;
  const where = { nodeSelector, affinity, tolerations, topologySpreadConstraints, priorityClassName, imagePullSecrets };
  return digest({
    image: db.spec.image,
    major: db.spec.postgresVersion,
    resources,
    ...where,
    podMetadata,
    restart: restartWord(db, observed),
  });
}
