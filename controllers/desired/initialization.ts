// The init Job: the application's role and database, extensions and scripts, once.
import type { Job } from "../kinds.ts";
import type { SampleDB } from "../resources.ts";
import { tlsDirectory } from "./configuration.ts";
import { labelsOf, owned } from "./identity.ts";
import { containerSecurity, disrupted, placement, podSecurity } from "./instances.ts";
import { namesOf } from "./names.ts";
import { postgresPort } from "./services.ts";

/** On the Job: what it was made from, so that a script that was mended is noticed. */
export const initializationAnnotation = "sampledb.io/initialization";

/** What initialize-database ends with when PostgreSQL refused something: trying again can't help. */
const refusedExitCode = 3;

export type Script = NonNullable<SampleDB["spec"]["bootstrap"]["scripts"]>[number];

export function scriptSource({ configMapKeyRef, secretKeyRef }: Script) {
  const { name = "", key = "" } = configMapKeyRef ?? secretKeyRef ?? {};
  return { kind: configMapKeyRef ? ("ConfigMap" as const) : ("Secret" as const), name, key };
}

export function initJob(db: SampleDB, digest: string, image: string): Job {
  const names = namesOf(db);
  const { databaseName, ownerName, extensions = [], scripts = [] } = db.spec.bootstrap;
  const files = scripts.map((script, index) => ({ script, file: `${String(index).padStart(2, "0")}.sql` }));
  const password = (name: string) => ({ secretKeyRef: { name, key: "password" } });
  const { nodeSelector, tolerations, imagePullSecrets } = placement(db);
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { ...owned(db, names.initJob), annotations: { [initializationAnnotation]: digest } },
    spec: {
      backoffLimit: 20, // a failover in its middle is no fault of the script's
      podFailurePolicy: {
        rules: [disrupted, { action: "FailJob", onExitCodes: { containerName: "init", operator: "In", values: [refusedExitCode] } }],
      },
      template: {
        metadata: { labels: { ...labelsOf(db), "sampledb.io/component": "init" } },
        spec: {
          ...(nodeSelector ? { nodeSelector } : {}),
          ...(tolerations ? { tolerations } : {}),
          ...(imagePullSecrets ? { imagePullSecrets } : {}),
          ...podSecurity,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          restartPolicy: "Never",
          terminationGracePeriodSeconds: 5, // a script that is cut short is begun anew
          containers: [
            {
              name: "init",
              image,
              args: ["initialize-database"],
              env: [
                { name: "PGHOST", value: `${names.readWriteService}.${db.metadata.namespace}.svc` },
                { name: "PGPORT", value: String(postgresPort) },
                { name: "PGSSLMODE", value: "verify-full" },
                { name: "PGSSLROOTCERT", value: `${tlsDirectory}/ca.crt` },
                { name: "SUPERUSER_PASSWORD", valueFrom: password(names.superuserSecret) },
                { name: "DATABASE_NAME", value: databaseName },
                { name: "OWNER_NAME", value: ownerName },
                { name: "OWNER_PASSWORD", valueFrom: password(names.applicationSecret) },
                { name: "EXTENSIONS", value: extensions.join(" ") },
                { name: "SCRIPTS", value: files.map(({ script, file }) => `${file} ${described(script)}`).join("\n") },
              ],
              resources: { requests: { cpu: "10m", memory: "32Mi" } },
              securityContext: containerSecurity,
              volumeMounts: [
                { name: "tls", mountPath: tlsDirectory, readOnly: true },
                { name: "tmp", mountPath: "/tmp" },
                ...(files.length > 0 ? [{ name: "scripts", mountPath: "/scripts", readOnly: true }] : []),
              ],
            },
          ],
          volumes: [
            {
              name: "tls",
              secret: { secretName: names.certificateSecret, defaultMode: 0o640, items: [{ key: "ca.crt", path: "ca.crt" }] },
            },
            { name: "tmp", emptyDir: {} },
            ...(files.length > 0
              ? [{ name: "scripts", projected: { sources: files.map(({ script, file }) => projection(script, file)) } }]
              : []),
          ],
        },
      },
    },
  };
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
