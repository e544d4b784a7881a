// No instance leads, and Patroni can't elect one: the operator appoints the one with the newest data, but not before Patroni could have.
import { beforeAll, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually, eventuallySucceeds } from "../../../tools/eventually.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { sampledbs } from "../../kinds/sampledb-io.ts";
import { DatabaseStage, installKinds } from "../stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

const annotate = (stage: DatabaseStage, name: string, annotations: object) =>
  client.mergePatch(kinds.configMaps, stage.key(name), { metadata: { annotations } });
const annotations = async (stage: DatabaseStage, name: string) =>
  (await client.get(kinds.configMaps, stage.key(name))).metadata.annotations ?? {};

/** Writes a Pod's report as Patroni does in its loops. */
async function tell(stage: DatabaseStage, name: string, timeline: number, position: number): Promise<void> {
  const status = JSON.stringify({ state: "running", role: "replica", timeline, xlog_location: position });
  await client.mergePatch(kinds.pods, stage.key(name), { metadata: { annotations: { status } } });
}

/** orders-1 was the primary, and does not answer. `look` is a reconcile after so many seconds. */
async function withoutPrimary(namespace: string) {
  const stage = await DatabaseStage.open(namespace, client, proxy);
  const operator = await stage.run();
  await stage.create({ replicas: 3 });
  await stage.settle("orders-1", "orders-0", "orders-2");
  await annotate(stage, "orders-leader", { renewTime: "first" });
  const status = { conditions: [{ type: "Ready", status: "False" }] };
  await client.mergePatch<kinds.Pod>(kinds.pods, stage.key("orders-1"), { status }, { subresource: "status" });
  await stage.becomes("NoPrimary");
  const look = async (seconds: number) => {
    stage.advanceClock(seconds);
    await eventuallySucceeds("it has looked", 10_000, () => stage.again(operator, operator.objects())); // beside the one in the queue
  };
  return { stage, look };
}

test("with two timelines, of which the older has more log, the instance on the newer one is appointed after 40 s", async () => {
  const { stage, look } = await withoutPrimary("parted");
  await using _ = stage;
  await tell(stage, "orders-0", 1, 900);
  await tell(stage, "orders-2", 2, 100);
  expect(await stage.blocker()).toMatchObject({ reason: "Stalemate", message: "nobody leads, and orders-2 has the newest data" });
  await look(0);
  await look(30);
  expect(await annotations(stage, "orders-failover")).not.toHaveProperty("member");
  await look(11);
  expect(await annotations(stage, "orders-failover")).toMatchObject({ member: "orders-2" });
  expect(await annotations(stage, "orders-failover")).not.toHaveProperty("leader");
});

test("an instance that takes the lock for a moment and releases it does not count as a leader", async () => {
  const { stage, look } = await withoutPrimary("refused");
  await using _ = stage;
  await tell(stage, "orders-0", 1, 900);
  await tell(stage, "orders-2", 2, 100);
  await stage.blocker();
  await look(0);
  await annotate(stage, "orders-leader", { leader: "orders-0", renewTime: "second" });
  await look(30);
  expect(await annotations(stage, "orders-failover")).not.toHaveProperty("member");
  await annotate(stage, "orders-leader", { leader: null });
  await eventually("it is ordered", 30_000, async () => {
    await look(11);
    return (await annotations(stage, "orders-failover"))["member"] === "orders-2";
  });
});

test("no instance is appointed while the lock is renewed", async () => {
  const { stage, look } = await withoutPrimary("renewed");
  await using _ = stage;
  await tell(stage, "orders-0", 1, 900);
  await tell(stage, "orders-2", 2, 100);
  await stage.blocker();
  await look(0);
  await annotate(stage, "orders-leader", { renewTime: "second" }); // also where the cache has not heard of it
  await look(41);
  expect(await annotations(stage, "orders-failover")).not.toHaveProperty("member");
});

test("when the last primary is given up, and commits waited for no other, the furthest of the others is appointed", async () => {
  const { stage, look } = await withoutPrimary("given-up");
  await using _ = stage;
  await tell(stage, "orders-0", 1, 900);
  await tell(stage, "orders-2", 1, 901);
  await annotate(stage, "orders-sync", { leader: "orders-1", quorum: "0" });
  const order = { metadata: { annotations: { "sampledb.io/replace-instance": "orders-1" } } };
  await client.mergePatch(sampledbs, stage.key("orders"), order);
  await stage.blocker();
  await look(0);
  await look(41);
  expect(await annotations(stage, "orders-failover")).toMatchObject({ member: "orders-2" });
  expect(await annotations(stage, "orders-sync")).not.toHaveProperty("leader");
});
