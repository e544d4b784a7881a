// Replicas that do not follow: which of them are copied anew, and which are only told of.
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

/** As kubelet and Patroni tell of a replica. */
async function tell(stage: DatabaseStage, name: string, { ready, ...patroni }: { ready: boolean; state: string }): Promise<void> {
  const annotations = { status: JSON.stringify({ role: "replica", timeline: 1, ...patroni }) };
  await client.mergePatch(kinds.pods, stage.key(name), { metadata: { annotations } });
  const status = { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] };
  await client.mergePatch<kinds.Pod>(kinds.pods, stage.key(name), { status }, { subresource: "status" });
}

const blockers = async (stage: DatabaseStage) =>
  ((await client.get(sampledbs, stage.key("orders"))).status?.blockers ?? []).map(({ reason, message }) => `${reason}: ${message}`);

type Operator = Awaited<ReturnType<DatabaseStage["run"]>>;

/** Whether a copy was ordered in one of these looks. */
async function look(stage: DatabaseStage, operator: Operator, ...after: readonly number[]): Promise<boolean> {
  const results = await stage.looks(operator, ...after);
  // There are no nodes to carry the order out: that it was given is what the reconcile's error says.
  const text = JSON.stringify(results, (_, value) => (value instanceof Error ? value.message : value));
  return text.includes("stragglers: there are no nodes");
}

async function withStraggler(namespace: string): Promise<{ stage: DatabaseStage; operator: Operator }> {
  const stage = await DatabaseStage.open(namespace, client, proxy);
  const operator = await stage.run();
  await stage.create({ replicas: 3 });
  await stage.settle("orders-0", "orders-1", "orders-2");
  await tell(stage, "orders-1", { state: "running", ready: true });
  await stage.becomes("ReplicasBehind");
  return { stage, operator };
}

test("a replica that starts for ten minutes is told of, and its copy is kept", async () => {
  await using stage = await DatabaseStage.open("starting", client, proxy);
  const operator = await stage.run();
  await stage.create({ replicas: 3 });
  await stage.settle("orders-0", "orders-1", "orders-2");
  await tell(stage, "orders-1", { state: "starting", ready: false });
  await stage.becomes("InstancesNotReady");
  expect(await look(stage, operator, ...Array.from({ length: 21 }, () => 30))).toBe(false);
  expect(await blockers(stage)).toEqual(["ReplicaStarting: PostgreSQL in orders-1 has been starting for more than 10 minutes"]);
});

test("a replica that answers and has not followed for two minutes is copied anew; it is told of before", async () => {
  const { stage, operator } = await withStraggler("behind");
  await using _ = stage;
  expect(await look(stage, operator, 0, 30)).toBe(false);
  expect(await blockers(stage)).toEqual(["ReplicaBehind: orders-1 does not follow orders-0"]);
  expect(await look(stage, operator, 30, 30)).toBe(false);
  expect(await look(stage, operator, 35)).toBe(true);
});

test("patience with a replica begins anew after a pause: nobody knows what happened meanwhile", async () => {
  const { stage, operator } = await withStraggler("paused");
  await using _ = stage;
  expect(await look(stage, operator, 0, 30, 30, 30)).toBe(false);
  await stage.change({ paused: true });
  await eventually("it is paused", 30_000, async () => (await stage.condition("UpToDate"))?.reason === "Paused");
  expect(await blockers(stage)).toEqual([]);
  expect(await look(stage, operator, 3600)).toBe(false);
  await stage.change({ paused: false });
  await eventually("it is not paused", 30_000, async () => (await stage.condition("UpToDate"))?.reason !== "Paused");
  expect(await look(stage, operator, 30, 30, 30)).toBe(false);
  expect(await look(stage, operator, 35)).toBe(true);
});

test("patience with a replica begins anew with another process, however long the status has told of it", async () => {
  const { stage, operator } = await withStraggler("another");
  await using _ = stage;
  expect(await look(stage, operator, 0, 30, 30, 30)).toBe(false);
  await operator.stop();
  stage.advanceClock(3600);
  const next = await stage.run();
  expect(await look(stage, next, 0, 30, 30, 30)).toBe(false);
  expect(await look(stage, next, 35)).toBe(true);
});
