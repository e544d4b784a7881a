// Retention where it could cost data: while a Restore reads, and when the database is deleted with everything that is its own.
import { expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { BackedUpDatabase } from "../database/backed-up-database.ts";
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
