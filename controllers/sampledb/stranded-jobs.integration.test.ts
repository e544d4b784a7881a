// The node of a Job's Pod is lost. Kubernetes waits for the Pod for ever; the operator must not.
import { beforeAll, test } from "vitest";
import { startSuite } from "../../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import { jobs, pods } from "../kinds/kubernetes.ts";
import { sampledbs } from "../kinds/sampledb-io.ts";
import { DatabaseStage, installKinds } from "./stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(async () => {
  await installKinds(plane, client);
  // No kubelet runs there. Because the Node exists, Kubernetes does not give its Pods up.
  await client.raw("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "lost" } });
});

/** Puts the Job's Pod on a lost node and deletes it. Resolves once the operator has made the Job anew. */
async function strand(stage: DatabaseStage, name: string): Promise<void> {
  const { metadata } = await stage.jobPod(name);
  const former = await client.get(jobs, stage.key(name));
  const target = { apiVersion: "v1", kind: "Node", name: "lost" };
  const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: metadata.name }, target };
  await client.raw("POST", `/api/v1/namespaces/${stage.namespace}/pods/${metadata.name}/binding`, binding);
  await client.delete(pods, stage.key(metadata.name));
  stage.advanceClock(60);
  await eventually(`Job ${name} is made anew`, 60_000, async () => {
    const job = await client.find(jobs, stage.key(name));
    return job && job.metadata.uid !== former.metadata.uid;
  });
}

async function making(namespace: string): Promise<DatabaseStage> {
  const stage = await DatabaseStage.open(namespace, client, proxy);
  await stage.run();
  await stage.create({});
  return stage;
}

test("an init Job whose Pod is on a lost node is made anew, and the database becomes Ready", async () => {
  await using stage = await making("initialized");
  await stage.serve("orders-0");
  await strand(stage, "orders-init");
  await stage.settle("orders-0");
});

test("a trial whose Pod is on a lost node is made anew, and the change goes on", async () => {
  await using stage = await making("tried");
  await stage.settle("orders-0");
  await stage.change({ postgresql: { parameters: { work_mem: "8MB" } } });
  await strand(stage, "orders-trial");
  await stage.endJob("orders", "trial", 0, "it starts");
  await stage.gone(jobs, "orders-trial");
});

test("a rotation Job whose Pod is on a lost node is made anew, and the order is carried out", async () => {
  await using stage = await making("stranded-rotation");
  await stage.settle("orders-0");
  const order = { metadata: { annotations: { "sampledb.io/rotate-password": "app" } } };
  await client.mergePatch(sampledbs, stage.key("orders"), order);
  await strand(stage, "orders-rotation");
  await stage.endJob("orders", "rotation", 0, "set the password of the role app");
  await eventually("the order is carried out", 30_000, async () => {
    const { annotations = {} } = (await client.get(sampledbs, stage.key("orders"))).metadata;
    return annotations["sampledb.io/rotate-password"] === undefined;
  });
});
