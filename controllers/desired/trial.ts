// The trial: before an instance that serves gets an image or settings, PostgreSQL starts with them in a Pod of its own.
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
/** Also the name of its container. */
const component = "trial";

/** All that a trial can find out about. */
export function trialSubject(db: Pick<SampleDB, "spec">, image: string) {
  return { image, parameters: parameters(db), hba: hostBasedAuthentication(db), resources: db.spec.resources, ...strictPlace(db) };
}

/** All that can keep a Pod from finding a node. */
function strictPlace({ spec }: Pick<SampleDB, "spec">) {
  const { nodeSelector, tolerations, priorityClassName, imagePullSecrets } = spec;
  const { nodeAffinity, podAffinity } = spec.affinity ?? {};
  const spread = spec.topologySpreadConstraints?.filter(isStrict) ?? [];
  const near = { nodeAffinity, podAffinity, ...(spread.length > 0 ? { spread } : {}) };
  return { nodeSelector, ...near, tolerations, priorityClassName, imagePullSecrets };
}

/** The others are wishes, and keep no Pod from running. */
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
  const { podAntiAffinity: _, ...near } = affinity ?? {}; // away from instances means the instances themselves, not this Pod
  const spread = topologySpreadConstraints.filter(isStrict);
  return job(db, db, {
    ...{ name, component, annotations: { [trialAnnotation]: digest, ...(asked ? {} : { [ownTrialAnnotation]: "true" }) } },
    backoffLimit: 2, // a node that restarts is no fault of the settings
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

/** As a quoted value of postgresql.conf. */
function quoted(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("'", "''");
}

function strings(values: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/** An instance gives up what it has before it takes what it is to have: together they need the difference. */
function beyond(asked: Resources, running: Resources): Record<string, string> {
  const [requests, before] = [{ cpu: "1m", memory: "1Mi", ...requested(asked) }, requested(running)];
  const divisible = Object.entries(requests).filter(([name]) => !name.startsWith("hugepages-")); // those request what their limit is
  return Object.fromEntries(
    divisible.map(([name, value]) => {
      const [wanted, had] = [parseQuantity(value) ?? 0n, parseQuantity(before[name] ?? "0") ?? 0n];
      return [name, `${wanted > had ? wanted - had : 0n}n`];
    }),
  );
}

/** As Kubernetes has it: what has a limit alone requests as much. */
function requested(resources: Resources): Record<string, string | number> {
  return { ...resources?.limits, ...resources?.requests };
}
