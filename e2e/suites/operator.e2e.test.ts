// The operator's image in a cluster, in one namespace and with no right outside of it: two replicas, of which one works.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { operatorImage } from "../../images/catalog.ts";
import { imageReference } from "../../images/definition.ts";
import { OperatorProcess } from "../../operator/operator-process.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { isReady } from "../cluster/status.ts";
import { Database, sampleDB } from "../database/database.ts";
import { kubectl, suiteNamespace } from "./test-cluster.ts";

const namespace = suiteNamespace("operator");
const labels = { app: "operator" };

/** What the operator may do in every namespace, here in one; what belongs to the cluster is left out. */
const rules = parseAllDocuments(readFileSync(join(projectDirectory, "config/rbac/operator_role.yaml"), "utf8"))
  .map((document) => document.toJS() as { kind: string; metadata: { name: string }; rules: { apiGroups?: string[] }[] })
  .filter(({ kind, metadata }) => /^(Cluster)?Role$/.test(kind) && metadata.name === "sampledb-operator")
  .flatMap((role) => role.rules)
  .filter(({ apiGroups = [] }) => !apiGroups.some((group) => /^(admissionregistration|authentication|authorization)/.test(group)));
const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { name: "operator" }, rules };
const binding = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  metadata: { name: "operator" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "operator" },
  subjects: [{ kind: "ServiceAccount", name: "operator" }],
};
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "operator" },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        serviceAccountName: "operator",
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            name: "operator",
            image: imageReference(operatorImage()),
            args: ["--leader-elect"],
            env: [{ name: "WATCH_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } }],
            securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
            readinessProbe: { httpGet: { path: "/readyz", port: 8081 }, periodSeconds: 1 },
            livenessProbe: { httpGet: { path: "/healthz", port: 8081 }, periodSeconds: 5 },
          },
        ],
      },
    },
  },
};

beforeAll(async () => {
  await kubectl.run("apply", "--server-side", "--kustomize", join(projectDirectory, "config/crd"));
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "operator" } };
  await namespace.apply(JSON.stringify({ apiVersion: "v1", kind: "List", items: [account, role, binding, deployment] }));
  await bothReady();
});

/** Also the one that takes the place of another. */
async function bothReady(): Promise<void> {
  await eventually("two replicas are ready", 120_000, async () => {
    const pods = await namespace.list("pods", "--selector=app=operator");
    return pods.length === 2 && pods.every(isReady);
  });
}

async function leader(): Promise<string> {
  const lease = await namespace.get("lease", "sampledb-operator");
  const holder: string = lease?.["spec"].holderIdentity ?? "";
  return (
    (await namespace.list("pods", "--selector=app=operator"))
      .map((pod) => pod["metadata"].name as string)
      .find((name) => holder.startsWith(name)) ?? ""
  );
}

/** The reason of the only condition that a Backup has. */
async function said(name: string): Promise<string> {
  return await eventually(`Backup ${name} has a condition`, 60_000, async () => {
    const backup = await namespace.get("backups.sampledb.io", name);
    return backup?.["status"]?.conditions?.[0]?.reason as string | undefined;
  });
}

test("one of them leads, and says what a Backup waits for", async () => {
  const backup = readFileSync(join(projectDirectory, "config/samples/backup_full.yaml"), "utf8");
  await namespace.apply(backup);
  expect(await said("with-backups-full")).toBe("DatabaseMissing");
  expect(await leader()).not.toBe("");
});

test("it makes a database with no right outside of its namespace", async () => {
  const database = await Database.apply(namespace, sampleDB({ name: "small" }));
  await database.waitReady();
  expect(await database.sql("SELECT current_user")).toBe("app");
});

test("a leader that is told to end hands over, and the other goes on", async () => {
  const first = await leader();
  await namespace.run("delete", "pod", first, "--timeout=60s");
  const next = await eventually("another replica leads", 30_000, async () => {
    const name = await leader();
    return name !== "" && name !== first && name;
  });
  expect(next).not.toBe(first);
  await namespace.apply(readFileSync(join(projectDirectory, "config/samples/backup_incremental.yaml"), "utf8"));
  const [, name = ""] = /name: (\S+)/.exec(readFileSync(join(projectDirectory, "config/samples/backup_incremental.yaml"), "utf8")) ?? [];
  expect(await said(name)).toBe("DatabaseMissing");
  await bothReady();
  const restarts = (await namespace.list("pods", "--selector=app=operator"))
    .flatMap((pod) => pod["status"].containerStatuses ?? [])
    .map(({ restartCount }) => restartCount);
  expect(restarts).toEqual([0, 0]);
});

test("run from outside of the cluster it reaches instances through the API server", async () => {
  await scale(0);
  const { namespace: watched = "", kubeconfig } = namespace;
  const outside = new OperatorProcess([`--watch-namespaces=${watched}`, "--health-probe-bind-address=0"], {
    ...{ KUBECONFIG: kubeconfig, POD_NAMESPACE: watched, ENABLE_WEBHOOKS: "false" },
  });
  try {
    const database = await Database.apply(namespace, sampleDB({ name: "outside" }));
    await database.waitReady();
    // The whole version is what only an instance can tell.
    await eventually("an instance was asked", 90_000, async () => /^17\.\d+$/.test((await database.get()).status?.postgresVersion ?? ""));
  } finally {
    await outside.stop();
    await scale(2);
    await bothReady();
  }
});

async function scale(replicas: number): Promise<void> {
  await namespace.run("scale", "deployment", "operator", `--replicas=${replicas}`);
  await eventually(`${replicas} Pods of the operator`, 60_000, async () => {
    return (await namespace.list("pods", "--selector=app=operator")).length === replicas;
  });
}
