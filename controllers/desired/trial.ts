// The trial: a Job that starts PostgreSQL with a new image, settings, resources and placement, before any instance gets them.
import { ownTrialAnnotation, trialAnnotation } from "../../api/annotations.ts";
import { parseQuantity } from "../../kubernetes/quantity.ts";
import type { ConfigMap, Job } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { hostBasedAuthentication, parameters, tlsDirectory } from "./configuration.ts";
import { owned } from "./identity.ts";
import { placement } from "./instances.ts";
import { job, jobTolerations } from "./job.ts";
import { namesOf } from "./names.ts";

type Resources = SampleDB["spec"]["resources"];

/** The change that a trial covers. */
export interface Tried {
  readonly digest: string;
  readonly image: string;
  /** The user asked for it; otherwise a newer operator made it by itself. */
  readonly asked: boolean;
  /** The instances' resources now. Only the difference to them must be free beside the instances. */
  readonly running: Resources;
}

const directory = "/etc/sampledb/trial";
/** Also the name of its container. */
const component = "trial";

/** Everything that a trial covers. */
export function trialSubject(db: Pick<SampleDB, "spec">, image: string) {
  return { image, parameters: parameters(db), hba: hostBasedAuthentication(db), resources: db.spec.resources, ...strictPlace(db) };
}

/** The fields that can keep a Pod from finding a node. */
function strictPlace({ spec }: Pick<SampleDB, "spec">) {
  const { nodeSelector, tolerations, priorityClassName, imagePullSecrets } = spec;
  const { nodeAffinity, podAffinity } = spec.affinity ?? {};
  const spread = spec.topologySpreadConstraints?.filter(isStrict) ?? [];
  const near = { nodeAffinity, podAffinity, ...(spread.length > 0 ? { spread } : {}) };
  return { nodeSelector, ...near, tolerations, priorityClassName, imagePullSecrets };
}

/** Other constraints are preferences, and keep no Pod from running. */
function isStrict({ whenUnsatisfiable }: { readonly whenUnsatisfiable: string }): boolean {
  return whenUnsatisfiable === "DoNotSchedule";
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
  const { topologySpreadConstraints = [], affinity, ...where } = placement(db);
  const { podAntiAffinity: _, ...near } = affinity ?? {}; // it keeps instances away from each other, and this Pod is none
  const spread = topologySpreadConstraints.filter(isStrict);
  return job(db, db, {
    ...{ name, component, annotations: { [trialAnnotation]: digest, ...(asked ? {} : { [ownTrialAnnotation]: "true" }) } },
    backoffLimit: 2, // a restart of a node is no fault of the settings
    placement: {
      ...where,
      tolerations: jobTolerations(db),
      ...(affinity ? { affinity: near } : {}),
      ...(spread.length > 0 ? { topologySpreadConstraints: spread } : {}),
    },
    container: {
      image,
      args: ["try-settings", String(db.spec.postgresVersion), directory],
      resources: {
        ...(db.spec.resources?.limits ? { limits: strings(db.spec.resources.limits) } : {}),
        requests: beyond(db.spec.resources, running),
      },
      volumeMounts: [
        { name: "settings", mountPath: directory, readOnly: true },
        { name: "tls", mountPath: tlsDirectory, readOnly: true },
        { name: "tmp", mountPath: "/tmp" },
      ],
    },
    volumes: [
      { name: "settings", configMap: { name } },
      { name: "tls", secret: { secretName: certificateSecret, defaultMode: 0o640 } },
      { name: "tmp", emptyDir: {} },
    ],
  });
}

/** Escapes a value for single quotes in postgresql.conf. */
function quoted(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("'", "''");
}

function strings(values: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/** The difference in requests: an instance gives up its old resources before it takes the new ones, so no more has to be free. */
function beyond(asked: Resources, running: Resources): Record<string, string> {
  const [requests, before] = [{ cpu: "1m", memory: "1Mi", ...requested(asked) }, requested(running)];
  const divisible = Object.entries(requests).filter(([name]) => !name.startsWith("hugepages-")); // their request must equal their limit
  return Object.fromEntries(
    divisible.map(([name, value]) => {
      const [wanted, had] = [parseQuantity(value) ?? 0n, parseQuantity(before[name] ?? "0") ?? 0n];
      return [name, `${wanted > had ? wanted - had : 0n}n`];
    }),
  );
}

/** By Kubernetes' rule: a resource with a limit alone is requested as much. */
function requested(resources: Resources): Record<string, string | number> {
  return { ...resources?.limits, ...resources?.requests };
}
