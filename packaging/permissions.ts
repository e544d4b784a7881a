// The operator's rights, parted into those in namespaces and those on objects of the cluster.

export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

/** Kubernetes' resources without a namespace, by group. An integration test asks the API server whether each rule of ours is parted right. */
const ofTheCluster: Readonly<Record<string, readonly string[]>> = {
  "": ["namespaces", "nodes", "persistentvolumes"],
  "admissionregistration.k8s.io": ["*"],
  "apiextensions.k8s.io": ["*"],
  "authentication.k8s.io": ["tokenreviews"],
  "authorization.k8s.io": ["selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews"],
  "certificates.k8s.io": ["*"],
  "node.k8s.io": ["*"],
  "rbac.authorization.k8s.io": ["clusterroles", "clusterrolebindings"],
  "scheduling.k8s.io": ["*"],
  "snapshot.storage.k8s.io": ["volumesnapshotclasses", "volumesnapshotcontents"],
  "storage.k8s.io": ["csidrivers", "csinodes", "storageclasses", "volumeattachments", "volumeattributesclasses"],
};

export function isOfTheCluster(group: string, resource: string): boolean {
  const [name = ""] = resource.split("/"); // a subresource is where its resource is
  const names = ofTheCluster[group] ?? [];
  return names.includes("*") || names.includes(name);
}

/** What a Role can grant. */
export function namespacedRules(rules: readonly Rule[]): Rule[] {
  return part(rules, (group, resource) => !isOfTheCluster(group, resource));
}

/** What only a ClusterRole can grant. */
export function clusterRules(rules: readonly Rule[]): Rule[] {
  return part(rules, isOfTheCluster);
}

function part(rules: readonly Rule[], belongs: (group: string, resource: string) => boolean): Rule[] {
  return rules.flatMap((rule) => {
    const { apiGroups = [], resources = [] } = rule;
    if (apiGroups.length > 1) throw new Error(`a rule for several groups can't be parted: ${apiGroups.join(", ")}`);
    const kept = resources.filter((resource) => belongs(apiGroups[0] ?? "", resource));
    return kept.length > 0 ? [{ ...rule, resources: kept }] : [];
  });
}
