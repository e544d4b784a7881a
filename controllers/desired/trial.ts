// The trial: before an instance that serves gets an image or settings, PostgreSQL starts with them in a Pod of its own.
import { parseQuantity } from "../../kubernetes/quantity.ts";
import type { ConfigMap, Job } from "../kinds.ts";
import type { SampleDB } from "../resources.ts";
import { hostBasedAuthentication, parameters, tlsDirectory } from "./configuration.ts";
import { labelsOf, owned } from "./identity.ts";
import { containerSecurity, placement, podSecurity } from "./instances.ts";
import { disrupted, gracePeriodSeconds, jobTolerations } from "./job-pods.ts";
import { namesOf } from "./names.ts";

type Resources = SampleDB["spec"]["resources"];

/** On Job and ConfigMap: what is tried. */
export const trialAnnotation = "sampledb.io/trial";

/** On a Job that nobody has asked for. */
export const ownTrialAnnotation = "sampledb.io/trial-for-operator";

/** What is tried. */
export interface Tried {
  readonly digest: string;
  readonly image: string;
  /** Somebody has asked for it. */
  readonly asked: boolean;
  /** What the instances have of resources now: only what is asked beyond it must be free beside them. */
  readonly running: Resources;
}

const directory = "/etc/sampledb/trial";

/** All that a trial can find out about. */
export function trialSubject(db: Pick<SampleDB, "spec">, image: string) {
  return { image, parameters: parameters(db), hba: hostBasedAuthentication(db), resources: db.spec.resources, ...where(db) };
}

/** The same in the user's words. Where they are the same and the subject is not, a newer operator makes it differently. */
export function trialAsked(db: Pick<SampleDB, "spec">) {
  const { image, postgresVersion, postgresql, resources } = db.spec;
  return { image, postgresVersion, postgresql, resources, ...where(db) };
}

function where({ spec }: Pick<SampleDB, "spec">) {
  const { nodeSelector, affinity, tolerations, priorityClassName, imagePullSecrets } = spec;
  return { nodeSelector, nodeAffinity: affinity?.nodeAffinity, tolerations, priorityClassName, imagePullSecrets };
}

export function trialSettings(db: SampleDB, digest: string): ConfigMap {
  const lines = Object.entries(parameters(db)).map(([name, value]) => `${name} = '${quoted(String(value))}'`);
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...owned(db, namesOf(db).trialJob), annotations: { [trialAnnotation]: digest } },
    data: { "postgresql.conf": `${lines.join("\n")}\n`, "pg_hba.conf": `${hostBasedAuthentication(db).join("\n")}\n` },
  };
}

export function trialJob(db: SampleDB, { digest, image, asked, running }: Tried): Job {
  const { trialJob: name, certificateSecret } = namesOf(db);
  const { topologySpreadConstraints: _, affinity, ...where } = placement(db);
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { ...owned(db, name), annotations: { [trialAnnotation]: digest, ...(asked ? {} : { [ownTrialAnnotation]: "true" }) } },
    spec: {
      backoffLimit: 0, // what PostgreSQL refuses once it refuses again
      podFailurePolicy: { rules: [disrupted] },
      template: {
        metadata: { labels: { ...labelsOf(db), "sampledb.io/component": "trial" } },
        spec: {
          ...where,
          tolerations: jobTolerations(db),
          // Away from instances means the instances themselves, not this Pod.
          ...(affinity?.nodeAffinity ? { affinity: { nodeAffinity: affinity.nodeAffinity } } : {}),
          ...podSecurity,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          restartPolicy: "Never",
          terminationGracePeriodSeconds: gracePeriodSeconds,
          containers: [
            {
              name: "trial",
              image,
              args: ["try-settings", String(db.spec.postgresVersion), directory],
              resources: {
                ...(db.spec.resources?.limits ? { limits: strings(db.spec.resources.limits) } : {}),
                requests: beyond(db.spec.resources, running),
              },
              securityContext: containerSecurity,
              volumeMounts: [
                { name: "settings", mountPath: directory, readOnly: true },
                { name: "tls", mountPath: tlsDirectory, readOnly: true },
                { name: "tmp", mountPath: "/tmp" },
              ],
            },
          ],
          volumes: [
            { name: "settings", configMap: { name } },
            { name: "tls", secret: { secretName: certificateSecret, defaultMode: 0o640 } },
            { name: "tmp", emptyDir: {} },
          ],
        },
      },
    },
  };
}

/** As a quoted value of postgresql.conf. */
function quoted(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("'", "''");
}

function strings(values: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/** An instance gives up what it has before it takes what it is to have: together they need the difference. */
function beyond(asked: Resources, running: Resources): Record<string, string> {
  const requests = { cpu: "1m", memory: "1Mi", ...asked?.requests };
  return Object.fromEntries(
    Object.entries(requests).map(([name, value]) => {
      const [wanted, had] = [parseQuantity(value) ?? 0n, parseQuantity(running?.requests?.[name] ?? "0") ?? 0n];
      return [name, `${wanted > had ? wanted - had : 0n}n`];
    }),
  );
}
