// A database is deleted with `Snapshot` while rows are written, by an application and by an open session of a superuser. Then one Restore
// brings it back under its name: with every acknowledged row, and with the password that the application has.
import { beforeAll, describe, expect, test } from "vitest";
import { apiVersion } from "../../api/version.ts";
import { eventuallySucceeds } from "../../tools/eventually.ts";
import { Database, psql, sampleDB } from "../database/database.ts";
import { Ledger, nothingLost } from "../database/ledger.ts";
import { deployedOperator } from "./deployed-operator.ts";
import { isLocal, suiteNamespace } from "./test-cluster.ts";

const minutes = 60_000;

describe.runIf(isLocal)("deleting", () => {
  deployedOperator();
  const namespace = suiteNamespace("deleting");
  let database: Database;
  let ledger: Ledger;

  const names = async (kind: string) => (await namespace.list(kind)).map((object) => object["metadata"].name as string).sort();

  /** Prints a number after each commit, until the server ends the session. */
  async function superuserWrites(): Promise<string> {
    await database.sql("CREATE TABLE kept (n bigserial PRIMARY KEY)", { superuser: true });
    const command = psql("app").join(" ");
    const script = `echo 'INSERT INTO kept DEFAULT VALUES RETURNING n \\watch 0.02' | ${command} 2>/dev/null; true`;
    return await namespace.run(
      ...["exec", await database.primary(), "--container=postgres", "--request-timeout=0", "--", "sh", "-c", script],
    );
  }

  beforeAll(async () => {
    const backup = { repository: { volume: { size: "2Gi" } } };
    database = await Database.apply(namespace, sampleDB({ name: "orders", replicas: 2, synchronousReplication: "Required", backup }));
    ledger = await Ledger.start(namespace, { database: "orders", deadlineMs: 4 * minutes });
    await database.waitReady();
  }, 10 * minutes);

  test("with Snapshot loses no acknowledged row, and one Restore brings it back", { timeout: 10 * minutes }, async () => {
    const superuser = superuserWrites();
    await ledger.acknowledges({ rows: 50, deadlineMs: minutes });
    const { uid = "" } = (await database.get()).metadata;
    const final = `orders-final-${uid.slice(0, 8)}`;
    await namespace.run("delete", "sampledb", "orders", "--wait=false");
    const phases = new Set<string>();
    await eventuallySucceeds("the SampleDB is gone", 4 * minutes, async () => {
      const status = (await namespace.get("sampledbs.sampledb.io", "orders"))?.["status"];
      if (status === undefined) return;
      phases.add(status.deletion?.phase ?? "");
      throw new Error(JSON.stringify([status.deletion, status.blockers]));
    });
    expect([...phases]).toEqual(expect.arrayContaining(["CuttingOff", "BackingUp"]));
    const acknowledged = (await superuser).trim().split("\n").map(Number);
    expect(acknowledged.length).toBeGreaterThan(10);
    expect(await names("persistentvolumeclaims")).toEqual(["orders-repository"]);
    expect(await names("backups.sampledb.io")).toEqual([final]);

    const metadata = { name: "orders-undeleted" };
    const spec = { source: { backupName: final }, destination: { type: "New", sampleDBName: "orders" } };
    await namespace.apply(JSON.stringify({ apiVersion, kind: "Restore", metadata, spec }));
    await eventuallySucceeds("it is restored", 3 * minutes, async () => {
      const told = (await namespace.get("restores.sampledb.io", metadata.name))?.["status"]?.conditions?.[0];
      if (told?.status !== "True") throw new Error(JSON.stringify(told));
    });
    // The ledger has connected again, with the password from before.
    await ledger.acknowledges({ rows: 10, deadlineMs: 2 * minutes });
    expect(await ledger.verify()).toMatchObject(nothingLost);
    const rows = new Set((await database.sql("SELECT n FROM kept", { superuser: true })).split("\n").map(Number));
    expect(acknowledged.filter((n) => !rows.has(n))).toEqual([]);
    await database.waitReady();
    expect((await database.get()).spec).toMatchObject({ replicas: 2, synchronousReplication: "Required" });
  });
});
