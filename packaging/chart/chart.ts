// charts/sampledb-operator: every file of it, made of config/.
import { stringify } from "yaml";
import { identityOf, type Manifest, type ManifestFile, manifest } from "../config.ts";
import { watchedNamespace } from "../namespaced.ts";
import { helpers, notes } from "./checks.ts";
import { deploymentFields, metricsFlag, type Substitution, substitutions } from "./substitutions.ts";
import { type Everywhere, templateOf, value } from "./template.ts";
import { type Defaults, valuesJsonSchema, valuesSchema, valuesText } from "./values.ts";

export interface ChartSources {
  /** The files of config/default and config/prometheus. */
  readonly files: readonly ManifestFile[];
  readonly version: string;
  readonly leastKubernetes: string;
  /** The operator's image without its tag, its digest where there is one, and the image of each major. */
  readonly image: string;
  readonly digest: string;
  readonly postgresImages: Readonly<Record<string, string>>;
}

/** The part of the Deployment that becomes values. */
export interface OperatorDeployment extends Manifest {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly tolerations: readonly object[];
        readonly topologySpreadConstraints: readonly object[];
        readonly containers: readonly [
          {
            readonly args: readonly string[];
            readonly env: readonly { readonly name: string }[];
            readonly resources: object;
            readonly ports: readonly { readonly name: string }[];
          },
        ];
      };
    };
  };
}

const name = "sampledb-operator";
const notice = "# Made by make chart; changes here are lost.\n";

/** By path below the chart's folder. */
export function chartFiles(sources: ChartSources): Map<string, string> {
  const { files, version, leastKubernetes } = sources;
  const deployment = manifest(files, `Deployment/${name}`) as OperatorDeployment;
  const everywhere = { text: deployment.metadata.namespace ?? "", go: "$.Release.Namespace" };
  const schema = valuesSchema(defaultsOf(sources, deployment));
  const metadata = {
    apiVersion: "v2",
    name,
    description: "Runs PostgreSQL on Kubernetes",
    type: "application",
    version,
    appVersion: version,
    kubeVersion: `>=${leastKubernetes}-0`,
    keywords: ["postgresql", "database", "operator"],
  };
  const table = { ...substitutions, [identityOf(deployment)]: { fields: fieldsOf(sources, deployment) } };
  const watched = watchedNamespace(manifest(files, `ClusterRole/${name}`), manifest(files, `ClusterRoleBinding/${name}`));
  const rendered = [...files, { path: "namespaced/watched_role.yaml", objects: watched }].map(
    ({ path, objects }) => [`templates/${path}`, templateFile(objects, table, everywhere)] as const,
  );
  return new Map([
    ["Chart.yaml", notice + stringify(metadata)],
    ["values.yaml", `${notice}\n${valuesText(schema)}`],
    ["values.schema.json", `${JSON.stringify(valuesJsonSchema(schema), undefined, 2)}\n`],
    ["templates/_helpers.tpl", helpers(taken(deployment))],
    ["templates/checks.yaml", `{{- include "${name}.checks" . }}\n`],
    ["templates/network_policy.yaml", networkPolicy(deployment, everywhere)],
    ["templates/NOTES.txt", notes],
    ...rendered.filter(([, text]) => text !== notice),
  ]);
}

function templateFile(objects: readonly Manifest[], table: Readonly<Record<string, Substitution>>, everywhere: Everywhere): string {
  // Helm makes the namespace itself (--create-namespace), and would not let the chart have it then.
  return notice + objects.flatMap((object) => (object.kind === "Namespace" ? [] : [template(object, table, everywhere)])).join("");
}

function template(object: Manifest, table: Readonly<Record<string, Substitution>>, everywhere: Everywhere): string {
  const substitution = table[identityOf(object)] ?? table[object.kind];
  if (!substitution)
    throw new Error(`the chart does not know what to do with ${identityOf(object)}: add it to packaging/chart/substitutions.ts`);
  const { when, each, keep, fields = {} } = substitution;
  const annotations = keep ? { annotations: { ...object.metadata.annotations, "helm.sh/resource-policy": "keep" } } : {};
  const namespace = each ? { namespace: "the item" } : {};
  const whole = { ...object, metadata: { ...object.metadata, ...namespace, ...annotations } };
  const text = templateOf(whole, each ? { ...fields, "metadata.namespace": value(". | quote") } : fields, everywhere);
  const [begin, end] = each ? [`{{- range ${each} }}\n`, "\n{{- end }}"] : when ? [`{{- if ${when} }}\n`, "\n{{- end }}"] : ["", ""];
  return `${begin}---\n${text}${end}\n`;
}

function fieldsOf({ postgresImages }: ChartSources, deployment: OperatorDeployment) {
  const [{ args }] = deployment.spec.template.spec.containers;
  const address = args.find((argument) => argument.startsWith(`${metricsFlag}=`))?.slice(metricsFlag.length + 1) ?? "";
  return deploymentFields(Object.keys(postgresImages), address);
}

function defaultsOf({ files, image, digest, postgresImages }: ChartSources, { spec }: OperatorDeployment): Defaults {
  const { tolerations, topologySpreadConstraints, containers } = spec.template.spec;
  const reader = manifest(files, "ClusterRoleBinding/sampledb-metrics-reader") as Manifest & {
    subjects: { name: string; namespace: string }[];
  };
  const [account] = reader.subjects;
  if (!account) throw new Error("config/prometheus names no account that reads metrics");
  return {
    image,
    digest,
    postgresImages,
    replicas: spec.replicas,
    resources: containers[0].resources,
    tolerations,
    topologySpreadConstraints,
    prometheusAccount: { name: account.name, namespace: account.namespace },
  };
}

/** The flags and variables that the templates set, and how a user sets them. */
function taken(deployment: OperatorDeployment) {
  const [{ args, env }] = deployment.spec.template.spec.containers;
  const fixed = "leave it out";
  const flags = Object.fromEntries(args.map((argument) => [argument.split("=")[0], fixed]));
  const variables = Object.fromEntries(
    env.map(({ name }) => [name, name.startsWith("RELATED_IMAGE_POSTGRES_") ? "set postgresImages" : fixed]),
  );
  return {
    flags: { ...flags, "--watch-namespaces": "set watchNamespaces", "--pod-monitor-labels": "set podMonitorLabels" },
    variables: { ...variables, WATCH_NAMESPACE: "set watchNamespaces", ENABLE_WEBHOOKS: "set webhooks.enabled" },
  };
}

/** The operator has no NetworkPolicy in config/: which network a cluster has is its administrator's to say. */
function networkPolicy({ metadata, spec }: OperatorDeployment, everywhere: Everywhere): string {
  const { labels } = spec.template.metadata;
  const ports = spec.template.spec.containers[0].ports.map(({ name }) => ({ port: name }));
  const policy = {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace: metadata.namespace, labels },
    spec: { podSelector: { matchLabels: labels }, policyTypes: ["Ingress"], ingress: [{ ports }] },
  };
  return `${notice}{{- if $.Values.networkPolicy.enabled }}\n---\n${templateOf(policy, {}, everywhere)}\n{{- end }}\n`;
}
