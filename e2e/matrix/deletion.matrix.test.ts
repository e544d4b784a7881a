// Deletion with the operator killed in its middle, and with another mind in its middle: what is to stay stays, and is taken up again.
import { beforeEach, describe, expect, test } from "vitest";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import type { KubernetesObject } from "../cluster/kubectl.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Ledger, nothingLost } from "../database/ledger.ts";
import { deployedOperator, operator } from "../suites/deployed-operator.ts";
import { suiteNamespace } from "../suites/test-cluster.ts";

deployedOperator();
const namespace = suiteNamespace("matrix-deletion");

const minutes = 60_000;
const everything =
  "statefulsets,pods,services,secrets,configmaps,persistentvolumeclaims,jobs,roles,rolebindings,serviceaccounts,poddisruptionbudgets";

beforeEach(() => operator.ready());

interface Cell {
  readonly manifest: ReturnType<typeof sampleDB>;
  readonly database: Database;
  readonly ledger: Ledger;
  readonly uid: string;
}

async function made(name: string, deletionPolicy: "Retain" | "Delete"): Promise<Cell> {
  const manifest = sampleDB({ name, replicas: 2, synchronousReplication: "Required", deletionPolicy });
  const database = await Database.apply(namespace, manifest);
  const ledger = await Ledger.start(namespace, { database: name, name: `${name}-ledger`, deadlineMs: 5 * minutes });
  await database.waitReady(5 * minutes);
  return { manifest, database, ledger, uid: (await database.get()).metadata.uid ?? "" };
}

/** Resolves in its middle: an instance is going. */
async function beginDeletion({ database }: Cell): Promise<void> {
  await namespace.run("delete", "sampledb", database.name, "--wait=false");
  await eventually("an instance is going", minutes, async () => {
    const pods = await database.pods();
    return pods.length < 2 || pods.some(({ metadata }) => metadata.deletionTimestamp);
  });
}

async function gone({ database }: Cell): Promise<void> {
  await eventually(
    `SampleDB ${database.name} is gone`,
    5 * minutes,
    async () => (await namespace.get("sampledb", database.name)) === undefined,
  );
}

async function left(name: string, kinds: string): Promise<KubernetesObject[]> {
  return await namespace.list(kinds, `--selector=sampledb.io/name=${name}`);
}

async function uids(name: string): Promise<string[]> {
  return (await left(name, "persistentvolumeclaims,secrets"))
    .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid}`)
    .sort();
}

/** A new one of the same name: the same volumes and passwords, and every row. */
async function takenUp({ manifest, database, ledger, uid }: Cell, keptUids: readonly string[]): Promise<void> {
  await eventuallySucceeds("a new one is made", 3 * minutes, async () => {
    await Database.apply(namespace, manifest);
    const { metadata } = await database.get();
    if (metadata.uid === uid || metadata.deletionTimestamp) throw new Error("the old one is still going");
  });
  await database.waitReady(6 * minutes);
  expect(await uids(database.name)).toEqual(keptUids);
  await ledger.acknowledges({ rows: 10, deadlineMs: 2 * minutes });
  expect(await ledger.verify()).toMatchObject(nothingLost);
  expect(await database.writable()).toHaveLength(1);
}

describe("Retain", () => {
  test("the operator killed in its middle, then taken up", { timeout: 15 * minutes }, async () => {
    const cell = await made("retained", "Retain");
    const before = await uids("retained");
    await beginDeletion(cell);
    await operator.killLeader();
    await gone(cell);
    await eventually("the rest is gone", 2 * minutes, async () => (await left("retained", "statefulsets,pods,services,jobs")).length === 0);
    expect(await uids("retained")).toEqual(before);
    await takenUp(cell, before);
  });

  test("made again in its middle", { timeout: 15 * minutes }, async () => {
    const cell = await made("remade", "Retain");
    const before = await uids("remade");
    await beginDeletion(cell);
    await takenUp(cell, before);
  });
});

describe("Delete", () => {
  test("the operator killed in its middle: nothing is left", { timeout: 15 * minutes }, async () => {
    const cell = await made("destroyed", "Delete");
    await beginDeletion(cell);
    await operator.killLeader();
    await gone(cell);
    await eventually("nothing is left", 2 * minutes, async () => (await left("destroyed", everything)).length === 0);
    await cell.ledger.stop();
  });

  test("taken back in its middle: the data stays", { timeout: 15 * minutes }, async () => {
    const cell = await made("spared", "Delete");
    const before = await uids("spared");
    await beginDeletion(cell);
    await cell.database.change({ deletionPolicy: "Retain" });
    await gone(cell);
    expect(await uids("spared")).toEqual(before);
    await takenUp(cell, before);
  });
});
