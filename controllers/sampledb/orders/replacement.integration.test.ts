// The order to make an instance anew: its volume goes once, and no other volume does.
import { beforeAll, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../../../tools/eventually.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { sampledbs } from "../../kinds/sampledb-io.ts";
import { DatabaseStage, installKinds } from "../stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

const annotation = "sampledb.io/replace-instance";
const order = (stage: DatabaseStage, value: string | null) =>
  client.mergePatch(sampledbs, stage.key("orders"), { metadata: { annotations: { [annotation]: value } } });
const ordered = async (stage: DatabaseStage) => (await client.get(sampledbs, stage.key("orders"))).metadata.annotations?.[annotation];
const settled = (stage: DatabaseStage) => eventually("the order is taken off", 60_000, async () => (await ordered(stage)) === undefined);
const claims = async (stage: DatabaseStage) => {
  const { items } = await client.list(kinds.persistentVolumeClaims, { namespace: stage.namespace });
  return Object.fromEntries(items.map(({ metadata: { name, uid } }) => [name, uid]));
};
const notes = async (stage: DatabaseStage) =>
  (await client.list(kinds.events, { namespace: stage.namespace })).items.map(({ note }) => note);

/** orders-1 leads. */
async function open(namespace: string): Promise<DatabaseStage> {
  const stage = await DatabaseStage.open(namespace, client, proxy);
  await stage.run();
  await stage.create({ replicas: 3 });
  await stage.settle("orders-1", "orders-0", "orders-2");
  return stage;
}

async function madeAnew(stage: DatabaseStage, name: string, before: Awaited<ReturnType<typeof claims>>): Promise<void> {
  await settled(stage);
  await eventually(`${name} has a new volume`, 30_000, async () => (await claims(stage))[name] !== undefined);
  const { [name]: former, ...others } = before;
  const { [name]: next, ...untouched } = await claims(stage);
  expect(next).not.toBe(former);
  expect(untouched).toEqual(others);
}

test("the order replaces the claim and the Pod of the instance, and then the annotation goes", async () => {
  await using stage = await open("replaced");
  const before = await claims(stage);
  const { uid } = (await client.get(kinds.pods, stage.key("orders-2"))).metadata;
  await order(stage, "orders-2");
  await madeAnew(stage, "data-orders-2", before);
  await eventually("its Pod is another", 30_000, async () => {
    const pod = await client.find(kinds.pods, stage.key("orders-2"));
    return pod && pod.metadata.uid !== uid;
  });
  expect(await notes(stage)).toContainEqual("orders-2 begins with an empty volume");
});

test("an order whose claim is gone already is settled without deleting the new claim, as after a kill of the operator", async () => {
  await using stage = await open("resumed");
  const before = await claims(stage);
  await order(stage, "orders-2/the-uid-of-the-volume-that-went");
  await settled(stage);
  expect(await claims(stage)).toEqual(before);
});

test.each([
  ["the primary", "orders-1", "orders-1 is the primary: switch over first"],
  ["one beyond replicas", "orders-3", "there is no instance orders-3"],
  ["another database's instance, whose name ends like ours", "other-orders-2", "there is no instance other-orders-2"],
])("%s is not replaced: the order is dropped, and an Event says why", async (what, name, why) => {
  await using stage = await open(`refused-${what.split(" ")[0]}`);
  const before = await claims(stage);
  await order(stage, name);
  await settled(stage);
  await eventually("it is told", 30_000, async () => (await notes(stage)).includes(`${why}; the order is dropped`));
  expect(await claims(stage)).toEqual(before);
});

test("the order waits while there is no primary to copy from, with a blocker, and then goes on", async () => {
  await using stage = await open("waits");
  const before = await claims(stage);
  const status = { conditions: [{ type: "Ready", status: "False" }] };
  await client.mergePatch<kinds.Pod>(kinds.pods, stage.key("orders-1"), { status }, { subresource: "status" });
  await stage.becomes("NoPrimary");
  await order(stage, "orders-2");
  expect(await stage.blocker()).toMatchObject({ reason: "ReplacementWaits", message: expect.stringContaining("orders-2") });
  expect(await claims(stage)).toEqual(before);
  await stage.handOver("orders-1", "orders-0");
  await madeAnew(stage, "data-orders-2", before);
});

test("on waking without the last primary's volume, the order starts the others, and replaces it when one of them leads", async () => {
  await using stage = await open("woken");
  const before = await claims(stage);
  await stage.change({ powerState: "Hibernated" });
  await stage.becomes("Hibernated");
  await client.mergePatch(kinds.configMaps, stage.key("orders-leader"), { metadata: { annotations: { leader: null } } });
  await stage.change({ powerState: "Running" });
  await stage.podsAre("orders-1"); // alone for ever, if its volume is gone
  await order(stage, "orders-1");
  await stage.podsAre("orders-0", "orders-1", "orders-2");
  expect(await claims(stage)).toEqual(before);
  await stage.serve("orders-0", "orders-1", "orders-2");
  await madeAnew(stage, "data-orders-1", before);
});
