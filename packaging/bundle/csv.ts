// The ClusterServiceVersion: how OLM installs the operator, made of config/, the kinds and the names of the images.
import type { Kind } from "../../api/kinds.ts";
import type { OperatorDeployment } from "../chart/chart.ts";
import { type Manifest, type ManifestFile, manifest } from "../config.ts";
import { clusterRules, namespacedRules, type Rule } from "../permissions.ts";
import { ownedKind } from "./descriptors.ts";
import { description, icon, summary } from "./presentation.ts";

export interface CsvSources {
  /** The files of config/default. */
  readonly files: readonly ManifestFile[];
  readonly kinds: readonly Kind[];
  /** config/samples, the minimal one first. */
  readonly samples: readonly object[];
  readonly version: string;
  readonly leastKubernetes: string;
  /** The operator's image, and the image of each major, whole. */
  readonly image: string;
  readonly postgresImages: Readonly<Record<string, string>>;
}

const name = "sampledb-operator";

/** Where OLM mounts the certificate of webhooks. */
const certificates = "/tmp/k8s-webhook-server/serving-certs";

const policyKinds = new Map([
  ["ValidatingAdmissionPolicy", "validatingadmissionpolicies"],
  ["ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"],
]);

export function clusterServiceVersion(sources: CsvSources): object {
  const { files, kinds, samples, version, leastKubernetes, image, postgresImages } = sources;
  const objects = files.flatMap((file) => file.objects);
  const deployment = manifest(files, `Deployment/${name}`) as OperatorDeployment;
  const { serviceAccountName } = deployment.spec.template.spec as unknown as { serviceAccountName: string };
  const rulesOf = (identity: string) => manifest(files, identity)["rules"] as Rule[];
  const all = rulesOf(`ClusterRole/${name}`);
  const relatedImages = [
    { name: "operator", image },
    ...Object.entries(postgresImages).map(([major, reference]) => ({ name: `postgres-${major}`, image: reference })),
  ];
  return {
    apiVersion: "operators.coreos.com/v1alpha1",
    kind: "ClusterServiceVersion",
    metadata: {
      name: `${name}.v${version}`,
      namespace: "placeholder",
      annotations: {
        "alm-examples": JSON.stringify(samples, undefined, 2),
        capabilities: "Seamless Upgrades",
        categories: "Database",
        containerImage: image,
        description: summary,
        "operatorframework.io/suggested-namespace": deployment.metadata.namespace,
      },
    },
    spec: {
      displayName: "SampleDB",
      description,
      version,
      maturity: "alpha",
      minKubeVersion: leastKubernetes,
      keywords: ["postgresql", "database", "backup", "high availability"],
      provider: { name: "SampleDB" },
      icon: [{ base64data: Buffer.from(icon).toString("base64"), mediatype: "image/svg+xml" }],
      installModes: ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"].map((type) => ({ type, supported: true })),
      customresourcedefinitions: { owned: kinds.map(ownedKind) },
      install: {
        strategy: "deployment",
        spec: {
          permissions: [{ serviceAccountName, rules: [...namespacedRules(all), ...rulesOf(`Role/${name}`)] }],
          clusterPermissions: [{ serviceAccountName, rules: [...clusterRules(all).filter(isNeeded), ...policyRules(objects)] }],
          deployments: [{ name, label: deployment.metadata.labels, spec: deploymentSpec(deployment, sources) }],
        },
      },
      webhookdefinitions: objects.filter(({ kind }) => kind === "ValidatingWebhookConfiguration").flatMap(webhooks),
      relatedImages,
    },
  };
}

/** OLM itself writes the authority into the configurations of webhooks. */
function isNeeded({ resources = [] }: Rule): boolean {
  return !resources.includes("validatingwebhookconfigurations");
}

/** For --install-policies: by name, and nothing but ours. */
function policyRules(objects: readonly Manifest[]): Rule[] {
  return [...policyKinds].map(([kind, resource]) => ({
    apiGroups: ["admissionregistration.k8s.io"],
    resources: [resource],
    resourceNames: objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name),
    verbs: ["get", "create", "patch"],
  }));
}

/** As config/manager has it. OLM says which namespaces, and mounts the certificate of the webhooks. */
function deploymentSpec({ spec }: OperatorDeployment, { image, postgresImages }: CsvSources): object {
  const related = new Map(Object.entries(postgresImages).map(([major, reference]) => [`RELATED_IMAGE_POSTGRES_${major}`, reference]));
  const [container] = spec.template.spec.containers;
  const env = container.env.map((variable) => {
    const value = related.get(variable.name);
    return value === undefined ? variable : { ...variable, value };
  });
  const targets = { name: "WATCH_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.annotations['olm.targetNamespaces']" } } };
  const operator = {
    ...container,
    image,
    args: [...container.args, `--webhook-cert-dir=${certificates}`, "--install-policies"],
    env: [...env, targets],
  };
  return { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, containers: [operator] } } };
}

interface WebhookConfiguration extends Manifest {
  readonly webhooks: readonly {
    readonly name: string;
    readonly rules: readonly object[];
    readonly clientConfig: { readonly service: { readonly path: string; readonly port: number } };
    readonly timeoutSeconds: number;
    readonly admissionReviewVersions: readonly string[];
  }[];
}

/** Without match conditions, which OLM does not know: the handlers do their part, and with nobody to ask, a request passes. */
function webhooks(configuration: Manifest): object[] {
  return (configuration as WebhookConfiguration).webhooks.map(({ name: generateName, rules, clientConfig, ...more }) => ({
    type: "ValidatingAdmissionWebhook",
    admissionReviewVersions: more.admissionReviewVersions,
    containerPort: clientConfig.service.port,
    targetPort: "webhooks",
    deploymentName: name,
    failurePolicy: "Ignore",
    generateName,
    rules,
    sideEffects: "None",
    timeoutSeconds: more.timeoutSeconds,
    webhookPath: clientConfig.service.path,
  }));
}
