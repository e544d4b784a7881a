// The operator releases the lock of a primary that has ended and is not started again, where a replica has every acknowledged commit.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { Conflict } from "../../../runtime/kube/errors.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually, eventuallySucceeds } from "../../../tools/eventually.ts";
import { observeDatabase } from "../../database/view.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { sampledbs } from "../../kinds/sampledb-io.ts";
import { LeaderLock } from "../../patroni/state.ts";
import type { Scope } from "../scope.ts";
import { DatabaseStage, installKinds } from "../stage.fixture.ts";
import { abandonedLock } from "./abandoned-lock.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

let stage: DatabaseStage;
let operator: Awaited<ReturnType<DatabaseStage["run"]>>;

beforeAll(async () => {
  await installKinds(plane, client);
  stage = await DatabaseStage.open("ended", client, proxy);
  operator = await stage.run();
  await stage.create({ replicas: 3, synchronousReplication: "Required" });
  await stage.settle("orders-0", "orders-1", "orders-2");
});

afterAll(() => stage[Symbol.asyncDispose]());

const killed = { exitCode: 137, reason: "OOMKilled", finishedAt: "2026-05-04T03:02:01Z" };

/** orders-0 leads, and commits wait for both others. */
beforeEach(async () => {
  await tell({ state: { running: {} } }, "True");
  await annotate("orders-leader", { leader: "orders-0", renewTime: "2026-05-04T03:02:01.900000+00:00", failsafe: null });
  await annotate("orders-failover", { leader: null, member: null, "sampledb.io/named": null });
  await stage.commitsWaitFor("orders-0", "orders-1", "orders-2");
  await stage.becomes("AllInstancesReady");
});

const annotate = (name: string, annotations: object) => client.mergePatch(kinds.configMaps, stage.key(name), { metadata: { annotations } });

/** Resolves once the operator's cache has these ConfigMaps. Otherwise the Pod's end, on another watch, could reach it sooner. */
async function heard(...names: string[]): Promise<void> {
  for (const key of names.map((name) => stage.key(name))) {
    const { metadata } = await client.get(kinds.configMaps, key);
    const known = () => operator.deps.cache.watched(kinds.configMaps).get(key)?.metadata.resourceVersion;
    await eventually(`the operator has heard of ${key.name}`, 30_000, () => known() === metadata.resourceVersion);
  }
}

/** Writes the status of orders-0 as the kubelet does. */
async function tell(container: object, ready: "True" | "False"): Promise<void> {
  const told = { name: "postgres", image: "i", imageID: "", ready: ready === "True", restartCount: 1, lastState: null, ...container };
  const status = { conditions: [{ type: "Ready", status: ready }], containerStatuses: [told] };
  await client.mergePatch<kinds.Pod>(kinds.pods, stage.key("orders-0"), { status }, { subresource: "status" });
}

async function ends(container: object): Promise<void> {
  await tell(container, "False");
  await stage.becomes("NoPrimary");
}

const holder = async () => (await client.get(kinds.configMaps, stage.key("orders-leader"))).metadata.annotations?.["leader"];

const crashed = { ...killed, exitCode: 1, reason: "Error" };

test.each([
  ["has ended", { state: { terminated: killed } }, "OOMKilled, exit code 137"],
  [
    "waits to be started again",
    { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated: crashed } },
    "Error, exit code 1",
  ],
])("when the primary %s, its lock is released, and an Event says how it ended", async (_, container, how) => {
  await ends(container);
  await eventually("the lock is given back", 30_000, async () => (await holder()) === undefined);
  await eventually("it is told", 30_000, async () => {
    const notes = (await client.list(kinds.events, { namespace: stage.namespace })).items.map(({ note }) => note);
    return notes.includes(`orders-0 has ended (${how}): another is elected at once`);
  });
});

const renewed = { renewTime: "2026-05-04T03:02:02.100000+00:00" };

test.each<[string, () => Promise<unknown>, object]>([
  ["commits wait for no replica, so a replica may lack some", () => annotate("orders-sync", { leader: null }), killed],
  ["no replica could take over", () => stage.commitsWaitFor("orders-0"), killed],
  ["it was renewed since: a later container runs", () => annotate("orders-leader", renewed), killed],
  ["the time of its renewal can't be read", () => annotate("orders-leader", { renewTime: "soon" }), killed],
  ["the list of replicas that commits wait for is another primary's", () => annotate("orders-sync", { leader: "orders-1" }), killed],
  [
    "no other instance is in the leader's failsafe list",
    () => annotate("orders-leader", { failsafe: '{"orders-0": "https://192.0.2.1"}' }),
    killed,
  ],
  ["Patroni has an order that names a candidate", () => annotate("orders-failover", { leader: "orders-0", member: "orders-2" }), killed],
  ["the container runtime has lost the primary, which may still run", async () => {}, { ...killed, reason: "ContainerStatusUnknown" }],
])("the lock stays where %s", async (_, change, terminated) => {
  await change();
  await heard("orders-sync", "orders-leader", "orders-failover");
  await ends({ state: { terminated } });
  await eventuallySucceeds("it has looked", 10_000, () => stage.again(operator, operator.objects())); // beside the one in the queue
  expect(await holder()).toBe("orders-0");
});

test("a lock that was renewed since it was read is not released", async () => {
  const stale = await client.get(kinds.configMaps, stage.key("orders-leader"));
  await annotate("orders-leader", renewed);
  await heard("orders-leader");
  await ends({ state: { terminated: killed } });
  const db = await client.get(sampledbs, stage.key("orders"));
  const view = observeDatabase(db, operator.deps.cache);
  const observed = { ...view, patroni: { ...view.patroni, lock: new LeaderLock(stale) } };
  const scope = { db, key: stage.key("orders"), client, deps: operator.deps, observed } as unknown as Scope;
  await expect(abandonedLock(scope)).rejects.toThrow(Conflict);
  expect(await holder()).toBe("orders-0");
});
