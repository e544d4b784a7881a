// The instances' rights in the Kubernetes API: those that Patroni's election needs, and no more.
import type { Role, RoleBinding, ServiceAccount } from "../kinds/kubernetes.ts";
import type { SampleDB } from "../kinds/sampledb-io.ts";
import { owned } from "./identity.ts";
import { mostInstances, namesOf, podName } from "./names.ts";

const group = "rbac.authorization.k8s.io";

export function serviceAccount(db: SampleDB): ServiceAccount {
  return {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: owned(db, namesOf(db).account),
    automountServiceAccountToken: false, // the Pod's own spec mounts the token
  };
}

/**
 * RBAC can limit neither reads to labels, nor a create to a name. So the operator makes Patroni's ConfigMaps and the slice of the
 * read-write Service, and Patroni may write to these and to its own Pods only.
 */
export function role(db: SampleDB): Role {
  const { account, dynamicConfig, leader, failover, sync, readWriteService } = namesOf(db);
  const instances = Array.from({ length: mostInstances }, (_, ordinal) => podName(db, ordinal));
  return {
    apiVersion: `${group}/v1`,
    kind: "Role",
    metadata: owned(db, account),
    rules: [
      { apiGroups: [""], resources: ["configmaps", "pods"], verbs: ["get", "list", "watch"] },
      { apiGroups: [""], resources: ["configmaps"], resourceNames: [dynamicConfig, leader, failover, sync], verbs: ["patch", "update"] },
      { apiGroups: [""], resources: ["pods"], resourceNames: instances, verbs: ["patch"] },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], resourceNames: [readWriteService], verbs: ["get", "patch"] },
      // Without this rule, OpenShift refuses a slice with the address of a Pod.
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices/restricted"], verbs: ["create"] },
    ],
  };
}

export function roleBinding(db: SampleDB): RoleBinding {
  const { account } = namesOf(db);
  return {
    apiVersion: `${group}/v1`,
    kind: "RoleBinding",
    metadata: owned(db, account),
    roleRef: { apiGroup: group, kind: "Role", name: account },
    subjects: [{ kind: "ServiceAccount", name: account, namespace: db.metadata.namespace ?? "" }],
  };
}
