// Each change of a database with the operator killed in its middle, and taken back in its middle.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { deployedOperator, operator } from "../suites/deployed-operator.ts";
import { suiteNamespace } from "../suites/test-cluster.ts";
import { type Change, changes, midway } from "./changes.ts";
import { Subject } from "./subject.ts";

deployedOperator();
const namespace = suiteNamespace("matrix");

const minutes = 60_000;
let subject: Subject;

beforeAll(async () => {
  subject = await Subject.start(namespace, namespace.namespace ?? "", {
    name: "cells",
    replicas: 2,
    synchronousReplication: "Required",
  });
  return () => subject.census.stop();
}, 10 * minutes);

beforeEach(() => operator.ready());

/** From where it begins, with nothing counted yet. */
async function begin({ from, to }: Change): Promise<void> {
  const { database, census } = subject;
  await database.change(from.spec);
  await from.reached(database);
  census.reset();
  await database.change(to.spec);
  await midway(database);
}

async function awake(): Promise<void> {
  await subject.database.change({ powerState: "Running" });
  await subject.database.waitReady(6 * minutes);
}

describe.each(changes)("$name", (change) => {
  test("the operator killed in its middle", { timeout: 15 * minutes }, async () => {
    const { database } = subject;
    await begin(change);
    await operator.killLeader();
    await subject.watchingWriters(change.to.reached(database));
    subject.frugal(change);
    await awake();
    await subject.sound();
  });

  test("taken back in its middle", { timeout: 15 * minutes }, async () => {
    const { database } = subject;
    await begin(change);
    await database.change(change.from.spec);
    await subject.watchingWriters(change.from.reached(database));
    subject.frugal(change, 2);
    await awake();
    await subject.sound();
  });
});

describe("growth of the volumes", () => {
  const sizes = async () =>
    (await namespace.list("persistentvolumeclaims", "--selector=sampledb.io/name=cells")).map(({ status }) => status.capacity?.storage);

  test("the operator killed in its middle; it can't be taken back", { timeout: 15 * minutes }, async () => {
    const { database, census } = subject;
    await database.waitReady(6 * minutes);
    census.reset();
    await database.change({ storage: { size: "1200Mi" } });
    await operator.killLeader();
    await expect(database.change({ storage: { size: "1Gi" } })).rejects.toThrow(/shrink|smaller|grow|storage/i);
    await subject.watchingWriters(database.waitReady(6 * minutes));
    await eventually("all claims have grown", 3 * minutes, async () => (await sizes()).every((size) => size === "1200Mi"));
    subject.frugal({ podsAnew: 0 });
    await subject.sound();
  });
});

describe("pause", () => {
  test("the operator killed in its middle: nobody touches anything", { timeout: 10 * minutes }, async () => {
    const { database, census } = subject;
    await database.waitReady(6 * minutes);
    census.reset();
    await database.change({ paused: true });
    await operator.killLeader();
    await namespace.run("delete", "service", "cells-ro");
    await operator.ready();
    await operator.leader();
    await database.change({ postgresql: { parameters: { work_mem: "9MB" } } }); // seen, and not acted on
    await eventually("the new leader has seen it", minutes, async () => {
      const { status, metadata } = await database.get();
      return status?.observedGeneration === metadata.generation;
    });
    expect(census.births()).toEqual({ "Service cells-ro": { created: 0, deleted: 1 } });
    await database.change({ paused: false, postgresql: { parameters: { work_mem: null } } });
    await database.waitReady(6 * minutes);
    await eventually("the Service is back", minutes, async () => (await namespace.get("service", "cells-ro")) !== undefined);
    expect(census.births()).toEqual({ "Service cells-ro": { created: 1, deleted: 1 } });
    await subject.sound();
  });

  test("taken back at once: nothing was created or deleted", { timeout: 10 * minutes }, async () => {
    const { database, census } = subject;
    census.reset();
    await database.change({ paused: true });
    await database.change({ paused: false });
    await database.waitReady(6 * minutes);
    expect(census.births()).toEqual({});
    await subject.sound();
  });
});
