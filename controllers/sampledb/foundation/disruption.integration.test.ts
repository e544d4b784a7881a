// Who may be evicted when, as the API server decides it by the budget that the operator keeps.
import { beforeAll, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../../../tools/eventually.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { DatabaseStage, installKinds } from "../stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

/** As kubectl drain does it: 201 where the Pod goes, 429 where it is to be tried again later. */
async function evict({ namespace }: DatabaseStage, name: string): Promise<number | undefined> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name } };
  return (await plane.request("POST", `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, eviction))?.status;
}

/** As Kubernetes has worked it out from the budget of now. */
const mayGo = async (stage: DatabaseStage) => {
  const { metadata, status } = await client.get(kinds.podDisruptionBudgets, stage.key("orders"));
  return status?.observedGeneration === metadata.generation ? status?.disruptionsAllowed : undefined;
};

test("nobody is evicted while a replica answers SQL and could not take over; what does not serve always may go", async () => {
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
