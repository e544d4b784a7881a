// Bad SampleDBs: settings of PostgreSQL, Services and Pods.
// The API server names an entry of a map as `.key` when the schema refuses it, and as `[key]` when a rule does.
import { type BadSpec, inSpec, many, mapOf } from "./bad-spec.ts";

const aQuantity = /must be a quantity of zero or more, such as 2, 500m or 1Gi/;
const aLabelValue = /must be the value of a label: empty, or letters, digits, -, _ and \./;
const anObjectName = /must be the name of an object: a-z, 0-9, - and \. in it/;
const intOrString = /must be of type (integer,string|integer or string)/;

const postgresql: readonly BadSpec[] = inSpec([
  ["a parameter on as YAML reads it", { postgresql: { parameters: { fsync: true } } }, "spec.postgresql.parameters.fsync", intOrString],
  [
    "a parameter that is a fraction",
    { postgresql: { parameters: { seq_page_cost: 1.5 } } },
    "spec.postgresql.parameters.seq_page_cost",
    intOrString,
  ],
  [
    "a parameter that is a list",
    { postgresql: { parameters: { search_path: ["a"] } } },
    "spec.postgresql.parameters.search_path",
    intOrString,
  ],
  [
    "a parameter of 2049 characters",
    { postgresql: { parameters: { search_path: "x".repeat(2049) } } },
    "spec.postgresql.parameters.search_path",
    /may not be more than 2048 bytes/,
  ],
  [
    "a parameter of 60 bits without quotes",
    { postgresql: { parameters: { work_mem: 2 ** 60 } } },
    "spec.postgresql.parameters[work_mem]",
    /whole number of at most 53 bits; put larger ones in quotes/,
  ],
  ["257 parameters", { postgresql: { parameters: mapOf(257, 1) } }, "spec.postgresql.parameters", /must have at most 256 items/],
  ["parameters that are a list", { postgresql: { parameters: ["fsync"] } }, "spec.postgresql.parameters", /must be of type object/],
  ["an empty line of hba", { postgresql: { hba: [""] } }, "spec.postgresql.hba[0]", /at least 1 chars long/],
  [
    "a line of hba of 513 characters",
    { postgresql: { hba: ["x".repeat(513)] } },
    "spec.postgresql.hba[0]",
    /may not be more than 512 bytes/,
  ],
  [
    "two lines of hba in one",
    { postgresql: { hba: ["local all all trust\nhost all"] } },
    "spec.postgresql.hba[0]",
    /must be one line of pg_hba/,
  ],
  ["65 lines of hba", { postgresql: { hba: many(65) } }, "spec.postgresql.hba", /must have at most 64 items/],
  ["hba that is a string", { postgresql: { hba: "local all all trust" } }, "spec.postgresql.hba", /must be of type array/],
]);

const services: readonly BadSpec[] = inSpec([
  [
    "a Service type that does not exist",
    { services: { readWrite: { type: "Ingress" } } },
    "spec.services.readWrite.type",
    /supported values: "ClusterIP", "NodePort", "LoadBalancer"/,
  ],
  [
    "a Service type in lower case",
    { services: { readOnly: { type: "clusterip" } } },
    "spec.services.readOnly.type",
    /supported values: "ClusterIP", "NodePort", "LoadBalancer"/,
  ],
  ["a Service that is a string", { services: { readOnly: "NodePort" } }, "spec.services.readOnly", /must be of type object/],
  [
    "an annotation of a Service that is a number",
    { services: { readWrite: { annotations: { "example.com/port": 5432 } } } },
    "spec.services.readWrite.annotations.example.com/port",
    /must be of type string/,
  ],
  [
    "65 annotations of a Service",
    { services: { readOnly: { annotations: mapOf(65, "") } } },
    "spec.services.readOnly.annotations",
    /must have at most 64 items/,
  ],
]);

const resources: readonly BadSpec[] = inSpec([
  ["a negative request in quotes", { resources: { requests: { cpu: "-1" } } }, "spec.resources.requests[cpu]", aQuantity],
  ["a negative request", { resources: { requests: { cpu: -1 } } }, "spec.resources.requests[cpu]", aQuantity],
  ["a request in words", { resources: { requests: { memory: "lots" } } }, "spec.resources.requests[memory]", aQuantity],
  ["an empty request", { resources: { requests: { memory: "" } } }, "spec.resources.requests[memory]", aQuantity],
  ["a request of half a CPU without quotes", { resources: { requests: { cpu: 0.5 } } }, "spec.resources.requests.cpu", intOrString],
  ["a limit in GB", { resources: { limits: { memory: "1GB" } } }, "spec.resources.limits[memory]", aQuantity],
  ["a limit with a space", { resources: { limits: { memory: "1 Gi" } } }, "spec.resources.limits[memory]", aQuantity],
  ["a limit that is a boolean", { resources: { limits: { cpu: true } } }, "spec.resources.limits.cpu", intOrString],
  ["17 limits", { resources: { limits: mapOf(17, 1) } }, "spec.resources.limits", /must have at most 16 items/],
]);

const metadata: readonly BadSpec[] = inSpec([
  ["a node label with a space", { nodeSelector: { disk: "s s d" } }, "spec.nodeSelector[disk]", aLabelValue],
  ["a node label true as YAML reads it", { nodeSelector: { disk: true } }, "spec.nodeSelector.disk", /must be of type string/],
  ["65 node labels", { nodeSelector: mapOf(65, "") }, "spec.nodeSelector", /must have at most 64 items/],
  ["a label with a slash", { podMetadata: { labels: { team: "a/b" } } }, "spec.podMetadata.labels[team]", aLabelValue],
  ["a label that ends with a dash", { podMetadata: { labels: { team: "a-" } } }, "spec.podMetadata.labels[team]", aLabelValue],
  [
    "a label of 64 characters",
    { podMetadata: { labels: { team: "x".repeat(64) } } },
    "spec.podMetadata.labels.team",
    /not be more than 63/,
  ],
  ["a label that is a number", { podMetadata: { labels: { team: 7 } } }, "spec.podMetadata.labels.team", /must be of type string/],
  ["65 labels", { podMetadata: { labels: mapOf(65, "") } }, "spec.podMetadata.labels", /must have at most 64 items/],
  [
    "an annotation of 16385 characters",
    { podMetadata: { annotations: { note: "x".repeat(16_385) } } },
    "spec.podMetadata.annotations.note",
    /may not be more than 16384 bytes/,
  ],
  ["a priority class with a space", { priorityClassName: "very high" }, "spec.priorityClassName", anObjectName],
  ["a pull secret in upper case", { imagePullSecrets: [{ name: "Registry" }] }, "spec.imagePullSecrets[0].name", anObjectName],
  ["a pull secret that is a string", { imagePullSecrets: ["registry"] }, "spec.imagePullSecrets[0]", /must be of type object/],
  ["a pull secret without a name", { imagePullSecrets: [{}] }, "spec.imagePullSecrets[0].name", /Required value/],
  ["a pull secret twice", { imagePullSecrets: [{ name: "a" }, { name: "a" }] }, "spec.imagePullSecrets[1]", /Duplicate value/],
  ["17 pull secrets", { imagePullSecrets: many(17).map((name) => ({ name })) }, "spec.imagePullSecrets", /must have at most 16 items/],
]);

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
const nodeTerms = (
  ...nodeSelectorTerms: readonly { readonly matchExpressions: readonly { readonly [key: string]: string | string[] }[] }[]
) => ({
  affinity: { nodeAffinity: { [required]: { nodeSelectorTerms } } },
});
const firstNodeExpression = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms[0].matchExpressions[0]`;
const spread = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" };

const scheduling: readonly BadSpec[] = inSpec([
  [
    "a toleration with an effect that does not exist",
    { tolerations: [{ key: "a", effect: "Never" }] },
    "spec.tolerations[0].effect",
    /supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"/,
  ],
  [
    "a toleration with operator In",
    { tolerations: [{ key: "a", operator: "In" }] },
    "spec.tolerations[0].operator",
    /supported values: "Exists", "Equal"/,
  ],
  [
    "a toleration that exists with a value",
    { tolerations: [{ key: "a", operator: "Exists", value: "b" }] },
    "spec.tolerations[0].value",
    /value goes with operator: Equal/,
  ],
  [
    "a toleration without a key",
    { tolerations: [{ value: "b" }] },
    "spec.tolerations[0].key",
    /may be left out only with operator: Exists/,
  ],
  [
    "seconds without NoExecute",
    { tolerations: [{ key: "a", tolerationSeconds: 5 }] },
    "spec.tolerations[0].tolerationSeconds",
    /goes with effect: NoExecute/,
  ],
  [
    "negative seconds",
    { tolerations: [{ key: "a", effect: "NoExecute", tolerationSeconds: -1 }] },
    "spec.tolerations[0].tolerationSeconds",
    /greater than or equal to 0/,
  ],
  ["65 tolerations", { tolerations: many(65).map((key) => ({ key })) }, "spec.tolerations", /must have at most 64 items/],
  ["no term of nodes", nodeTerms(), `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`, /should have at least 1 items/],
  [
    "In without values",
    nodeTerms({ matchExpressions: [{ key: "zone", operator: "In" }] }),
    `${firstNodeExpression}.values`,
    /must have an entry or more with this operator/,
  ],
  [
    "Exists with values",
    nodeTerms({ matchExpressions: [{ key: "zone", operator: "Exists", values: ["a"] }] }),
    `${firstNodeExpression}.values`,
    /none with Exists and DoesNotExist/,
  ],
  [
    "an operator that does not exist",
    nodeTerms({ matchExpressions: [{ key: "zone", operator: "Like" }] }),
    `${firstNodeExpression}.operator`,
    /supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"/,
  ],
  [
    "an expression without a key",
    nodeTerms({ matchExpressions: [{ operator: "Exists" }] }),
    `${firstNodeExpression}.key`,
    /Required value/,
  ],
  [
    "a weight of 101",
    { affinity: { nodeAffinity: { [preferred]: [{ weight: 101, preference: {} }] } } },
    `spec.affinity.nodeAffinity.${preferred}[0].weight`,
    /less than or equal to 100/,
  ],
  [
    "a weight of 0",
    { affinity: { podAntiAffinity: { [preferred]: [{ weight: 0, podAffinityTerm: { topologyKey: "zone" } }] } } },
    `spec.affinity.podAntiAffinity.${preferred}[0].weight`,
    /greater than or equal to 1/,
  ],
  [
    "affinity without a topology key",
    { affinity: { podAffinity: { [required]: [{}] } } },
    `spec.affinity.podAffinity.${required}[0].topologyKey`,
    /Required value/,
  ],
  [
    "a selector of Pods with Gt",
    {
      affinity: {
        podAffinity: {
          [required]: [{ topologyKey: "zone", labelSelector: { matchExpressions: [{ key: "a", operator: "Gt", values: ["1"] }] } }],
        },
      },
    },
    `spec.affinity.podAffinity.${required}[0].labelSelector.matchExpressions[0].operator`,
    /supported values: "In", "NotIn", "Exists", "DoesNotExist"/,
  ],
  [
    "a skew of 0",
    { topologySpreadConstraints: [{ ...spread, maxSkew: 0 }] },
    "spec.topologySpreadConstraints[0].maxSkew",
    /greater than or equal to 1/,
  ],
  [
    "an empty topology key",
    { topologySpreadConstraints: [{ ...spread, topologyKey: "" }] },
    "spec.topologySpreadConstraints[0].topologyKey",
    /at least 1 chars long/,
  ],
  [
    "a spread that is only hoped for",
    { topologySpreadConstraints: [{ ...spread, whenUnsatisfiable: "Hope" }] },
    "spec.topologySpreadConstraints[0].whenUnsatisfiable",
    /supported values: "DoNotSchedule", "ScheduleAnyway"/,
  ],
  [
    "a taints policy in lower case",
    { topologySpreadConstraints: [{ ...spread, nodeTaintsPolicy: "honor" }] },
    "spec.topologySpreadConstraints[0].nodeTaintsPolicy",
    /supported values: "Honor", "Ignore"/,
  ],
  [
    "a minimum of 0 places",
    { topologySpreadConstraints: [{ ...spread, minDomains: 0 }] },
    "spec.topologySpreadConstraints[0].minDomains",
    /greater than or equal to 1/,
  ],
  [
    "nine constraints",
    { topologySpreadConstraints: many(9).map((topologyKey) => ({ ...spread, topologyKey })) },
    "spec.topologySpreadConstraints",
    /must have at most 8 items/,
  ],
]);

export const badSettings: readonly BadSpec[] = [...postgresql, ...services, ...resources, ...metadata, ...scheduling];
