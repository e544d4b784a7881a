// What the controller leaves alone, and what it says then.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { startSuite } from "../../e2e/faults/suite.fixture.ts";
import type { KubeObject } from "../../runtime/kube/object.ts";
import { clusterScoped, namespaced, type Resource } from "../../runtime/kube/resource.ts";
import { TestConnection } from "../../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import * as kinds from "../kinds.ts";
import { sampledbs } from "../resources.ts";
import { DatabaseStage, installKinds } from "./stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);
const storageClasses = clusterScoped<KubeObject & Record<string, unknown>>("storage.k8s.io/v1", "StorageClass", "storageclasses");
const volumes = clusterScoped<KubeObject & Record<string, unknown>>("v1", "PersistentVolume", "persistentvolumes");

beforeAll(async () => {
  await installKinds(plane, client);
  for (const [name, allowVolumeExpansion] of [
    ["grows", true],
    ["rigid", false],
  ] as const) {
    const metadata = { name };
    await client.create(storageClasses, {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata,
      provisioner: "example.com/none",
      allowVolumeExpansion,
    });
  }
});

describe("an object of a needed name that someone else made", () => {
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const selector = { app: "theirs" };
  test.each<[string, Resource, string, object]>([
    ["secret", kinds.secrets, "orders-app", { stringData: { password: "theirs" } }],
    ["service", kinds.services, "orders-rw", { spec: { selector, ports: [{ port: 80 }] } }],
    ["config", kinds.configMaps, "orders-config", { data: { mine: "yes" } }],
    ["account", kinds.serviceAccounts, "orders-instance", {}],
    ["claim", kinds.persistentVolumeClaims, "data-orders-0", { spec }],
    ["budget", kinds.podDisruptionBudgets, "orders", { spec: { maxUnavailable: 1, selector: { matchLabels: selector } } }],
  ])(
    "%s: NameTaken with its name, and not a byte of it is changed, nor is it destroyed with the SampleDB",
    async (what, resource, name, content) => {
      await using stage = await DatabaseStage.open(`taken-${what}`, client, proxy);
      const { apiVersion, kind } = resource;
      await client.create(resource, { apiVersion, kind, metadata: { name, namespace: stage.namespace }, ...content } as KubeObject);
      await sleep(500); // the controllers of Kubernetes write on some kinds of their own accord
      const before = await client.get(resource, stage.key(name));
      await stage.run();
      await stage.create({ replicas: 2, deletionPolicy: "Delete" });
      const { message, status } = await stage.becomes("NameTaken");
      expect(message).toContain(`${kind} ${stage.namespace}/${name} `);
      expect(status).toBe("False");
      // No Pod takes a stranger's volume or password for its own.
      if (what === "claim" || what === "secret") expect(await client.find(kinds.statefulSets, stage.key("orders"))).toBeUndefined();
      const unchanged = async () => {
        const { metadata, status: _, ...rest } = (await client.get(resource, stage.key(name))) as KubeObject & { status?: unknown };
        const { status: __, ...was } = before as KubeObject & { status?: unknown };
        const { uid, labels, annotations, ownerReferences } = before.metadata;
        expect({
          ...rest,
          uid: metadata.uid,
          labels: metadata.labels,
          annotations: metadata.annotations,
          owners: metadata.ownerReferences,
        }).toEqual({
          ...{ ...was, metadata: undefined, uid, labels, annotations, owners: ownerReferences },
        });
      };
      await unchanged();
      await client.delete(sampledbs, stage.key("orders"));
      await stage.gone(sampledbs, "orders");
      await unchanged();
    },
  );

  test("goes: the SampleDB goes on by itself", async () => {
    await using stage = await DatabaseStage.open("freed", client, proxy);
    const metadata = { name: "orders-superuser", namespace: stage.namespace };
    await client.create(kinds.secrets, { apiVersion: "v1", kind: "Secret", metadata });
    await stage.run();
    await stage.create();
    await stage.becomes("NameTaken");
    await client.delete(kinds.secrets, stage.key("orders-superuser"));
    await stage.becomes("Provisioning");
  });
});

test("a spec that the webhook would have refused: InvalidSpec, nothing is made, and a correction is enough", async () => {
  await using stage = await DatabaseStage.open("invalid", client, proxy);
  await stage.run();
  await stage.create({ postgresql: { parameters: { wrok_mem: "4MB" } } });
  const { message } = await stage.becomes("InvalidSpec");
  expect(message).toContain("spec.postgresql.parameters[wrok_mem]");
  expect(await stage.names(kinds.services)).toEqual([]);
  expect(await stage.names(kinds.statefulSets)).toEqual([]);
  await stage.change({ postgresql: { parameters: { wrok_mem: null, work_mem: "4MB" } } });
  await stage.podsAre("orders-0");
});

test("paused: nothing is made; what is there is not mended and stays initialized; then all of it is", async () => {
  await using stage = await DatabaseStage.open("paused", client, proxy);
  await stage.run();
  await stage.create({ paused: true });
  await eventually("it has been looked at", 30_000, () => stage.condition("Ready"));
  await sleep(1000);
  expect(await stage.names(kinds.statefulSets)).toEqual([]);
  expect(await stage.names(kinds.secrets)).toEqual([]);
  await stage.change({ paused: false });
  await stage.serve("orders-0");
  await stage.initialize("orders");
  await stage.becomes("AllInstancesReady");
  await stage.change({ paused: true });
  await eventually("it has been looked at", 30_000, async () => {
    const { metadata, status } = await client.get(sampledbs, stage.key("orders"));
    return status?.observedGeneration === metadata.generation;
  });
  expect(await stage.condition("Initialized")).toMatchObject({ status: "True" });
  expect(await stage.condition("Ready")).toMatchObject({ status: "True" });
  await client.delete(kinds.services, stage.key("orders-ro"));
  await sleep(2000);
  expect(await stage.names(kinds.services)).not.toContain("orders-ro");
  expect(await stage.names(kinds.jobs)).toEqual([]);
  await stage.change({ paused: false });
  await eventually("the Service is back", 30_000, () => client.find(kinds.services, stage.key("orders-ro")));
  await stage.becomes("AllInstancesReady");
  expect(await stage.names(kinds.jobs)).toEqual([]);
});

describe("storage that grows", () => {
  /** As a provisioner would. */
  async function bind(stage: DatabaseStage, name: string, storageClassName: string): Promise<void> {
    const claimRef = { namespace: stage.namespace, name, apiVersion: "v1", kind: "PersistentVolumeClaim" };
    const hostPath = { path: "/nonexistent" };
    const spec = { storageClassName, capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], claimRef, hostPath };
    await client.create(volumes, { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: `${stage.namespace}-${name}` }, spec });
    await eventually(`${name} is bound`, 30_000, async () => {
      return (await client.find(kinds.persistentVolumeClaims, stage.key(name)))?.status?.phase === "Bound";
    });
  }

  const asked = async (stage: DatabaseStage, name: string) =>
    (await client.get(kinds.persistentVolumeClaims, stage.key(name))).spec?.resources?.requests?.["storage"];

  test("is grown while nothing is healthy, and the claim templates stay", async () => {
    await using stage = await DatabaseStage.open("growing", client, proxy);
    await stage.run();
    await stage.create({ replicas: 2, storage: { size: "1Gi", storageClassName: "grows" } });
    await stage.podsAre("orders-0", "orders-1"); // nobody serves
    for (const ordinal of [0, 1]) await bind(stage, `data-orders-${ordinal}`, "grows");
    await stage.change({ storage: { size: "3Gi" } });
    await eventually("both claims grow", 30_000, async () => {
      return (await asked(stage, "data-orders-0")) === "3Gi" && (await asked(stage, "data-orders-1")) === "3Gi";
    });
    await stage.change({ replicas: 3 });
    await stage.podsAre("orders-0", "orders-1", "orders-2");
    expect(await asked(stage, "data-orders-2")).toBe("3Gi");
    const { spec } = await client.get(kinds.statefulSets, stage.key("orders"));
    expect(spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests).toEqual({ storage: "1Gi" });
  });

  test("in a class that can't: a blocker names class and claim, with a way out, and when that is gone it grows by itself", async () => {
    await using stage = await DatabaseStage.open("rigid", client, proxy);
    await stage.run();
    await stage.create({ storage: { size: "1Gi", storageClassName: "rigid" } });
    await stage.podsAre("orders-0");
    await bind(stage, "data-orders-0", "rigid");
    await stage.change({ storage: { size: "2Gi" } });
    expect(await stage.blocker()).toMatchObject({
      reason: "VolumeCannotGrow",
      message: expect.stringContaining("data-orders-0"),
      remedy: expect.stringContaining("StorageClass rigid"),
    });
    expect(await asked(stage, "data-orders-0")).toBe("1Gi");
    await client.mergePatch(storageClasses, { namespace: "", name: "rigid" }, { allowVolumeExpansion: true });
    await eventually("it grows", 60_000, async () => (await asked(stage, "data-orders-0")) === "2Gi");
  });
});

describe("a quota that leaves no room for a Pod", () => {
  const quotas = namespaced<KubeObject & { readonly spec: object }>("v1", "ResourceQuota", "resourcequotas");

  test("the blocker has the quota's own words, and goes when there is room", { timeout: 240_000 }, async () => {
    await using stage = await DatabaseStage.open("quota", client, proxy);
    const { namespace } = stage;
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "small", namespace }, spec: { hard: { pods: "1" } } };
    await client.create(quotas, quota);
    await stage.run();
    await stage.create({ replicas: 2 });
    expect(await stage.blocker(60_000)).toMatchObject({
      reason: "PodRefused",
      message: expect.stringMatching(/^StatefulSet orders can't make a Pod: .*exceeded quota: small/),
      remedy: expect.stringContaining("kubectl describe statefulset orders"),
    });
    await client.delete(quotas, stage.key("small"));
    // The StatefulSet's controller waits twice as long before each try.
    await eventually("there is room", 120_000, async () => (await stage.podNames()).length === 2);
    await eventually(
      "the blocker is gone",
      30_000,
      async () => !(await client.get(sampledbs, stage.key("orders"))).status?.blockers?.length,
    );
  });
});
