// Security of Pods, accounts and Secrets: what they may do, and must not.
import { describe, expect, test } from "vitest";
import type { Job, StatefulSet } from "../kinds/kubernetes.ts";
import type { Restore } from "../kinds/sampledb-io.ts";
import { role, roleBinding, serviceAccount } from "./access.ts";
import { childrenOf, image, instancesOf, keys, passwords, secretsOf } from "./children.fixture.ts";
import { initJob } from "./initialization.ts";
import { mostInstances, namesOf } from "./names.ts";
import { restoreJob } from "./restore.ts";
import { nextPasswordSecret, rotationJob } from "./rotation.ts";
import { sampleDB } from "./sampledb.fixture.ts";
import type { Place } from "./store.ts";
import { trialJob } from "./trial.ts";

const everything = sampleDB({
  replicas: 3,
  resources: { requests: { cpu: 1, memory: "1Gi" }, limits: { memory: "1Gi" } },
  podMetadata: { labels: { team: "orders" }, annotations: { "example.com/contact": "orders" } },
  bootstrap: { extensions: ["pgcrypto"], scripts: [{ secretKeyRef: { name: "seed", key: "seed.sql" } }] },
});

const templates = (db: typeof everything): [string, NonNullable<(StatefulSet | Job)["spec"]>["template"]][] => [
  ["the StatefulSet", instancesOf(db).spec?.template ?? {}],
  ["the init Job", initJob(db, "digest", image).spec?.template ?? {}],
  ["the rotation Job", rotationJob(db, nextPasswordSecret(db, "next"), image).spec?.template ?? {}],
  ["the trial Job", trialJob(db, { digest: "digest", image, asked: true, running: undefined }).spec?.template ?? {}],
  ["the restore Job", restoring(db, bucket).spec?.template ?? {}],
];

const restore = { metadata: { namespace: "shop", name: "back", uid: "restore" }, spec: {} } as Restore;
const bucket = {
  bucket: "b",
  endpoint: "e",
  region: "r",
  uriStyle: "Path",
  credentialsSecretName: "keys",
  caSecretName: "store-ca",
} as const;
const restoring = (db: typeof everything, s3: Place["s3"]) => {
  const place: Place = { s3, folder: "f", claimName: "old-repository", encryptionSecretName: "passphrase" };
  return restoreJob(restore, db, { stanza: "uid-17-1", label: null, place, beside: undefined }, { image, ordinal: 0 });
};

describe.each(templates(everything))("%s follows the restricted Pod security standard", (_, { spec }) => {
  test("no process is root, and system calls are limited", () => {
    expect(spec?.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(spec).not.toHaveProperty("hostNetwork");
    expect(spec).not.toHaveProperty("hostPID");
    expect(spec).not.toHaveProperty("hostIPC");
  });

  test("no container can gain privileges, or write to its image", () => {
    const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
    expect(containers.length).toBeGreaterThan(0);
    for (const { securityContext, ports } of containers) {
      expect(securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } });
      for (const port of ports ?? []) expect(port).not.toHaveProperty("hostPort");
    }
  });

  test("every container has the limits that instances have, or a quota on limits would refuse the Pod", () => {
    const limited = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ resources }) =>
      Object.keys(resources?.limits ?? {}),
    );
    expect(limited).toEqual(limited.map(() => ["memory"]));
  });

  test("volumes are of the kinds that the standard allows", () => {
    const allowed = ["configMap", "emptyDir", "projected", "secret", "persistentVolumeClaim"];
    for (const { name: _, ...source } of spec?.volumes ?? []) expect(allowed).toEqual(expect.arrayContaining(Object.keys(source)));
  });
});

test("only instances get a token of the Kubernetes API", () => {
  expect(templates(everything).map(([, { spec }]) => spec?.automountServiceAccountToken)).toEqual([true, false, false, false, false]);
  expect(serviceAccount(everything).automountServiceAccountToken).toBe(false);
  expect(instancesOf(everything).spec?.template.spec?.serviceAccountName).toBe(namesOf(everything).account);
});

describe.each([
  ["a bucket", bucket, ["keys", "store-ca"]],
  ["a volume", undefined, ["old-repository"]],
])("a restore from %s", (_, s3, mounted) => {
  const { initContainers = [], containers = [], volumes = [] } = restoring(everything, s3).spec?.template.spec ?? {};
  const mountsOf = (container: (typeof containers)[number] | undefined) =>
    volumes.filter(({ name }) => container?.volumeMounts?.some((mount) => mount.name === name));
  const sourcesOf = (container: (typeof containers)[number] | undefined) =>
    mountsOf(container).flatMap(({ secret, persistentVolumeClaim }) => secret?.secretName ?? persistentVolumeClaim?.claimName ?? []);
  const [recover] = initContainers;
  const [clean] = containers;
  const passwords = ["orders-app", "orders-replication", "orders-superuser"];

  test("recovers with the store's files and without passwords", () => {
    expect(recover?.command).toEqual(["run-restore", "recover"]);
    expect(sourcesOf(recover).sort()).toEqual(["data-orders-0", "orders-restore", "passphrase", ...mounted].sort());
  });

  test("cleans with passwords and without anything of the store", () => {
    expect(clean?.command).toEqual(["run-restore", "clean"]);
    expect(sourcesOf(clean).sort()).toEqual(["data-orders-0", "orders-restore", ...passwords].sort());
    expect(mountsOf(clean).find(({ configMap }) => configMap)?.configMap?.items).toEqual([{ key: "run.json", path: "run.json" }]);
  });

  test("gives the second container no volume to which the first has written keys", () => {
    const shared = mountsOf(recover).filter((volume) => mountsOf(clean).includes(volume));
    expect(shared.map(({ name }) => name)).toEqual(["data", "tls", "shared-memory"]);
    expect(recover?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual(expect.arrayContaining(["/run/pgbackrest", "/tmp"]));
  });
});

test("a Pod has the user's labels, and they never replace the operator's", () => {
  const db = sampleDB({
    podMetadata: { labels: { "sampledb.io/name": "other", team: "orders" }, annotations: { "sampledb.io/asked": "x" } },
  });
  const { labels, annotations } = instancesOf(db).spec?.template.metadata ?? {};
  expect(labels).toMatchObject({ "sampledb.io/name": "orders", "sampledb.io/component": "postgresql", team: "orders" });
  expect(annotations).toMatchObject({ "sampledb.io/asked": "asked" });
});

describe("the instances' Role", () => {
  const { rules } = role(everything);
  const writing = (rules ?? []).filter(({ verbs }) => verbs.some((verb) => !["get", "list", "watch"].includes(verb)));

  // Only OpenShift asks for it, and it gives no right to write by itself.
  const restricted = ({ resources }: NonNullable<typeof rules>[number]) => resources?.join() === "endpointslices/restricted";

  test("names Pods, ConfigMaps and a slice only, has no wildcard, and can neither create nor delete", () => {
    const others = rules?.filter((rule) => !restricted(rule));
    expect(new Set(others?.flatMap(({ resources }) => resources))).toEqual(new Set(["configmaps", "pods", "endpointslices"]));
    expect(new Set(others?.flatMap(({ apiGroups }) => apiGroups))).toEqual(new Set(["", "discovery.k8s.io"]));
    expect(new Set(others?.flatMap(({ verbs }) => verbs))).toEqual(new Set(["get", "list", "watch", "patch", "update"]));
  });

  test("may write to Patroni's state, its own Pods and the read-write slice, each by name, and to nothing else", () => {
    const names = namesOf(everything);
    const named = writing.filter((rule) => !restricted(rule));
    expect(named.map(({ resources, resourceNames }) => [resources, resourceNames?.toSorted()])).toEqual([
      [["configmaps"], [names.dynamicConfig, names.failover, names.leader, names.sync].sort()],
      [["pods"], Array.from({ length: mostInstances }, (_, ordinal) => `orders-${ordinal}`)],
      [["endpointslices"], [names.readWriteService]],
    ]);
  });

  test("is bound to the account of these instances alone", () => {
    const { roleRef, subjects } = roleBinding(everything);
    expect(roleRef).toEqual({ apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: role(everything).metadata.name });
    expect(subjects).toEqual([{ kind: "ServiceAccount", name: "orders-instance", namespace: "shop" }]);
  });
});

describe("passwords and keys", () => {
  const secret = [...Object.values(passwords), ...Object.values(keys)];
  const forms = secret.flatMap((text) => [text, btoa(text)]);

  test("are in no object but Secrets", () => {
    const text = JSON.stringify(childrenOf(everything));
    expect(forms.filter((form) => text.includes(form))).toEqual([]);
  });

  test("are each in one Secret, and the authority's key is not in the database's namespace", () => {
    const held = secretsOf(everything).map((object) => {
      const text = JSON.stringify(object);
      return [`${object.metadata.namespace}/${object.metadata.name}`, secret.filter((value) => text.includes(btoa(value)))];
    });
    expect(Object.fromEntries(held)).toEqual({
      "shop/orders-repository": [keys.repository],
      "shop/orders-superuser": [passwords.superuser],
      "shop/orders-replication": [passwords.replication],
      "shop/orders-app": [passwords.application],
      "shop/orders-rotation": [passwords.next],
      "shop/orders-tls": [keys.server],
      "operators/authority.shop.orders": [keys.authority],
    });
  });
});
