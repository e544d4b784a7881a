// The values of the chart: their schema, and their defaults as config/ has them.
import { stringify } from "yaml";
import * as z from "zod";

/** What config/ and images/ say. */
export interface Defaults {
  readonly image: string;
  /** Of that image; empty where it has a tag alone. */
  readonly digest: string;
  readonly postgresImages: Readonly<Record<string, string>>;
  readonly replicas: number;
  readonly resources: object;
  readonly tolerations: readonly object[];
  readonly topologySpreadConstraints: readonly object[];
  readonly prometheusAccount: { readonly name: string; readonly namespace: string };
}

const image = z.string().regex(/^[a-z0-9][\w.:/@-]*$/);
const namespaceName = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
const labels = z.record(z.string(), z.string());
/** A part of a Pod, which the API server knows better. */
const ofKubernetes = z.looseObject({});

const enabled = (on: boolean, text: string) => z.boolean().default(on).describe(text);

export function valuesSchema(defaults: Defaults) {
  const majors = Object.entries(defaults.postgresImages).map(([major, reference]) => [major, image.default(reference)] as const);
  const { replicas, resources, tolerations, topologySpreadConstraints, prometheusAccount } = defaults;
  return z.strictObject({
    image: z
      .strictObject({
        repository: image.default(defaults.image).describe("With the registry, without tag and digest."),
        tag: z
          .string()
          .regex(/^[\w.-]*$/)
          .default("")
          .describe("The chart's appVersion if left out."),
        digest: z
          .string()
          .regex(/^(sha256:[0-9a-f]{64})?$/)
          .default(defaults.digest)
          .describe("sha256:…, in place of a tag."),
      })
      .describe("The operator's image."),
    postgresImages: z.strictObject(Object.fromEntries(majors)).describe("The image of databases, whole, for each major of PostgreSQL."),
    replicas: z.int().min(0).max(9).default(replicas).describe("Operators at a time: one works, the others wait with their caches filled."),
    watchNamespaces: z
      .array(namespaceName)
      .default([])
      .describe(
        "Namespaces to look after, with a Role in each and no ClusterRole, without webhooks and metrics. All namespaces if left out.",
      ),
    crds: z
      .strictObject({ enabled: enabled(true, "False where an administrator has installed them.") })
      .describe("The kinds SampleDB, Backup and Restore. They stay after an uninstall, and every database with them."),
    policies: z
      .strictObject({ enabled: enabled(true, "False where an administrator has installed them.") })
      .describe("What keeps protected databases from being deleted, with or without the operator. They stay after an uninstall."),
    webhooks: z
      .strictObject({ enabled: enabled(true, "False: mistakes are told in a condition, and not in the answer to kubectl apply.") })
      .describe("What refuses mistakes that the kinds' schemas can't see."),
    metrics: z
      .strictObject({
        serviceMonitor: z
          .strictObject({
            enabled: enabled(false, "Needs the kinds of the Prometheus operator."),
            labels: labels.default({}).describe("By which Prometheus finds it, such as release: prometheus."),
            account: z
              .strictObject({
                name: z.string().min(1).default(prometheusAccount.name),
                namespace: namespaceName.default(prometheusAccount.namespace),
              })
              .describe("The account of Prometheus, which gets the right to read."),
          })
          .describe("Has Prometheus read the operator's metrics."),
      })
      .describe("The operator's own metrics."),
    podMonitorLabels: labels.default({}).describe("Labels of the PodMonitors that the operator makes for databases."),
    networkPolicy: z
      .strictObject({ enabled: enabled(false, "Lets others reach the ports of the operator's Pods that it serves, and no others.") })
      .describe("A NetworkPolicy for the operator's Pods."),
    resources: ofKubernetes.default(resources as Record<string, unknown>).describe("Of the operator's container."),
    scheduling: z
      .strictObject({
        nodeSelector: labels.default({}),
        tolerations: z.array(ofKubernetes).default(tolerations as Record<string, unknown>[]),
        topologySpreadConstraints: z.array(ofKubernetes).default(topologySpreadConstraints as Record<string, unknown>[]),
        affinity: ofKubernetes.default({}),
        priorityClassName: z.string().default(""),
      })
      .describe("Where the operator's Pods run."),
    imagePullSecrets: z
      .array(z.strictObject({ name: z.string().min(1) }))
      .default([])
      .describe("For the operator's image."),
    extraArgs: z
      .array(z.string().regex(/^--[a-z]/))
      .default([])
      .describe("More flags of the operator, such as --log-level=debug."),
    extraEnv: z
      .array(z.looseObject({ name: z.string().min(1) }))
      .default([])
      .describe("More variables of the operator's container."),
    global: ofKubernetes.optional().describe("Unused; Helm sets it in charts that contain this one."),
  });
}

type Schema = ReturnType<typeof valuesSchema>;

/** As Helm 3 and 4 read it: an unknown or mistyped value is refused before anything is written. */
export function valuesJsonSchema(schema: Schema): object {
  return z.toJSONSchema(schema, { target: "draft-7", io: "input" });
}

/** values.yaml: every value with its default, and what it is for. */
export function valuesText(schema: z.ZodObject, indentation = ""): string {
  const parts = Object.entries(schema.shape).flatMap(([name, part]) => {
    const { description } = part as z.ZodType;
    const comment = description ? `${indentation}# ${description}\n` : "";
    if (part instanceof z.ZodObject) return [`${comment}${indentation}${stringify(name).trim()}:\n${valuesText(part, `${indentation}  `)}`];
    if (part instanceof z.ZodOptional) return [];
    const text = stringify({ [name]: (part as z.ZodType).parse(undefined) }, { lineWidth: 0 }).trimEnd();
    return [`${comment}${text.replace(/^/gm, indentation)}\n`];
  });
  return parts.join(indentation === "" ? "\n" : "");
}
