// Roles for people: admin, editor and viewer of each kind, as kubebuilder has them, and the roles of people who make backups and restores.
import { type Kind, kinds } from "../kinds.ts";
import { group } from "../version.ts";

const read = ["get", "list", "watch"];
const write = ["create", "update", "patch", "delete", "deletecollection"];

/**
 * Admin, editor and viewer are aggregated to the cluster's admin, edit and view roles: a user who may edit a namespace may edit these kinds in it.
 * A Restore gives its maker every row of its source, or replaces a database. So Restores have no editor, and `edit` gets no right to make them.
 */
export function roles(kind: Kind): object[] {
  return [
    role(kind, "admin", ["*"], ["*"]),
    ...(kind.kind === "Restore" ? [] : [role(kind, "editor", [...read, ...write], read)]),
    role(kind, "viewer", read, read),
    ...onCall(kind),
  ];
}

/** The names of the roles of a kind, as people look for them. */
export function roleNames(kind: Kind): string[] {
  return roles(kind).map((made) => (made as { metadata: { name: string } }).metadata.name);
}

/** Who makes a Backup can't remove one with it: that is for editors. Who made a Restore may withdraw it, which leaves nothing half-made. */
const onCallVerbs: Readonly<Record<string, readonly string[]>> = { Backup: ["create"], Restore: ["create", "delete"] };

/** The role of people, and of programs, that make objects of this kind and see what came of it. It is given by name: nothing is aggregated. */
function onCall({ kind, singular, plural }: Kind): object[] {
  const verbs = onCallVerbs[kind];
  if (!verbs) return [];
  return [
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: `sampledb-${singular}-operator` },
      rules: [
        { apiGroups: [group], resources: [plural], verbs },
        { apiGroups: [group], resources: kinds.flatMap((each) => [each.plural, `${each.plural}/status`]), verbs: read },
      ],
    },
  ];
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
