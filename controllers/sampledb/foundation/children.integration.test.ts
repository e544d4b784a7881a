// The objects of a SampleDB: each is made once, and then the operator is quiet.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { OperatorProcess } from "../../../operator/operator-process.fixture.ts";
import { controllerOf } from "../../../runtime/kube/object.ts";
import type { Resource } from "../../../runtime/kube/resource.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../../../tools/eventually.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { sampledbs } from "../../kinds/sampledb-io.ts";
import { DatabaseStage, installKinds, operatorNamespace } from "../stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

const owned = new Map<Resource, string[]>([
  [kinds.services, ["orders-pods", "orders-ro", "orders-rw"]],
  [kinds.serviceAccounts, ["orders-instance"]],
  [kinds.roles, ["orders-instance"]],
  [kinds.roleBindings, ["orders-instance"]],
  [kinds.podDisruptionBudgets, ["orders"]],
  [kinds.statefulSets, ["orders"]],
]);
const kept = new Map<Resource, string[]>([
  [kinds.persistentVolumeClaims, ["data-orders-0", "data-orders-1", "data-orders-2"]],
  [kinds.secrets, ["orders-app", "orders-replication", "orders-superuser", "orders-tls"]],
]);
const writes = () => proxy.requests.filter(({ method, resource }) => method !== "GET" && resource !== "events");
const described = ({ verb, resource, name, subresource }: ReturnType<typeof writes>[number]) =>
  `${verb} ${resource}/${name ?? ""}/${subresource ?? ""}`;

test("each object is made, owned or kept as designed; the operator writes nothing once converged, nor after its restart", async () => {
  await using stage = await DatabaseStage.open("children", client, proxy);
  const first = await stage.run();
  const db = await stage.create({ replicas: 3 });
  await stage.settle("orders-0", "orders-1", "orders-2");

  for (const [resource, names] of owned) {
    expect(await stage.names(resource)).toEqual(expect.arrayContaining(names));
    for (const name of names)
      expect(controllerOf(await client.get(resource, stage.key(name)))?.uid, `${resource.kind} ${name}`).toBe(db.metadata.uid);
  }
  for (const [resource, names] of kept) {
    expect(await stage.names(resource)).toEqual(names);
    for (const name of names) expect((await client.get(resource, stage.key(name))).metadata.ownerReferences, name).toBeUndefined();
  }
  expect(await stage.names(kinds.secrets, operatorNamespace)).toContain("authority.children.orders");
  const states = ["orders-config", "orders-failover", "orders-leader", "orders-sync"];
  expect(await stage.names(kinds.configMaps)).toEqual(expect.arrayContaining([...states, "orders-patroni"]));
  for (const name of states) expect((await client.get(kinds.configMaps, stage.key(name))).metadata.ownerReferences, name).toBeUndefined();

  await eventually("the init Job, which has been told, is gone", 30_000, async () => (await stage.names(kinds.jobs)).length === 0);
  await sleep(2000); // the controllers of Kubernetes finish their writes
  proxy.resetCounts();
  await sleep(5000);
  expect(writes().map(described)).toEqual([]);

  // Another process knows only from the objects what was written.
  const before = (await client.get(sampledbs, stage.key("orders"))).metadata.resourceVersion;
  await first.stop();
  const second = await stage.run();
  await sleep(4000);
  const { metadata, status } = await client.get(sampledbs, stage.key("orders"));
  expect(status?.conditions?.[0]).toMatchObject({ type: "Ready", status: "True" });
  expect(metadata.resourceVersion).toBe(before);
  expect(
    writes()
      .filter(({ verb }) => verb === "create" || verb === "delete")
      .map(described),
  ).toEqual([]);

  await cost(stage, second);
});

/** Printed, not asserted: machines differ. */
async function cost(stage: DatabaseStage, running: Awaited<ReturnType<DatabaseStage["run"]>>): Promise<void> {
  const objects = running.objects();
  const rounds = 500;
  for (let round = 0; round < 100; round++) await stage.again(running, objects);
  proxy.resetCounts();
  const begin = process.cpuUsage();
  for (let round = 0; round < rounds; round++) await stage.again(running, objects);
  const { user, system } = process.cpuUsage(begin);
  expect(proxy.requests.filter(({ verb }) => verb !== "watch")).toEqual([]);
  console.log(
    `a reconcile of a converged SampleDB with 3 instances: ${((user + system) / 1000 / rounds).toFixed(2)} ms of CPU, 0 requests`,
  );
}

test("objects that someone deleted or changed are mended", async () => {
  await using stage = await DatabaseStage.open("mended", client, proxy);
  await stage.run();
  await stage.create({ replicas: 2 });
  await stage.serve("orders-0", "orders-1");
  await client.delete(kinds.services, stage.key("orders-rw"));
  await client.mergePatch(kinds.roles, stage.key("orders-instance"), { rules: [] });
  await stage.takeWrites(await client.get(kinds.pods, stage.key("orders-1")));
  await eventually("all of it is as it was", 30_000, async () => {
    const [service, role, slice] = await Promise.all([
      client.find(kinds.services, stage.key("orders-rw")),
      client.get(kinds.roles, stage.key("orders-instance")),
      client.find(kinds.endpointSlices, stage.key("orders-rw")),
    ]);
    return service !== undefined && role.rules?.length === 5 && slice?.endpoints?.[0]?.targetRef?.name === "orders-0";
  });
  await stage.change({ replicas: 1 });
  await stage.gone(kinds.podDisruptionBudgets, "orders");
});

test("the read-write Service does not lead to the address of a Pod that is gone", async () => {
  await using stage = await DatabaseStage.open("gone", client, proxy);
  await stage.run();
  await stage.create({ replicas: 1 });
  await stage.serve("orders-0");
  const whereTo = async () => (await client.get(kinds.endpointSlices, stage.key("orders-rw"))).endpoints ?? [];
  expect(await whereTo()).toMatchObject([{ addresses: ["192.0.2.1"], targetRef: { name: "orders-0" } }]);
  await client.delete(kinds.pods, stage.key("orders-0"));
  await eventually("it leads nowhere", 30_000, async () => (await whereTo()).length === 0);
  await stage.serve("orders-0");
  expect(await whereTo()).toHaveLength(1);
});

test("an operator that is killed in the middle and started again ends in the same state, and makes nothing twice", async () => {
  await using stage = await DatabaseStage.open("restarted", client, proxy);
  const db = await stage.create({ replicas: 2 });
  proxy.resetCounts();
  const start = () =>
    new OperatorProcess(["--health-probe-bind-address=0", `--watch-namespaces=${stage.namespace}`], {
      ...{ KUBECONFIG: proxy.kubeconfig, ENABLE_WEBHOOKS: "false" },
    });
  for (const more of [1, 4, 6]) {
    const operator = start();
    const enough = writes().length + more;
    await eventually(`${more} more writes`, 30_000, () => writes().length >= enough);
    operator.tell("SIGKILL");
    await operator.ended;
  }
  const operator = start();
  await stage.settle("orders-0", "orders-1");
  expect(await operator.stop()).toBe(0);

  // A request whose answer the killed operator never saw may be missing here; one too many may not be there.
  const made = (kind: string) =>
    proxy.requests.filter(({ verb, resource, status }) => verb === "create" && resource === kind && status === 201);
  expect(made("secrets").length).toBeLessThanOrEqual(5);
  expect(made("persistentvolumeclaims").length).toBeLessThanOrEqual(2);
  expect(proxy.count({ verb: "delete" })).toBe(1); // the init Job, once the status has its outcome
  for (const [resource, names] of owned) {
    for (const name of names) expect(controllerOf(await client.get(resource, stage.key(name)))?.uid).toBe(db.metadata.uid);
  }
  expect(await stage.names(kinds.secrets)).toEqual(["orders-app", "orders-replication", "orders-superuser", "orders-tls"]);
});

test("the init Job is there while an instance makes the data; one that ran out of tries is made anew", async () => {
  await using stage = await DatabaseStage.open("first-server", client, proxy);
  await stage.run();
  await stage.create({});
  await stage.podsAre("orders-0");
  await stage.becomes("Provisioning");
  expect(await stage.names(kinds.jobs)).toEqual([]); // it would run out of tries where the first Pod does not start
  await stage.beginMaking();
  const first = await eventually("the init Job is there", 30_000, () => client.find(kinds.jobs, stage.key("orders-init")));

  // The controller of Jobs takes an hour and a half to come to this.
  const at = new Date().toISOString();
  const conditions = ["FailureTarget", "Failed"].map((type) => ({
    ...{ type, status: "True", reason: "BackoffLimitExceeded", lastProbeTime: at, lastTransitionTime: at },
  }));
  await eventually("the controller of Jobs has begun", 30_000, async () => {
    const job = await client.get(kinds.jobs, stage.key("orders-init"));
    return job.status?.startTime !== undefined;
  });
  await client.mergePatch<kinds.Job>(
    kinds.jobs,
    stage.key("orders-init"),
    { status: { conditions, active: 0, ready: 0 } },
    { subresource: "status" },
  );
  await eventually("there is another", 60_000, async () => {
    const job = await client.find(kinds.jobs, stage.key("orders-init"));
    return job && job.metadata.uid !== first.metadata.uid;
  });
  await stage.settle("orders-0");
});
