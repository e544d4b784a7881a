// Retention where it could cost data: while a Restore reads, and when the database is deleted with everything that is its own.
import { expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { say } from "../../tools/progress.ts";
import { BackedUpDatabase } from "../database/backed-up-database.ts";
import type { Database } from "../database/database.ts";
import { deployedOperator } from "../suites/deployed-operator.ts";
import { suiteNamespace } from "../suites/test-cluster.ts";

deployedOperator();
const namespace = suiteNamespace("matrix-retention");
const minutes = 60_000;

test("a backup that a Restore reads goes when the Restore is over, and the Restore gives every row back", {
  timeout: 15 * minutes,
}, async () => {
  const orders = await BackedUpDatabase.apply(namespace, "orders", { retention: { fullBackupCount: 1 } });
  await orders.write(100);
  await orders.backUp("first");
  await orders.archive.complete();
  await orders.restore("copy", { backupName: "first" });
  await orders.backUp("second");
  expect(await orders.rowsOf("copy")).toBe(100);
  await eventually("the first one is gone", 3 * minutes, async () => (await orders.backups()).join() === "second");
  expect(await orders.labels()).toEqual([(await orders.statusOf("second"))?.label]);
});

test("the repository outlives a SampleDB with the policy Delete while Backups lie in it, and they restore", {
  timeout: 15 * minutes,
}, async () => {
  const bills = await BackedUpDatabase.apply(namespace, "bills", {}, { deletionPolicy: "Delete" });
  await bills.write(100);
  await bills.backUp("only");
  await bills.archive.complete();
  await namespace.run("delete", "sampledb", "bills", "--timeout=120s");
  const claims = async () => (await namespace.list("pvc", "--selector=sampledb.io/name=bills")).map(({ metadata }) => metadata.name);
  await eventually("the data goes", 2 * minutes, async () => !(await claims()).includes("data-bills-0"));
  expect(await claims()).toEqual(["bills-repository"]);
  await bills.restore("again", { backupName: "only" });
  expect(await bills.rowsOf("again")).toBe(100);
});

test("a random second of each window that is kept gives back the rows of that moment", { timeout: 20 * minutes }, async () => {
  const history = await BackedUpDatabase.apply(namespace, "history", { retention: { fullBackupCount: 2 } });
  await history.database.sql("CREATE TABLE ticks (at timestamptz)");
  for (const name of ["one", "two", "three", "four"]) {
    await history.backUp(name);
    await history.database.sql(
      "DO $$ BEGIN FOR tick IN 1..40 LOOP INSERT INTO ticks VALUES (clock_timestamp()); COMMIT; PERFORM pg_sleep(0.25); END LOOP; END $$",
    );
  }
  await history.archive.complete();
  await eventually("two are kept", 3 * minutes, async () => (await history.backups()).join() === "four,three");
  const seconds = async (database: Database) =>
    (await database.sql("SELECT extract(epoch FROM at) FROM ticks ORDER BY at")).split("\n").map(Number);
  const ticks = await seconds(history.database);
  const [third, fourth] = await Promise.all(["three", "four"].map((name) => history.statusOf(name)));
  const second = (time: string | undefined) => Date.parse(time ?? "") / 1000;
  const windows = [
    { from: second(third?.consistentTime), to: second(fourth?.startTime) },
    { from: second(fourth?.consistentTime), to: Math.floor(ticks.at(-1) ?? 0) },
  ];
  for (const [index, { from, to }] of windows.entries()) {
    const moment = Math.ceil(from) + Math.floor(Math.random() * (to - Math.ceil(from)));
    const time = new Date(moment * 1000).toISOString().replace(".000Z", "Z");
    say(`of the window from ${from} to ${to}: ${time}`);
    await history.restore(`past-${index}`, { sampleDBName: "history" }, { type: "Time", time });
    const there = await seconds(await history.restored(`past-${index}`));
    // A row has its moment from shortly before its commit.
    expect(there).toEqual(ticks.slice(0, there.length));
    expect(there.at(-1)).toBeLessThanOrEqual(moment);
    expect(ticks.filter((tick) => tick < moment - 1).length).toBeLessThanOrEqual(there.length);
  }
});
