// Claims and their volumes: they grow, are kept or let go as the user says, and what never held data stands in nobody's way.
import { beforeAll, describe, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually, eventuallySucceeds } from "../../../tools/eventually.ts";
import { labelsOf } from "../../desired/identity.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { sampledbs } from "../../kinds/sampledb-io.ts";
import { DatabaseStage, installKinds } from "../stage.fixture.ts";
import { bind, ensureStorageClass, storageClasses } from "./volumes.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(async () => {
  await installKinds(plane, client);
  await ensureStorageClass(client, "grows", { allowVolumeExpansion: true });
  await ensureStorageClass(client, "rigid", { allowVolumeExpansion: false });
});

async function open(namespace: string, spec: Parameters<DatabaseStage["create"]>[0]): Promise<DatabaseStage> {
  const stage = await DatabaseStage.open(namespace, client, proxy);
  await stage.run();
  await stage.create(spec);
  await stage.podsAre(...Array.from({ length: spec?.replicas ?? 1 }, (_, ordinal) => `orders-${ordinal}`)); // nobody serves
  return stage;
}

const claimOf = (stage: DatabaseStage, ordinal = 0) => client.get(kinds.persistentVolumeClaims, stage.key(`data-orders-${ordinal}`));
const asked = async (stage: DatabaseStage, ordinal = 0) => (await claimOf(stage, ordinal)).spec?.resources?.requests?.["storage"];

describe("a volume that is to grow", () => {
  test("does while nothing is healthy, and the claim templates stay", async () => {
    await using stage = await open("growing", { replicas: 2, storage: { size: "1Gi", storageClassName: "grows" } });
    for (const ordinal of [0, 1]) await bind(client, stage.key(`data-orders-${ordinal}`), { storageClassName: "grows" });
    await stage.change({ storage: { size: "3Gi" } });
    await eventually("both claims grow", 30_000, async () => (await asked(stage)) === "3Gi" && (await asked(stage, 1)) === "3Gi");
    await stage.change({ replicas: 3 });
    await stage.podsAre("orders-0", "orders-1", "orders-2");
    expect(await asked(stage, 2)).toBe("3Gi");
    const { spec } = await client.get(kinds.statefulSets, stage.key("orders"));
    expect(spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests).toEqual({ storage: "1Gi" });
  });

  test("in a class that can't: a blocker names class and claim, with a way out, and when that is gone it grows by itself", async () => {
    await using stage = await open("rigid", { storage: { size: "1Gi", storageClassName: "rigid" } });
    await bind(client, stage.key("data-orders-0"), { storageClassName: "rigid" });
    await stage.change({ storage: { size: "2Gi" } });
    expect(await stage.blocker()).toMatchObject({
      reason: "VolumeCannotGrow",
      message: expect.stringContaining("data-orders-0"),
      remedy: expect.stringContaining("StorageClass rigid"),
    });
    expect(await asked(stage)).toBe("1Gi");
    await client.mergePatch(storageClasses, { namespace: "", name: "rigid" }, { allowVolumeExpansion: true });
    await eventually("it grows", 60_000, async () => (await asked(stage)) === "2Gi");
  });

  test("and was never made: its claim is made anew, because Kubernetes lets nobody change it", async () => {
    await using stage = await open("unbound", { storage: { size: "1Gi", storageClassName: "grows" } });
    const { uid } = (await claimOf(stage)).metadata;
    await stage.change({ storage: { size: "2Gi" } });
    await eventually("another claim asks for more", 30_000, async () => {
      const now = await client.find(kinds.persistentVolumeClaims, stage.key("data-orders-0"));
      return now && now.metadata.uid !== uid && now.spec?.resources?.requests?.["storage"] === "2Gi";
    });
  });
});

test("a wrong StorageClass is mended by making the SampleDB anew: a claim that never had a volume does not stay", async () => {
  await using stage = await open("mistyped", { replicas: 2, storage: { size: "1Gi", storageClassName: "growz" } });
  await bind(client, stage.key("data-orders-1"), { storageClassName: "growz" }); // this one has data
  const copy = {
    ...(await claimOf(stage)),
    metadata: { name: "data-orders-2", namespace: stage.namespace, labels: (await claimOf(stage)).metadata.labels ?? {} },
  };
  const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "before" };
  await client.create(kinds.persistentVolumeClaims, { ...copy, spec: { ...copy.spec, dataSource } }); // and this one is to have some
  await client.delete(sampledbs, stage.key("orders"));
  await stage.gone(sampledbs, "orders");
  await eventually("what has nothing is gone", 30_000, async () => {
    return (await stage.names(kinds.persistentVolumeClaims)).join() === "data-orders-1,data-orders-2";
  });
  await stage.create({ storage: { size: "1Gi", storageClassName: "grows" } });
  await eventually("its claim is of the right class", 30_000, async () => {
    return (await client.find(kinds.persistentVolumeClaims, stage.key("data-orders-0")))?.spec?.storageClassName === "grows";
  });
});

test("a volume outlives its claim for as long as the user wants that, and no longer", async () => {
  await using stage = await open("released", { storage: { size: "1Gi", storageClassName: "grows" } });
  const fate = { storageClassName: "grows", persistentVolumeReclaimPolicy: "Delete" };
  const volume = await bind(client, stage.key("data-orders-0"), fate);
  const becomes = (policy: string) =>
    eventually(`the volume's policy is ${policy}`, 30_000, async () => {
      return (await client.get(kinds.persistentVolumes, volume)).spec?.persistentVolumeReclaimPolicy === policy;
    });
  await becomes("Retain");
  await stage.change({ deletionPolicy: "Delete" });
  await becomes("Delete");
  await stage.change({ deletionPolicy: "Retain" });
  await becomes("Retain");
});

test("a claim of another component is none of the data: not grown, not scaled away, not deleted with the SampleDB", async () => {
  const stage = await DatabaseStage.open("other-component", client, proxy);
  await using _ = stage;
  const operator = await stage.run();
  const labels = { ...labelsOf(sampleDB()), "sampledb.io/component": "cache" };
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName: "grows" };
  const metadata = { name: "orders-cache", namespace: stage.namespace, labels };
  await client.create(kinds.persistentVolumeClaims, { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec });
  await stage.create({ replicas: 2, deletionPolicy: "Delete", storage: { size: "1Gi", storageClassName: "grows" } });
  await stage.settle("orders-0", "orders-1");
  await bind(client, stage.key("orders-cache"), { storageClassName: "grows" });
  await bind(client, stage.key("data-orders-0"), { storageClassName: "grows" });
  await stage.change({ storage: { size: "2Gi" } });
  await eventually("the data grows", 30_000, async () => (await asked(stage)) === "2Gi");
  await eventuallySucceeds("it has looked again", 10_000, () => stage.again(operator, operator.objects()));
  const other = async () => client.get(kinds.persistentVolumeClaims, stage.key("orders-cache"));
  expect((await other()).spec?.resources?.requests?.["storage"]).toBe("1Gi");
  expect((await other()).metadata).not.toHaveProperty("deletionTimestamp");
  await client.delete(sampledbs, stage.key("orders"));
  for (const name of ["orders-0", "orders-1"]) await client.delete(kinds.pods, stage.key(name), { gracePeriodSeconds: 0 });
  await stage.gone(sampledbs, "orders");
  expect((await other()).metadata).not.toHaveProperty("deletionTimestamp");
});

test("a volume's fate is taken from the claim, not from the memory of one process", async () => {
  const stage = await open("fate", { storage: { size: "1Gi", storageClassName: "grows" } });
  await using _ = stage;
  const volume = await bind(client, stage.key("data-orders-0"), { storageClassName: "grows", persistentVolumeReclaimPolicy: "Delete" });
  const policy = async () => (await client.get(kinds.persistentVolumes, volume)).spec?.persistentVolumeReclaimPolicy;
  const noted = async () => (await claimOf(stage)).metadata.annotations?.["sampledb.io/volume-fate"]?.split("/")[0];
  await eventually("the volume is kept", 30_000, async () => (await policy()) === "Retain" && (await noted()) === "keep");
  // Another replica of the operator has released it since, and the user has changed his mind again.
  const { uid } = (await claimOf(stage)).metadata;
  await client.mergePatch(kinds.persistentVolumes, volume, { spec: { persistentVolumeReclaimPolicy: "Delete" } });
  await client.mergePatch(kinds.persistentVolumeClaims, stage.key("data-orders-0"), {
    metadata: { annotations: { "sampledb.io/volume-fate": `release/${uid}` } },
  });
  await eventually("the volume is kept again", 30_000, async () => (await policy()) === "Retain" && (await noted()) === "keep");
});
