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

/** It would look again by itself, half a minute later. */
async function later(stage: DatabaseStage, seconds: number): Promise<void> {
  stage.advanceClock(seconds);
  await client.mergePatch(sampledbs, stage.key("orders"), { metadata: { annotations: { "example.com/later": String(seconds) } } });
}

const blockers = async (stage: DatabaseStage) =>
  ((await client.get(sampledbs, stage.key("orders"))).status?.blockers ?? []).map(({ reason, message }) => `${reason}: ${message}`);

test("one that answers and does not follow is copied anew; one that starts for long is told of, and its copy is kept", async () => {
  await using stage = await DatabaseStage.open("behind", client, proxy);
  await stage.run();
  await stage.create({ replicas: 3 });
  await stage.settle("orders-0", "orders-1", "orders-2");
  await tell(stage, "orders-1", { state: "starting", ready: false });
  await stage.becomes("InstancesNotReady");
  await later(stage, 601);
  await eventually("it is told of", 60_000, async () => (await blockers(stage)).length > 0);
  expect(await blockers(stage)).toEqual(["ReplicaStarting: PostgreSQL in orders-1 has been starting for more than 10 minutes"]);

  await tell(stage, "orders-1", { state: "running", ready: true });
  await stage.becomes("ReplicasBehind");
  expect(await blockers(stage)).toEqual([]);
  await later(stage, 121);
  // There are no nodes, so that it can't be told to: that it is tried is what can be seen.
  await eventually("it is to be copied anew", 60_000, async () => (await blockers(stage)).length > 0);
  expect(await blockers(stage)).toEqual(["ReplicaBehind: orders-1 has not followed orders-0 for 120 s"]);
});
