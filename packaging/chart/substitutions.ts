// The table by which config/ becomes the chart: of each object, when it is rendered and which of its fields follow a value.
import { field, lines, type Substitutes, value } from "./template.ts";

export interface Substitution {
  /** Rendered under this condition alone. */
  readonly when?: string;
  /** Rendered once for each item of this list, which is `.` then. */
  readonly each?: string;
  /** Stays after an uninstall. */
  readonly keep?: boolean;
  readonly fields?: Substitutes;
}

const wholeCluster = "not $.Values.watchNamespaces";
const webhooks = `and $.Values.webhooks.enabled (${wholeCluster})`;
const monitor = "$.Values.metrics.serviceMonitor";
const account = { name: `${monitor}.account.name | quote`, namespace: `${monitor}.account.namespace | quote` };
const pod = "spec.template.spec";
export const metricsFlag = "--metrics-bind-address";
const container = `${pod}.containers[operator]`;

const prometheusSubject: Substitutes = {
  "subjects[prometheus-k8s].namespace": value(account.namespace),
  "subjects[prometheus-k8s].name": value(account.name),
};

/** The operator's container and Pod. The images of databases are added for each major. */
export function deploymentFields(majors: readonly string[], metricsAddress: string): Substitutes {
  const images = majors.map(
    (major) =>
      [
        `${container}.env[RELATED_IMAGE_POSTGRES_${major}].value`,
        value(`index $.Values.postgresImages ${JSON.stringify(major)} | quote`),
      ] as const,
  );
  return {
    "spec.replicas": value("$.Values.replicas"),
    [`${pod}.imagePullSecrets`]: field("$.Values.imagePullSecrets"),
    [`${pod}.nodeSelector`]: field("$.Values.scheduling.nodeSelector"),
    [`${pod}.affinity`]: field("$.Values.scheduling.affinity"),
    [`${pod}.priorityClassName`]: field("$.Values.scheduling.priorityClassName"),
    [`${pod}.tolerations`]: field("$.Values.scheduling.tolerations"),
    [`${pod}.topologySpreadConstraints`]: field("$.Values.scheduling.topologySpreadConstraints"),
    [`${container}.image`]: value('include "sampledb-operator.image" $ | quote'),
    [`${container}.resources`]: field("$.Values.resources"),
    ...Object.fromEntries(images),
    [`${container}.args[+]`]: lines(
      "{{- with $.Values.watchNamespaces }}",
      '- --watch-namespaces={{ join "," . }}',
      "{{- end }}",
      "{{- with $.Values.podMonitorLabels }}",
      '- {{ include "sampledb-operator.podMonitorLabels" . | quote }}',
      "{{- end }}",
      "{{- range $.Values.extraArgs }}",
      "- {{ . | quote }}",
      "{{- end }}",
    ),
    [`${container}.args[${metricsFlag}]`]: lines(`- ${metricsFlag}={{ if $.Values.watchNamespaces }}0{{ else }}${metricsAddress}{{ end }}`),
    [`${container}.env[+]`]: lines(
      `{{- if not (${webhooks}) }}`,
      "- name: ENABLE_WEBHOOKS",
      '  value: "false"',
      "{{- end }}",
      "{{- with $.Values.extraEnv }}",
      "{{- toYaml . | nindent INDENTATION }}",
      "{{- end }}",
    ),
  };
}

/** A Prometheus operator chooses monitors and rules by label. */
const monitorLabels: Substitution["fields"] = {
  "metadata.labels[+]": lines(`{{- with ${monitor}.labels }}`, "{{- toYaml . | nindent INDENTATION }}", "{{- end }}"),
};

/** By kind, or by kind and name where that says more. */
export const substitutions: Readonly<Record<string, Substitution>> = {
  CustomResourceDefinition: { when: "$.Values.crds.enabled", keep: true },
  ValidatingAdmissionPolicy: { when: "$.Values.policies.enabled", keep: true },
  ValidatingAdmissionPolicyBinding: { when: "$.Values.policies.enabled", keep: true },
  ValidatingWebhookConfiguration: { when: webhooks },
  ClusterRole: { when: wholeCluster },
  ClusterRoleBinding: { when: wholeCluster },
  ServiceAccount: {},
  Role: {},
  RoleBinding: {},
  "Service/sampledb-webhook": { when: webhooks },
  "Service/sampledb-metrics": { when: wholeCluster },
  "Role/sampledb-databases": { each: "$.Values.watchNamespaces" },
  "RoleBinding/sampledb-databases": { each: "$.Values.watchNamespaces" },
  "ServiceMonitor/sampledb-operator": { when: `${monitor}.enabled`, fields: monitorLabels },
  PrometheusRule: { when: `${monitor}.enabled`, fields: monitorLabels }, // alerts need what the monitor reads
  "ClusterRoleBinding/sampledb-metrics-reader": { when: `${monitor}.enabled`, fields: prometheusSubject },
  "Role/sampledb-metrics-discovery": { when: `${monitor}.enabled` },
  "RoleBinding/sampledb-metrics-discovery": { when: `${monitor}.enabled`, fields: prometheusSubject },
};
