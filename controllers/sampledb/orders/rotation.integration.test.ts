// A new password for the application: PostgreSQL gets it before the Secret does, and no interruption leaves only one of them with it.
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

const order = (stage: DatabaseStage, value: string | null) =>
  client.mergePatch(sampledbs, stage.key("orders"), { metadata: { annotations: { "sampledb.io/rotate-password": value } } });
const ordered = async (stage: DatabaseStage) =>
  (await client.get(sampledbs, stage.key("orders"))).metadata.annotations?.["sampledb.io/rotate-password"];
const password = async (stage: DatabaseStage, name: string) => (await client.find(kinds.secrets, stage.key(name)))?.data?.["password"];
const nothingLeft = (stage: DatabaseStage) =>
  eventually("nothing is left of the rotation", 60_000, async () => {
    const [secret, job] = [
      await client.find(kinds.secrets, stage.key("orders-rotation")),
      await client.find(kinds.jobs, stage.key("orders-rotation")),
    ];
    return secret === undefined && job === undefined;
  });
const another = (stage: DatabaseStage, { metadata }: kinds.Job) =>
  eventually("another Job is there", 30_000, async () => {
    const job = await client.find(kinds.jobs, stage.key("orders-rotation"));
    return job && job.metadata.uid !== metadata.uid;
  });
const told = (stage: DatabaseStage, wanted: string) =>
  eventually(`${wanted} is told`, 30_000, async () => {
    const { blockers = [] } = (await client.get(sampledbs, stage.key("orders"))).status ?? {};
    return blockers.find(({ reason }) => reason === wanted);
  });
const begun = (stage: DatabaseStage) => eventually("its Job is there", 30_000, () => client.find(kinds.jobs, stage.key("orders-rotation")));

async function serving(namespace: string) {
  const stage = await DatabaseStage.open(namespace, client, proxy);
  const operator = await stage.run();
  const { stop } = operator;
  await stage.create({});
  await stage.settle("orders-0");
  return { stage, operator, stop, former: await password(stage, "orders-app") };
}

test("a rotation changes the Secret, with its uri, once PostgreSQL knows the password, and leaves no Job or second Secret", async () => {
  const { stage, former } = await serving("rotated");
  await using _ = stage;
  await order(stage, "app");
  const job = await begun(stage);
  const next = await password(stage, "orders-rotation");
  expect(next).toBeDefined();
  expect(next).not.toBe(former);
  expect(await password(stage, "orders-app")).toBe(former);
  expect(job.spec?.template.spec?.containers[0]?.env).toContainEqual({
    name: "OWNER_PASSWORD",
    valueFrom: { secretKeyRef: { name: "orders-rotation", key: "password" } },
  });
  await stage.endJob("orders", "rotation", 0, "set the password of the role app");
  await nothingLeft(stage);
  const { data } = await client.get(kinds.secrets, stage.key("orders-app"));
  expect(data?.["password"]).toBe(next);
  expect(atob(data?.["uri"] ?? "")).toContain(`app:${atob(next ?? "")}@`);
  expect(await ordered(stage)).toBeUndefined();
});

test("a rotation ends even if the operator is killed after PostgreSQL knows the password, and the order is taken back", async () => {
  const { stage, stop } = await serving("interrupted");
  await using _ = stage;
  await order(stage, "app");
  await begun(stage);
  const next = await password(stage, "orders-rotation");
  await stop();
  await stage.endJob("orders", "rotation", 0, "set the password of the role app");
  await order(stage, null);
  await client.delete(kinds.jobs, stage.key("orders-rotation"), { propagationPolicy: "Background" });
  await eventually("the Job is gone", 30_000, async () => (await client.find(kinds.jobs, stage.key("orders-rotation"))) === undefined);
  await stage.run();
  await begun(stage); // it sets the password once more, because the operator does not know whether PostgreSQL has it
  await stage.endJob("orders", "rotation", 0, "set the password of the role app");
  await nothingLeft(stage);
  expect(await password(stage, "orders-app")).toBe(next);
});

test("a rotation ends even if the order is taken back and its Job is deleted by hand", async () => {
  const { stage } = await serving("taken-back");
  await using _ = stage;
  await order(stage, "app");
  const job = await begun(stage);
  const next = await password(stage, "orders-rotation");
  await order(stage, null);
  await client.delete(kinds.jobs, stage.key("orders-rotation"), { propagationPolicy: "Background" });
  await another(stage, job);
  await stage.endJob("orders", "rotation", 0, "set the password of the role app");
  await nothingLeft(stage);
  expect(await password(stage, "orders-app")).toBe(next);
});

test("a rotation Job that has not ended after five minutes is made anew, with the same password", async () => {
  const { stage, operator } = await serving("stuck");
  await using _ = stage;
  await order(stage, "app");
  const job = await begun(stage);
  const next = await password(stage, "orders-rotation");
  const pod = await stage.jobPod("orders-rotation");
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes fit" }];
  await client.mergePatch<kinds.Pod>(kinds.pods, stage.key(pod.metadata.name), { status: { conditions } }, { subresource: "status" });
  await told(stage, "PasswordWaits"); // the patience has begun
  await stage.looks(operator, ...Array.from({ length: 7 }, () => 50));
  await another(stage, job);
  await stage.endJob("orders", "rotation", 0, "set the password of the role app");
  await nothingLeft(stage);
  expect(await password(stage, "orders-app")).toBe(next);
});

test("no rotation begins while the Pod of an earlier one may still set its password", async () => {
  const { stage, former } = await serving("earlier");
  await using _ = stage;
  await order(stage, "app");
  const job = await begun(stage);
  const { metadata } = await stage.jobPod("orders-rotation");
  const earlier = await password(stage, "orders-rotation");
  await client.mergePatch(kinds.pods, stage.key(metadata.name), {
    metadata: { finalizers: [...(metadata.finalizers ?? []), "example.invalid/lost-node"] },
  });
  await client.delete(kinds.secrets, stage.key("orders-rotation"));
  await client.delete(kinds.jobs, stage.key("orders-rotation"), { propagationPolicy: "Background" });
  expect((await told(stage, "PasswordWaits")).message).toContain(`Pod ${metadata.name} of an earlier one has not ended`);
  expect(await password(stage, "orders-rotation")).toBeUndefined();
  expect(await password(stage, "orders-app")).toBe(former);
  await client.mergePatch(kinds.pods, stage.key(metadata.name), { metadata: { finalizers: null } });
  await another(stage, job);
  const next = await password(stage, "orders-rotation");
  expect(next).not.toBe(earlier);
  await stage.endJob("orders", "rotation", 0, "set the password of the role app");
  await nothingLeft(stage);
  expect(await password(stage, "orders-app")).toBe(next);
});

test("no rotation begins without a primary, with a blocker; an order that is taken back then changes nothing", async () => {
  const { stage, former } = await serving("nobody");
  await using _ = stage;
  await client.mergePatch<kinds.Pod>(
    kinds.pods,
    stage.key("orders-0"),
    { status: { conditions: [{ type: "Ready", status: "False" }] } },
    { subresource: "status" },
  );
  await stage.becomes("NoPrimary");
  await order(stage, "app");
  expect((await told(stage, "PasswordWaits")).message).toContain("no primary");
  expect(await password(stage, "orders-rotation")).toBeUndefined();
  await order(stage, null);
  await stage.serve("orders-0");
  await stage.becomes("AllInstancesReady");
  expect(await password(stage, "orders-app")).toBe(former);
});

test("a password that PostgreSQL refuses becomes a blocker, and taking the order back leaves everything as it was", async () => {
  const { stage, former } = await serving("refused");
  await using _ = stage;
  await order(stage, "app");
  await stage.endJob("orders", "rotation", 3, 'ERROR: role "app" does not exist');
  const { message, remedy } = await told(stage, "PasswordRefused");
  expect(message).toContain('role "app" does not exist');
  expect(remedy).toContain("delete Job orders-rotation");
  await order(stage, null);
  await nothingLeft(stage);
  expect(await password(stage, "orders-app")).toBe(former);
  await eventually("nothing stands in the way", 30_000, async () => !(await client.get(sampledbs, stage.key("orders"))).status?.blockers);
});

test("an order for another role's password is dropped, and an Event says so", async () => {
  const { stage, former } = await serving("others");
  await using _ = stage;
  await order(stage, "postgres");
  await eventually("the order is off", 30_000, async () => (await ordered(stage)) === undefined);
  const notes = (await client.list(kinds.events, { namespace: stage.namespace })).items.map(({ note }) => note);
  expect(notes).toContainEqual(expect.stringContaining("rotate-password=postgres is no order"));
  expect(await password(stage, "orders-app")).toBe(former);
  expect(await client.find(kinds.jobs, stage.key("orders-rotation"))).toBeUndefined();
});
