// The operator for some namespaces, without a ClusterRole: the Role that it needs in each of them, and config/namespaced for kustomize.
import type { Manifest } from "./config.ts";
import { namespacedRules, type Rule } from "./permissions.ts";

/** Beside the Role `sampledb-operator` of its own namespace, which may be one of those that it watches. */
const roleName = "sampledb-databases";

/** A Role can grant reading the Namespace that it is in. Without it the operator can't see that the namespace is going, and nothing can be made there. */
const ownNamespace: Rule = { apiGroups: [""], resources: ["namespaces"], verbs: ["get"] };

/** Role and binding for one namespace, made of the ClusterRole of the whole cluster. They name no namespace. */
export function watchedNamespace(clusterRole: Manifest, clusterBinding: Manifest): [role: Manifest, binding: Manifest] {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const metadata = { name: roleName };
  return [
    { apiVersion, kind: "Role", metadata, rules: [...namespacedRules(clusterRole["rules"] as Rule[]), ownNamespace] },
    {
      apiVersion,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: roleName },
      subjects: clusterBinding["subjects"],
    },
  ];
}

interface Deployment extends Manifest {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { name: string; args: readonly string[] }[] } } };
}

/** The arguments where the API server can't be asked who may read metrics: there are none then. */
export function namespacedArguments(args: readonly string[]): string[] {
  return args.map((argument) => (argument.startsWith("--metrics-bind-address=") ? "--metrics-bind-address=0" : argument));
}

/** What kustomize changes of config/manager: the operator looks after the namespace that it is in, without webhooks and metrics. */
export function namespacedPatches(deployment: Manifest, metricsService: Manifest): object[] {
  const { apiVersion, kind, metadata, spec } = deployment as Deployment;
  const object = ({ name, namespace }: Manifest["metadata"]) => ({ name, namespace });
  const containers = spec.template.spec.containers.map(({ name, args }) => ({
    name,
    args: namespacedArguments(args),
    env: [
      { name: "WATCH_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
      { name: "ENABLE_WEBHOOKS", value: "false" },
    ],
  }));
  return [
    { apiVersion, kind, metadata: object(metadata), spec: { template: { spec: { containers } } } },
    { apiVersion: metricsService.apiVersion, kind: metricsService.kind, metadata: object(metricsService.metadata), $patch: "delete" },
  ];
}
