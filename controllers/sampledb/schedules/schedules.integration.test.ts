// Schedules on a real API server, by a clock of the tests: each slot makes one Backup, whoever is killed and however many operators there are.
import { beforeAll, expect, test } from "vitest";
import { failure } from "../../../e2e/faults/answers.ts";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../../../tools/eventually.ts";
import { ended } from "../../backup/backup.fixture.ts";
import { events } from "../../kinds/kubernetes.ts";
import { type Backup, backups, sampledbs } from "../../kinds/sampledb-io.ts";
import { DatabaseStage, installKinds } from "../stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

type Operator = Awaited<ReturnType<DatabaseStage["run"]>>;

const hourly = { name: "hourly", schedule: "0 * * * *" };
const scheduled = (...schedules: readonly object[]) => ({ backup: { schedules } }) as Parameters<DatabaseStage["create"]>[0];

const made = async (stage: DatabaseStage) => (await client.list(backups, { namespace: stage.namespace })).items;

async function stateOf(stage: DatabaseStage, name = "hourly") {
  const { status } = await client.get(sampledbs, stage.key("orders"));
  return status?.schedules?.find((one) => one.name === name);
}

async function open(
  namespace: string,
  ...schedules: readonly object[]
): Promise<{ stage: DatabaseStage; operator: Operator; next: string }> {
  const stage = await DatabaseStage.open(namespace, client, proxy);
  const operator = await stage.run();
  await stage.create(scheduled(...schedules));
  const next = await eventually("the next slot is told", 30_000, async () => (await stateOf(stage))?.nextScheduleTime);
  return { stage, operator, next };
}

/** Sets the operators' clock, and has each look once at the same time. */
async function at(stage: DatabaseStage, time: number, ...operators: readonly Operator[]): Promise<void> {
  stage.advanceClock((time - (operators[0]?.deps.now().getTime() ?? 0)) / 1000);
  await Promise.allSettled(operators.map((operator) => stage.again(operator, operator.objects())));
}

const hours = (count: number) => count * 3_600_000;
const nameFor = (slot: string, schedule = "hourly") => `orders-${schedule}-${slot.replaceAll(/[^0-9]/g, "").slice(0, 12)}`;
const inHours = (slot: string, count: number) => new Date(Date.parse(slot) + hours(count)).toISOString().replace(".000", "");

async function end(backup: Backup): Promise<void> {
  const { metadata } = backup;
  await client.mergePatch(
    backups,
    { namespace: metadata.namespace ?? "", name: metadata.name },
    { status: ended("True") },
    { subresource: "status" },
  );
}

test("two operators make one Backup for a slot, which says what it is; while it is not over, the next slot waits", async () => {
  const { stage: opened, operator, next } = await open("slots", hourly);
  await using stage = opened;
  const other = await stage.run();
  await at(stage, Date.parse(next), operator, other);
  await eventually("the slot is told", 30_000, async () => (await stateOf(stage))?.lastScheduleTime === next);
  const [backup, ...more] = await made(stage);
  expect(more).toEqual([]);
  expect(backup).toMatchObject({
    metadata: { name: nameFor(next), labels: { "sampledb.io/schedule": "hourly" }, annotations: { "sampledb.io/scheduled-for": next } },
    spec: { sampleDBName: "orders", type: "Full", deletionPolicy: "Delete" },
  });
  expect(await stateOf(stage)).toEqual({
    ...{ name: "hourly", expression: "0 * * * * UTC", lastScheduleTime: next, nextScheduleTime: inHours(next, 1) },
  });

  await at(stage, Date.parse(next) + hours(1), operator, other);
  await eventually("it waits", 30_000, async () => (await stateOf(stage))?.reason === "SlotWaits");
  expect(await made(stage)).toHaveLength(1);
  await end(backup as Backup);
  // Its end causes a reconcile by itself.
  await eventually("the slot that waited is made", 30_000, async () => (await made(stage)).length === 2);
  await eventually("nothing waits", 30_000, async () => (await stateOf(stage))?.reason === undefined);
  const told = await eventually("it is told in Events", 30_000, async () => {
    const { items } = await client.list(events, { namespace: stage.namespace });
    const found = items.map((event) => (event as { readonly reason?: string }).reason);
    return found.includes("BackupScheduled") && found.includes("SlotWaits");
  });
  expect(told).toBe(true);
});

test("after an outage of a week one slot is made up for, and a clock that is set back makes none twice", async () => {
  const { stage: opened, operator, next } = await open("outage", hourly);
  await using stage = opened;
  await operator.stop();
  const week = inHours(next, 7 * 24);
  stage.advanceClock((Date.parse(week) + 600_000 - operator.deps.now().getTime()) / 1000);
  const after = await stage.run();
  await eventually("the last slot is made", 30_000, async () => (await stateOf(stage))?.lastScheduleTime === week);
  expect((await made(stage)).map(({ metadata }) => metadata.name)).toEqual([nameFor(week)]);
  const [backup] = await made(stage);
  await end(backup as Backup);
  await client.delete(backups, stage.key(nameFor(week)));
  await at(stage, Date.parse(week) - 60_000, after);
  await at(stage, Date.parse(week) + 1000, after);
  expect((await stateOf(stage))?.nextScheduleTime).toBe(inHours(week, 1));
  expect((await made(stage)).filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toEqual([]);
});

test("an operator that ends between the Backup and the status has made it once", async () => {
  const { stage: opened, operator, next } = await open("killed", hourly);
  await using stage = opened;
  const lost = proxy.answer({ resource: "sampledbs", subresource: "status", verb: "patch" }, failure(500));
  await at(stage, Date.parse(next), operator);
  await eventually("the Backup is made", 30_000, async () => (await made(stage)).length === 1);
  await operator.stop();
  expect((await stateOf(stage))?.lastScheduleTime).toBeUndefined();
  lost.remove();
  await stage.run();
  await eventually("the slot is told", 30_000, async () => (await stateOf(stage))?.lastScheduleTime === next);
  expect(await made(stage)).toHaveLength(1);
});

test("a Backup of another that has the name does not keep the slot from its Backup", async () => {
  const { stage: opened, operator, next } = await open("taken", hourly);
  await using stage = opened;
  const { apiVersion, kind } = backups;
  const spec = { sampleDBName: "another", type: "Full", deletionPolicy: "Retain" } as const;
  await client.create(backups, { apiVersion, kind, metadata: { namespace: stage.namespace, name: nameFor(next) }, spec });
  await at(stage, Date.parse(next), operator);
  const uid = (await client.get(sampledbs, stage.key("orders"))).metadata.uid?.slice(0, 8);
  const other = await client.get(backups, stage.key(`${nameFor(next)}-${uid}`));
  expect(other.spec.sampleDBName).toBe("orders");
});

test("hibernated, suspended, paused and changed schedules make nothing, and say so", async () => {
  const { stage: opened, operator, next } = await open("quiet", hourly, { ...hourly, name: "off", schedule: "1 * * * *", suspend: true });
  await using stage = opened;
  expect(await stateOf(stage, "off")).toEqual({ name: "off", expression: "1 * * * * UTC" });
  await stage.change({ paused: true });
  await eventually("it is paused", 30_000, async () => (await stage.condition("UpToDate"))?.reason === "Paused");
  await at(stage, Date.parse(next) + 61_000, operator);
  expect((await stateOf(stage))?.nextScheduleTime).toBe(next);
  await stage.change({ paused: false, powerState: "Hibernated" });
  await eventually("the slot is left out", 30_000, async () => (await stateOf(stage))?.reason === "SlotHibernated");
  await stage.change({ powerState: "Running", backup: { schedules: [{ ...hourly, schedule: "30 * * * *" }] } });
  await eventually("it is computed anew", 30_000, async () => (await stateOf(stage))?.expression === "30 * * * * UTC");
  expect(Date.parse((await stateOf(stage))?.nextScheduleTime ?? "")).toBeGreaterThan(operator.deps.now().getTime());
  expect(await stateOf(stage, "off")).toBeUndefined();
  expect(await made(stage)).toEqual([]);
});
