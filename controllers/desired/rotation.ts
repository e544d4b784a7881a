// A new password for the application's role: the Secret that has it until PostgreSQL knows it, and the Job that sets it in PostgreSQL.
import { nextPasswordAnnotation } from "../../api/annotations.ts";
import type { Job, Secret } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { passwordOf, secretOf } from "./credentials.ts";
import { kept } from "./identity.ts";
import { namesOf } from "./names.ts";
import { primaryJob } from "./primary-job.ts";

/**
 * Stored before it is set: if the operator crashed after setting a password that it had not stored, no application could connect any more.
 * The Secret is kept, as the data is.
 */
export function nextPasswordSecret(db: SampleDB, password: string): Secret {
  return { ...secretOf(kept(db, namesOf(db).rotation), "Opaque", { password }), immutable: true };
}

export function rotationJob(db: SampleDB, next: Secret, image: string): Job {
  const { rotation: name } = namesOf(db);
  return primaryJob(db, {
    ...{ name, component: "rotation", image, args: ["initialize-database", "password"] },
    annotations: { [nextPasswordAnnotation]: next.metadata.uid ?? "" },
    env: [
      { name: "OWNER_NAME", value: db.spec.bootstrap.ownerName },
      { name: "OWNER_PASSWORD", valueFrom: passwordOf(name) },
    ],
  });
}
