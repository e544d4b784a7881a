// The guards against deleting databases by mistake, on a real API server: the policies without an operator, and the webhook.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { persistentVolumeClaims } from "../controllers/kinds/kubernetes.ts";
import { backups, type SampleDB, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import { startSuiteAlone } from "../e2e/faults/suite.fixture.ts";
import { eventually } from "../tools/eventually.ts";
import { type Guard, startGuard } from "./operator-process.fixture.ts";

const config = join(import.meta.dirname, "../config");
const { plane, connection } = await startSuiteAlone();
const { client } = connection;
const kubectl = (...args: string[]) => plane.kubectl(...args);

/** Creates a namespace with SampleDBs, each with a name and its deletion fields. */
async function namespaceWith(name: string, databases: Readonly<Record<string, Partial<SampleDB["spec"]>>> = {}): Promise<void> {
  await kubectl("create", "namespace", name);
  for (const [database, deletion] of Object.entries(databases)) {
    const spec = { postgresVersion: 17, storage: { size: "1Gi" }, ...deletion } as SampleDB["spec"];
    await client.create(sampledbs, {
      apiVersion: sampledbs.apiVersion,
      kind: sampledbs.kind,
      metadata: { name: database, namespace: name },
      spec,
    });
  }
}

const names = async (namespace: string) => (await client.list(sampledbs, { namespace })).items.map(({ metadata }) => metadata.name);

/** The API server's refusal of a dry-run deletion; empty when it would succeed. */
async function refusal(...what: string[]): Promise<string | undefined> {
  return await kubectl("delete", ...what, "--dry-run=server").then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/** Policies and their parameters reach admission with a delay. */
async function refusedIn(namespace: string): Promise<string> {
  return await eventually(`namespace ${namespace} can't be deleted`, 60_000, () => refusal("namespace", namespace));
}

const applyPolicies = () => kubectl("apply", "--server-side", "--kustomize", join(config, "policy"));

async function withoutNamespacePolicy(): Promise<void> {
  await kubectl("delete", "validatingadmissionpolicybinding", "sampledb-namespace-deletion", "--ignore-not-found");
  await eventually("the policy is not asked any more", 60_000, async () => (await refusal("namespace", "probe")) === undefined);
}

beforeAll(async () => {
  await kubectl("apply", "--server-side", "--kustomize", join(config, "crd"));
  await kubectl("wait", "--for=condition=Established", "crd", "--all");
  await applyPolicies();
  await namespaceWith("probe", { probe: { deletionProtection: true } });
  await refusedIn("probe");
  await eventually("the protection is in force", 60_000, () => refusal("sampledb", "probe", "--namespace=probe"));
});

describe("deletionProtection, without an operator", () => {
  test("refuses a deletion and says what to do; after that the deletion succeeds", async () => {
    await namespaceWith("single", { orders: { deletionProtection: true } });
    await expect(kubectl("delete", "sampledb", "orders", "--namespace=single")).rejects.toThrow(
      /SampleDB single\/orders is protected: set spec\.deletionProtection to false first/,
    );
    await client.mergePatch(sampledbs, { namespace: "single", name: "orders" }, { spec: { deletionProtection: false } });
    await kubectl("delete", "sampledb", "orders", "--namespace=single");
    expect(await names("single")).toEqual([]);
  });

  test("keeps the protected one of several SampleDBs", async () => {
    await namespaceWith("several", { a: {}, b: { deletionProtection: true }, c: {} });
    await expect(kubectl("delete", "sampledb", "--all", "--namespace=several")).rejects.toThrow(/SampleDB several\/b is protected/);
    expect(await names("several")).toEqual(["b"]);
  });

  test("holds when the whole collection is deleted in one request, which names no object", async () => {
    await namespaceWith("collection", { a: {}, b: { deletionProtection: true } });
    const answer = await plane.request("DELETE", "/apis/sampledb.io/v1alpha1/namespaces/collection/sampledbs");
    expect(answer).toMatchObject({ status: 403, body: { message: expect.stringContaining("SampleDB collection/b is protected") } });
    expect(await names("collection")).toContain("b");
  });

  test("holds against the garbage collector", async () => {
    await namespaceWith("owned", { a: { deletionProtection: true }, b: {} });
    await kubectl("create", "configmap", "owner", "--namespace=owned");
    const uid = await kubectl("get", "configmap", "owner", "--namespace=owned", "--output=jsonpath={.metadata.uid}");
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
    for (const name of ["a", "b"]) await client.mergePatch(sampledbs, { namespace: "owned", name }, { metadata: { ownerReferences } });
    await kubectl("delete", "configmap", "owner", "--namespace=owned");
    await eventually("the other one is collected", 60_000, async () => !(await names("owned")).includes("b"));
    expect(await names("owned")).toEqual(["a"]);
  });
});

describe("a namespace, without an operator", () => {
  test.each([
    ["a SampleDB with Retain", "kept", { orders: { deletionPolicy: "Retain" } }],
    ["a SampleDB with Delete that is protected", "guarded", { orders: { deletionPolicy: "Delete", deletionProtection: true } }],
    ["a SampleDB with Retain among others", "mixed", { a: { deletionPolicy: "Delete" }, orders: { deletionPolicy: "Retain" } }],
  ] as const)("with %s is not deleted", async (_, namespace, databases) => {
    await namespaceWith(namespace, databases);
    expect(await refusedIn(namespace)).toMatch(
      new RegExp(`namespace ${namespace} holds SampleDBs whose data would go with it, one of them is orders .* Delete them first; or`),
    );
    await expect(kubectl("delete", "namespace", namespace)).rejects.toThrow(/one of them is orders/);
  });

  test("can be deleted when all its SampleDBs may go, when it has none, and when they are gone", async () => {
    await namespaceWith("empty");
    await namespaceWith("disposable", { a: { deletionPolicy: "Delete" }, b: { deletionPolicy: "Delete" } });
    await namespaceWith("emptied", { a: {} });
    await refusedIn("emptied"); // by now the policy knows the other namespaces as well
    await kubectl("delete", "namespace", "empty", "disposable", "--timeout=60s");
    await kubectl("delete", "sampledb", "--all", "--namespace=emptied");
    await eventually("it can be deleted", 60_000, async () => (await refusal("namespace", "emptied")) === undefined);
  });

  test("that is being deleted anyway is not blocked by a protected SampleDB", async () => {
    await namespaceWith("forced", { orders: { deletionProtection: true } });
    await withoutNamespacePolicy();
    await kubectl("delete", "namespace", "forced", "--timeout=60s");
    await expect(kubectl("get", "namespace", "forced")).rejects.toThrow(/not found/);
  });
});

describe("what is left of a SampleDB that was deleted with Snapshot, without an operator", () => {
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name: "orders-repository",
      namespace: "left",
      labels: { "sampledb.io/component": "repository", "app.kubernetes.io/managed-by": "sampledb-operator" },
    },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
  const condition = {
    type: "Succeeded",
    status: "True",
    reason: "BackupSucceeded",
    message: "",
    lastTransitionTime: "2026-05-04T12:00:00Z",
  };

  test("keeps the namespace and the repository's claim while the Backup is there, and warns where that is deleted", async () => {
    await namespaceWith("left");
    await client.create(persistentVolumeClaims, claim as never);
    const metadata = { name: "orders-final-12345678", namespace: "left", labels: { "sampledb.io/final": "true" } };
    const spec = { sampleDBName: "orders", type: "Incremental", deletionPolicy: "Retain" } as const;
    const key = { namespace: "left", name: metadata.name };
    await client.create(backups, { apiVersion: backups.apiVersion, kind: "Backup", metadata, spec });
    expect(await refusal("pvc", "orders-repository", "--namespace=left")).toBeUndefined(); // it is not good yet
    const status = { conditions: [condition], repository: { stanza: "uid-17-1", volumeClaimName: "orders-repository" } };
    await client.mergePatch(backups, key, { status }, { subresource: "status" });
    expect(await refusedIn("left")).toMatch(
      /all that is left of SampleDB orders, .* Backup orders-final-12345678\. Restore it elsewhere; or/,
    );
    const ofClaim = await eventually("the claim can't be deleted", 60_000, () => refusal("pvc", "orders-repository", "--namespace=left"));
    expect(ofClaim).toMatch(
      /Backup orders-final-12345678 of SampleDB orders lies in claim orders-repository: .* delete the Backups in it first/,
    );
    const warned = await plane.request("DELETE", "/apis/sampledb.io/v1alpha1/namespaces/left/backups/orders-final-12345678?dryRun=All");
    expect(warned?.status).toBe(200);
    await kubectl("delete", "backup", metadata.name, "--namespace=left");
    await eventually(
      "both can be deleted",
      60_000,
      async () => (await refusal("pvc", "orders-repository", "--namespace=left")) === undefined,
    );
    await eventually("both can be deleted", 60_000, async () => (await refusal("namespace", "left")) === undefined);
  });
});

describe("a namespace, with the operator and without the policy", () => {
  let guard: Guard;

  beforeAll(async () => {
    await withoutNamespacePolicy();
    const isAsked = async () => (await refusal("namespace", "probe"))?.includes("denied the request");
    guard = await startGuard(client, plane.kubeconfig, isAsked);
  });
  afterAll(() => guard?.stop());

  test("can't be deleted, and the SampleDBs that keep it are named or counted", async () => {
    await namespaceWith("many", {
      e: { deletionProtection: true, deletionPolicy: "Delete" },
      d: {},
      c: {},
      b: {},
      a: { deletionPolicy: "Delete" },
    });
    await eventually("the operator knows all of them", 30_000, async () => (await refusal("namespace", "many"))?.includes("more"));
    await expect(kubectl("delete", "namespace", "many")).rejects.toThrow(
      /\(Forbidden\): admission webhook "namespaces\.validate\.sampledb\.io" denied the request: namespace many holds .* with it: b, c, d, 1 more\. Delete them first; or/,
    );
  });

  test("can be deleted when all its SampleDBs may go, and when it has none", async () => {
    await namespaceWith("nothing");
    await namespaceWith("rest", { a: { deletionPolicy: "Delete" } });
    await kubectl("delete", "namespace", "nothing", "rest", "--timeout=60s");
  });

  test("can be deleted while the operator is away; the policy keeps those with databases", async () => {
    await guard.operator.stop();
    await namespaceWith("others");
    await kubectl("delete", "namespace", "others", "--timeout=60s");
    expect(await refusal("namespace", "probe")).toBeUndefined();
    await applyPolicies();
    expect(await refusedIn("probe")).toContain("ValidatingAdmissionPolicy 'sampledb-namespace-deletion'");
  });
});
