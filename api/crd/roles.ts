// Roles for people, as kubebuilder has them: admin, editor and viewer of each kind.
import type { Kind } from "../kinds.ts";
import { group } from "../version.ts";

const read = ["get", "list", "watch"];
const write = ["create", "update", "patch", "delete", "deletecollection"];

/** They are aggregated to the cluster's admin, edit and view roles: a user who may edit a namespace may edit these kinds in it. */
export function roles(kind: Kind): object[] {
  return [role(kind, "admin", ["*"], ["*"]), role(kind, "editor", [...read, ...write], read), role(kind, "viewer", read, read)];
}

const aggregated = { admin: "admin", editor: "edit", viewer: "view" } as const;

function role(kind: Kind, name: keyof typeof aggregated, verbs: readonly string[], statusVerbs: readonly string[]): object {
  const scale = kind.scalable
    ? [{ apiGroups: [group], resources: [`${kind.plural}/scale`], verbs: name === "viewer" ? read : [...read, "update", "patch"] }]
    : [];
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: {
      name: `sampledb-${kind.singular}-${name}`,
      labels: { [`rbac.authorization.k8s.io/aggregate-to-${aggregated[name]}`]: "true" },
    },
    rules: [
      { apiGroups: [group], resources: [kind.plural], verbs },
      { apiGroups: [group], resources: [`${kind.plural}/status`], verbs: statusVerbs },
      ...scale,
    ],
  };
}
