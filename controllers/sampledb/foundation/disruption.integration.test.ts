// Which instances may be evicted when, as the API server decides by the operator's disruption budget.
import { beforeAll, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../../../tools/eventually.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { DatabaseStage, installKinds } from "../stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

/** Evicts as kubectl drain does: 201 where the Pod goes, 429 where kubectl would try again later. */
async function evict({ namespace }: DatabaseStage, name: string): Promise<number | undefined> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name } };
  return (await plane.request("POST", `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, eviction))?.status;
}

/** How many may go, as Kubernetes has computed it from the present budget. */
const mayGo = async (stage: DatabaseStage) => {
  const { metadata, status } = await client.get(kinds.podDisruptionBudgets, stage.key("orders"));
  return status?.observedGeneration === metadata.generation ? status?.disruptionsAllowed : undefined;
};

test("no instance is evicted while a replica answers SQL and could not take over; one that does not serve always may be", async () => {
  await using stage = await DatabaseStage.open("evicted", client, proxy);
  await stage.run();
  await stage.create({ replicas: 3, synchronousReplication: "Required" });
  await stage.settle("orders-0", "orders-1", "orders-2");

  await stage.commitsWaitFor("orders-0", "orders-1");
  await stage.becomes("ReplicasBehind");
  for (const name of ["orders-0", "orders-1", "orders-2"]) expect(await evict(stage, name)).toBe(429);

  await stage.commitsWaitFor("orders-0", "orders-1", "orders-2");
  await stage.becomes("AllInstancesReady");
  await eventually("one may go", 30_000, async () => (await mayGo(stage)) === 1);
  expect(await evict(stage, "orders-0")).toBe(201);
  expect(await evict(stage, "orders-1")).toBe(429);

  await stage.becomes("NoPrimary");
  const notReady = { conditions: [{ type: "Ready", status: "False" }] };
  await client.mergePatch<kinds.Pod>(kinds.pods, stage.key("orders-2"), { status: notReady }, { subresource: "status" });
  expect(await evict(stage, "orders-2")).toBe(201);
});
