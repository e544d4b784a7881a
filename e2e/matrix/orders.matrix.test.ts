// What a person orders by annotation, with the operator killed in its middle, and taken back in its middle.
import { beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { deployedOperator, operator } from "../suites/deployed-operator.ts";
import { suiteNamespace } from "../suites/test-cluster.ts";
import { conditionOf } from "./changes.ts";
import { Subject } from "./subject.ts";

deployedOperator();
const namespace = suiteNamespace("matrix-orders");

const minutes = 60_000;
const switchover = "sampledb.io/switchover";
const rotate = "sampledb.io/rotate-password";
let subject: Subject;

beforeAll(async () => {
  const spec = { name: "ordered", replicas: 2, synchronousReplication: "Required" } as const;
  subject = await Subject.start(namespace, namespace.namespace ?? "", spec);
  return () => subject.census.stop();
}, 10 * minutes);

beforeEach(async () => {
  await operator.ready();
  await subject.database.waitReady(6 * minutes);
  subject.census.reset();
});

async function annotate(...annotations: string[]): Promise<void> {
  await namespace.run("annotate", "sampledb", "ordered", "--overwrite", ...annotations);
}

async function ordered(order = switchover): Promise<string | undefined> {
  return (await subject.database.get()).metadata.annotations?.[order];
}

/** Patroni has the order, or has carried it out. */
async function underWay(to: string): Promise<void> {
  await eventually("the switchover is under way", minutes, async () => {
    const order = (await namespace.get("configmap", "ordered-failover"))?.["metadata"].annotations ?? {};
    return order.member === to || (await subject.database.primary().catch(() => "")) === to;
  });
}

async function restarting(): Promise<void> {
  await eventually(
    "the restart has begun",
    minutes,
    async () => conditionOf((await subject.database.get()).status, "UpToDate")?.status === "False",
  );
}

test("switchover, the operator killed in its middle", { timeout: 10 * minutes }, async () => {
  const to = await subject.database.someReplica();
  await annotate(`${switchover}=${to}`);
  await underWay(to);
  await operator.killLeader();
  const settled = eventually("it is carried out and taken off", 3 * minutes, async () => {
    return (await subject.database.get()).status?.primaryPodName === to && (await ordered()) === undefined;
  });
  await subject.watchingWriters(settled);
  await subject.database.waitReady();
  expect(subject.census.births()).toEqual({});
  await subject.sound();
});

test("switchover, taken back in its middle", { timeout: 10 * minutes }, async () => {
  const to = await subject.database.someReplica();
  await annotate(`${switchover}=${to}`);
  await underWay(to);
  await annotate(`${switchover}-`);
  await subject.watchingWriters(subject.database.waitReady());
  expect(await ordered()).toBeUndefined();
  expect(subject.census.births()).toEqual({});
  await subject.sound();
});

test("restart, the operator killed in its middle", { timeout: 10 * minutes }, async () => {
  await annotate("sampledb.io/restart=killed");
  await restarting();
  await operator.killLeader();
  await subject.watchingWriters(subject.database.waitReady(6 * minutes));
  const anew = { created: 1, deleted: 1 };
  expect(subject.census.births()).toEqual({ "Pod ordered-0": anew, "Pod ordered-1": anew });
  await subject.sound();
});

/** What was said can't be unsaid for those who have heard it: everybody is restarted, once. */
test("restart, taken back in its middle", { timeout: 10 * minutes }, async () => {
  await annotate("sampledb.io/restart=taken-back");
  await restarting();
  await annotate("sampledb.io/restart-");
  await subject.watchingWriters(subject.database.waitReady(6 * minutes));
  subject.frugal({ podsAnew: 1 });
  await subject.sound();
});

// The last: a ledger that connects anew gets the new password from its volume only when the kubelet has brought it.
test.each([
  ["the operator killed", () => operator.killLeader()],
  ["taken back", () => annotate(`${rotate}-`)],
])(
  "another password, %s in its middle: Secret and PostgreSQL have the same in the end",
  { timeout: 10 * minutes },
  async (_, interrupt) => {
    const secret = async (name: string) => (await namespace.get("secret", name))?.["data"].password as string | undefined;
    const former = await secret("ordered-app");
    await annotate(`${rotate}=app`);
    const next = await eventually("it has begun", minutes, () => secret("ordered-rotation"));
    await interrupt();
    await eventually("it is carried out and taken off", 3 * minutes, async () => {
      return (await secret("ordered-rotation")) === undefined && (await ordered(rotate)) === undefined;
    });
    expect(await secret("ordered-app")).toBe(next);
    expect(next).not.toBe(former);
    expect(await subject.database.login(next)).toBe("app");
    expect(Object.keys(subject.census.births()).filter((what) => !what.includes("ordered-rotation"))).toEqual([]);
    await subject.sound();
  },
);
