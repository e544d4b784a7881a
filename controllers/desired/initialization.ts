// The init Job: it makes the application's role and database, the extensions, and runs the scripts, once.
import { initializationAnnotation } from "../../api/annotations.ts";
import type { Job } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { passwordOf } from "./credentials.ts";
import { namesOf } from "./names.ts";
import { primaryJob } from "./primary-job.ts";

export type Script = NonNullable<SampleDB["spec"]["bootstrap"]["scripts"]>[number];

export function scriptSource({ configMapKeyRef, secretKeyRef }: Script) {
  const { name = "", key = "" } = configMapKeyRef ?? secretKeyRef ?? {};
  return { kind: configMapKeyRef ? ("ConfigMap" as const) : ("Secret" as const), name, key };
}

export function initJob(db: SampleDB, digest: string, image: string): Job {
  const names = namesOf(db);
  const { databaseName, ownerName, extensions = [], scripts = [] } = db.spec.bootstrap;
  const files = scripts.map((script, index) => ({ script, file: `${String(index).padStart(2, "0")}.sql` }));
  const sources = files.map(({ script, file }) => projection(script, file));
  return primaryJob(db, {
    ...{ name: names.initJob, component: "init", image, args: ["initialize-database"] },
    annotations: { [initializationAnnotation]: digest },
    env: [
      { name: "DATABASE_NAME", value: databaseName },
      { name: "OWNER_NAME", value: ownerName },
      { name: "OWNER_PASSWORD", valueFrom: passwordOf(names.applicationSecret) },
      { name: "EXTENSIONS", value: extensions.join(" ") },
      { name: "SCRIPTS", value: files.map(({ script, file }) => `${file} ${described(script)}`).join("\n") },
    ],
    ...(files.length > 0
      ? {
          volumeMounts: [{ name: "scripts", mountPath: "/scripts", readOnly: true }],
          volumes: [{ name: "scripts", projected: { sources } }],
        }
      : {}),
  });
}

function described(script: Script): string {
  const { kind, name, key } = scriptSource(script);
  return `${kind.toLowerCase()} ${name}/${key}`;
}

function projection(script: Script, path: string) {
  const { kind, name, key } = scriptSource(script);
  const source = { name, items: [{ key, path }] };
  return kind === "ConfigMap" ? { configMap: source } : { secret: source };
}
