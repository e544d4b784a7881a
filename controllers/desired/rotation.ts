// A new password for the application's role: the Secret that holds it until PostgreSQL knows it, and the Job that tells PostgreSQL.
import { nextPasswordAnnotation } from "../../api/annotations.ts";
import type { Job, Secret } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { passwordOf, secretOf } from "./credentials.ts";
import { kept } from "./identity.ts";
import { namesOf } from "./names.ts";
import { primaryJob } from "./primary-job.ts";

/**
 * Written down before anybody uses it: a password that PostgreSQL has and nobody else knows would lock everybody out. So it outlives the
 * SampleDB, as the data does.
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
