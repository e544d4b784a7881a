// Hibernation, deletion and return of a SampleDB: which instances stop when, which objects stay and which go.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../../../tools/eventually.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { sampledbs } from "../../kinds/sampledb-io.ts";
import { bind } from "../foundation/volumes.fixture.ts";
import { DatabaseStage, installKinds, operatorNamespace } from "../stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

const secrets = ["orders-app", "orders-replication", "orders-superuser", "orders-tls"];
const states = ["orders-config", "orders-failover", "orders-leader", "orders-sync"];
const claims = ["data-orders-0", "data-orders-1", "data-orders-2"];

/** Delays the end of a Pod, as of a busy replica, so that the test sees which instance stops after it. */
async function hold(stage: DatabaseStage, name: string): Promise<() => Promise<void>> {
  await client.mergePatch(kinds.pods, stage.key(name), { metadata: { finalizers: ["example.com/busy"] } });
  return async () => void (await client.mergePatch(kinds.pods, stage.key(name), { metadata: { finalizers: null } }));
}

const range = async (stage: DatabaseStage) => {
  const { spec } = await client.get(kinds.statefulSets, stage.key("orders"));
  return { start: spec?.ordinals?.start ?? 0, count: spec?.replicas };
};
const becomesRange = async (stage: DatabaseStage, start: number, count: number) =>
  await eventually(`the range is ${start}+${count}`, 30_000, async () => {
    const now = await range(stage);
    return now.start === start && now.count === count;
  });
const unlock = (stage: DatabaseStage) =>
  client.mergePatch(kinds.configMaps, stage.key("orders-leader"), { metadata: { annotations: { leader: null } } });

/** The candidate of Patroni's open order. */
const namedBy = async (stage: DatabaseStage) =>
  (await client.get(kinds.configMaps, stage.key("orders-failover"))).metadata.annotations?.["member"];

/** The first of the given instances leads. */
async function open(
  namespace: string,
  spec: Parameters<DatabaseStage["create"]>[0],
  [primary, ...replicas]: readonly [string, ...string[]] = ["orders-1", "orders-0", "orders-2"],
): Promise<DatabaseStage> {
  const stage = await DatabaseStage.open(namespace, client, proxy);
  await stage.run();
  await stage.create({ replicas: 3, ...spec });
  await stage.settle(primary, ...replicas);
  return stage;
}

test("hibernation stops replicas, then the primary, and leaves volumes; on waking, the last primary starts first and alone", async () => {
  await using stage = await open("asleep", {});
  const letGo = await hold(stage, "orders-2");
  await stage.change({ powerState: "Hibernated" });
  await becomesRange(stage, 1, 1);
  await eventually("one replica has stopped, and the other is at it", 30_000, async () => !(await stage.podNames()).includes("orders-0"));
  await stage.becomes("Hibernating");
  expect(await stage.podNames()).toEqual(["orders-1", "orders-2"]);
  expect((await client.get(kinds.pods, stage.key("orders-1"))).metadata.deletionTimestamp).toBeUndefined();
  const { metadata } = await client.get(kinds.configMaps, stage.key("orders-leader"));
  expect(metadata.annotations?.["sampledb.io/last-primary"]).toBe("orders-1");
  await letGo();
  await stage.podsAre();
  await unlock(stage); // as a primary does that stops cleanly
  await stage.becomes("Hibernated");
  expect(await stage.names(kinds.persistentVolumeClaims)).toEqual(claims);
  expect(await stage.condition("Initialized")).toMatchObject({ status: "True" });

  await stage.change({ powerState: "Running" });
  await stage.podsAre("orders-1");
  expect(await range(stage)).toEqual({ start: 1, count: 1 });
  await stage.serve("orders-1");
  await stage.serve("orders-1", "orders-0", "orders-2");
  await stage.becomes("AllInstancesReady");
  expect(await stage.names(kinds.jobs)).toEqual([]); // it is initialized once
});

describe("deletion", () => {
  test("with Retain stops the primary last and leaves all kept objects; a new SampleDB starts from the last primary", async () => {
    await using stage = await open("retained", {});
    for (const name of claims) await bind(client, stage.key(name));
    const password = (await client.get(kinds.secrets, stage.key("orders-app"))).data?.["password"];
    const letGo = await hold(stage, "orders-2");
    await client.delete(sampledbs, stage.key("orders"));
    await becomesRange(stage, 1, 1);
    await eventually("a replica has stopped", 30_000, async () => !(await stage.podNames()).includes("orders-0"));
    expect((await stage.becomes("Deleting")).message).toMatch(/volumes and passwords stay/);
    expect((await client.get(kinds.pods, stage.key("orders-1"))).metadata.deletionTimestamp).toBeUndefined();
    await letGo();
    await stage.gone(sampledbs, "orders");
    await unlock(stage);
    await stage.gone(kinds.statefulSets, "orders");
    await eventually("what was owned is gone", 80_000, async () => (await stage.names(kinds.services)).length === 0);
    expect(await stage.names(kinds.persistentVolumeClaims)).toEqual(claims);
    expect(await stage.names(kinds.secrets)).toEqual(secrets);
    expect((await stage.names(kinds.configMaps)).filter((name) => name.startsWith("orders-"))).toEqual(states);
    expect(await stage.names(kinds.secrets, operatorNamespace)).toContain("authority.retained.orders");

    await stage.create({ replicas: 1 });
    await stage.podsAre("orders-1"); // its ordinal is beyond replicas, but it has the newest data
    expect((await client.get(kinds.secrets, stage.key("orders-app"))).data?.["password"]).toBe(password);
    await stage.serve("orders-1");
    await stage.serve("orders-1", "orders-0");
    await eventually("a switchover is ordered to the one that is to stay", 30_000, async () => {
      const { annotations } = (await client.get(kinds.configMaps, stage.key("orders-failover"))).metadata;
      return annotations?.["leader"] === "orders-1" && annotations["member"] === "orders-0";
    });
    expect(await stage.podNames()).toEqual(["orders-0", "orders-1"]);
    await stage.handOver("orders-1", "orders-0");
    await stage.podsAre("orders-0");
    await sleep(1500);
    expect(await stage.names(kinds.persistentVolumeClaims)).toEqual(claims); // scaling down does not destroy data
  });

  test("with Delete leaves no object of the SampleDB, and every object of another SampleDB", async () => {
    await using stage = await open("destroyed", { deletionPolicy: "Delete" });
    await stage.create({}, "orders-app");
    await stage.podsAre("orders-0", "orders-1", "orders-2", "orders-app-0");
    await client.delete(sampledbs, stage.key("orders"));
    await stage.gone(sampledbs, "orders");
    await eventually("what was owned is gone", 80_000, async () => (await stage.names(kinds.services)).length === 3);
    const left = async (resource: Parameters<DatabaseStage["names"]>[0]) =>
      (await stage.names(resource)).filter((name) => !name.includes("orders-app-"));
    // No Pod uses the claims any more, so they go at once.
    await eventually("claims are gone", 30_000, async () => (await left(kinds.persistentVolumeClaims)).length === 0);
    expect(await left(kinds.secrets)).toEqual([]);
    expect((await left(kinds.configMaps)).filter((name) => name.startsWith("orders"))).toEqual([]);
    expect(await stage.names(kinds.secrets, operatorNamespace)).not.toContain("authority.destroyed.orders");
    expect(await stage.names(kinds.secrets)).toEqual(secrets.map((name) => name.replace("orders-", "orders-app-")));
    expect(await stage.names(kinds.persistentVolumeClaims)).toEqual(["data-orders-app-0"]);
    expect(await stage.podNames()).toEqual(["orders-app-0"]);
  });
});

test("when a namespace is deleted, its volumes are retained, and an Event in the operator's namespace names them", async () => {
  await using stage = await DatabaseStage.open("doomed", client, proxy);
  await stage.run();
  await stage.create({});
  await stage.serve("orders-0");
  const key = await bind(client, stage.key("data-orders-0"), { persistentVolumeReclaimPolicy: "Delete" });
  const volume = () => client.get(kinds.persistentVolumes, key);
  await eventually("it is to stay", 30_000, async () => (await volume()).spec?.persistentVolumeReclaimPolicy === "Retain");

  await client.delete(kinds.namespaces, { namespace: "", name: "doomed" });
  await eventually(
    "the namespace is gone",
    60_000,
    async () => (await client.find(kinds.namespaces, { namespace: "", name: "doomed" })) === undefined,
  );
  await eventually("the volume is free", 60_000, async () => (await volume()).status?.phase === "Released");
  expect((await volume()).spec?.persistentVolumeReclaimPolicy).toBe("Retain");
  const told = (await client.list(kinds.events, { namespace: operatorNamespace })).items.map(({ note }) => note);
  expect(told).toEqual([expect.stringMatching(/^doomed-data-orders-0 \(data-orders-0\) have the data of SampleDB doomed\/orders,/)]);
});

test("on scaling down with Delete, a primary beyond replicas hands over before it goes, and then the claims go", async () => {
  await using stage = await open("shrunk", { deletionPolicy: "Delete" });
  await stage.change({ replicas: 1 });
  await eventually("a switchover is ordered", 30_000, async () => (await namedBy(stage)) === "orders-0");
  expect(await stage.podNames()).toEqual(expect.arrayContaining(["orders-0", "orders-1"]));
  expect(await stage.names(kinds.persistentVolumeClaims)).toEqual(claims);
  await stage.handOver("orders-1", "orders-0");
  await stage.podsAre("orders-0");
  await eventually(
    "the claims of the others are gone",
    30_000,
    async () => (await stage.names(kinds.persistentVolumeClaims)).join() === "data-orders-0",
  );
});

test("a SampleDB does not start the orphaned StatefulSet of an earlier SampleDB of its name", async () => {
  await using stage = await open("orphaned", { replicas: 1 }, ["orders-0"]);
  await plane.kubectl("--namespace=orphaned", "delete", "sampledb", "orders", "--cascade=orphan");
  await stage.create({ image: "example.invalid/another:17" });
  await stage.becomes("NameTaken");
  expect(await range(stage)).toMatchObject({ count: 0 });
  expect(await stage.names(kinds.jobs)).toEqual([]);
});

test("no instance is taken away while the data is made; after a deletion meanwhile, the next SampleDB makes the data", async () => {
  await using stage = await DatabaseStage.open("cut-short", client, proxy);
  await stage.run();
  await stage.create({ replicas: 3 });
  await stage.podsAre("orders-0", "orders-1", "orders-2");
  await stage.beginMaking(); // by any of them
  await stage.change({ replicas: 1 });
  await eventually("the change is seen", 30_000, async () => {
    const { metadata, status } = await client.get(sampledbs, stage.key("orders"));
    return status?.observedGeneration === metadata.generation;
  });
  expect(await range(stage)).toEqual({ start: 0, count: 3 });

  await client.delete(sampledbs, stage.key("orders"));
  await stage.gone(sampledbs, "orders");
  await stage.gone(kinds.statefulSets, "orders");
  const making = async () => (await client.get(kinds.configMaps, stage.key("orders-config"))).metadata.annotations?.["initialize"];
  expect(await making()).toBe("");
  await stage.create({ replicas: 1 });
  await stage.podsAre("orders-0");
  expect(await making()).toBeUndefined();
});

test("on scaling down, the primary hands over only when commits can wait for every instance that stays", async () => {
  await using stage = await open("early", { synchronousReplication: "Preferred" }, ["orders-2", "orders-0", "orders-1"]);
  await stage.commitsWaitFor("orders-2", "orders-0"); // and not yet for orders-1, which has just been made
  await stage.becomes("ReplicasBehind");
  await stage.change({ replicas: 2 });
  await stage.becomes("Scaling");
  expect(await namedBy(stage)).toBeUndefined();
  await stage.commitsWaitFor("orders-2", "orders-0", "orders-1");
  await eventually("a switchover is ordered", 30_000, async () => (await namedBy(stage)) !== undefined);
});

test("the candidate of an order is noted until it leads, because Patroni removes the order before it asks may-promote", async () => {
  await using stage = await open("named", {});
  const noted = async () => (await client.get(kinds.configMaps, stage.key("orders-failover"))).metadata.annotations?.["sampledb.io/named"];
  await client.mergePatch(sampledbs, stage.key("orders"), { metadata: { annotations: { "sampledb.io/switchover": "orders-0" } } });
  await eventually("it is ordered", 30_000, async () => (await namedBy(stage)) === "orders-0");
  expect(await noted()).toBe("orders-0");
  await unlock(stage);
  await client.mergePatch(kinds.configMaps, stage.key("orders-failover"), { metadata: { annotations: { leader: null, member: null } } });
  await stage.becomes("NoPrimary");
  expect(await noted()).toBe("orders-0");
  await stage.handOver("orders-1", "orders-0");
  await eventually("nothing is left of it", 30_000, async () => (await noted()) === undefined);
});

test("Patroni's order is taken back when no instance carries it out, or none would be elected; a scheduled one stays", async () => {
  await using hanging = await open("hanging", {});
  await using later = await open("later", {});
  const order = { leader: "orders-1", member: "orders-0" };
  const write = (stage: DatabaseStage, annotations: object) =>
    client.mergePatch(kinds.configMaps, stage.key("orders-failover"), { metadata: { annotations } });
  const orders = async (stage: DatabaseStage) => {
    const { leader, member } = (await client.get(kinds.configMaps, stage.key("orders-failover"))).metadata.annotations ?? {};
    return { leader, member };
  };
  await write(later, { ...order, scheduled_at: "2100-01-01T00:00:00+00:00" });
  const begin = performance.now();
  await write(hanging, order);
  await eventually("it is taken back", 60_000, async () => (await orders(hanging)).member === undefined);
  expect(performance.now() - begin).toBeGreaterThan(20_000); // handing over takes its time
  expect(await orders(hanging)).toEqual({});
  expect(await orders(later)).toEqual(order);
});
