// A database goes back in place to the second before a mistake: under its name, with the password that its application has. Then one Restore
// from the safety Backup undoes that.
import { beforeAll, describe, expect, test } from "vitest";
import { labelNames } from "../../api/labels.ts";
import { eventually } from "../../tools/eventually.ts";
import { Archive } from "../database/archive.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Ledger } from "../database/ledger.ts";
import { type Over, Runs } from "../database/runs.ts";
import { deployedOperator } from "./deployed-operator.ts";
import { backupTo, suiteStore } from "./suite-store.ts";
import { isLocal, suiteNamespace } from "./test-cluster.ts";

const minutes = 60_000;

describe.runIf(isLocal)("a restore in place", () => {
  deployedOperator();
  const reached = suiteStore();
  const namespace = suiteNamespace("in-place");
  const databases = { orders: new Database(namespace, "orders"), alone: new Database(namespace, "alone") };
  const runs = new Runs(namespace, "orders");

  beforeAll(async () => {
    const backup = await backupTo(reached(), namespace);
    await Database.apply(namespace, sampleDB({ name: "orders", replicas: 3, synchronousReplication: "Required", backup }));
    await Database.apply(namespace, sampleDB({ name: "alone", replicas: 1, backup }));
    for (const database of Object.values(databases)) await database.waitReady();
  }, 10 * minutes);

  const rowsOf = (database: Database, options = {}) => database.sql("SELECT md5(string_agg(text, ',' ORDER BY n)) FROM precious", options);

  /** Between the two moments nothing else commits, so the second before the mistake has everything. */
  async function mistake(database: Database): Promise<{ readonly moment: string; readonly before: string }> {
    const { name } = database;
    await database.sql("CREATE TABLE precious AS SELECT n, md5(n::text) AS text FROM generate_series(1, 1000) AS n");
    await runs.make("Backup", `${name}-full`, { sampleDBName: name, type: "Full" });
    await runs.succeeds("Backup", `${name}-full`);
    await database.sql("INSERT INTO precious SELECT n, md5(n::text) FROM generate_series(1001, 1100) AS n");
    const before = await rowsOf(database);
    await database.sql("SELECT pg_sleep(1.5)");
    const moment = (await database.sql("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")).trim();
    await database.sql("SELECT pg_sleep(1)");
    await database.sql("UPDATE precious SET text = 'oops'");
    await new Archive(namespace, database).complete({ begin: 1 });
    return { moment, before };
  }

  /** `meanwhile` is asked once no server runs. */
  async function goBack(database: Database, name: string, spec: object, meanwhile?: () => Promise<void>): Promise<Over<"Restore">> {
    await runs.make("Restore", name, { ...spec, destination: { type: "InPlace", sampleDBName: database.name } });
    const phases = new Set<string>();
    const status = await eventually(`Restore ${name} is over`, 8 * minutes, async () => {
      const told = (await database.get()).status?.restore?.phase;
      if (told === "Restoring" && !phases.has(told)) await meanwhile?.();
      if (told !== undefined) phases.add(told);
      const reason = await runs.status("Restore", name);
      return reason?.completionTime === undefined ? undefined : await runs.succeeds("Restore", name);
    });
    expect([...phases]).toEqual(expect.arrayContaining(["BackingUp", "Restoring"]));
    return status;
  }

  test("of three instances goes back to the second before a mistake, and is undone", { timeout: 20 * minutes }, async () => {
    const { orders } = databases;
    const ledger = await Ledger.start(namespace, { database: "orders", deadlineMs: 15 * minutes });
    const { moment, before } = await mistake(orders);
    await ledger.acknowledges({ rows: 50, deadlineMs: minutes });
    const mistaken = await rowsOf(orders);
    const claims = async () =>
      new Map(
        (await namespace.list("pvc", `--selector=${labelNames.database}=orders`)).map(({ metadata }) => [metadata.name, metadata.uid]),
      );
    const former = await claims();

    let acknowledged = Number.POSITIVE_INFINITY;
    const target = { type: "Time", time: moment };
    const back = await goBack(orders, "back", { source: { sampleDBName: "orders" }, target }, async () => {
      ({ acknowledged } = await ledger.report());
    });
    expect(await rowsOf(orders)).toBe(before);
    expect(Date.parse(back.recoveredToTime ?? "")).toBeLessThanOrEqual(Date.parse(moment));
    // The application is connected again, with the password from before. Its rows since the moment are in the safety Backup alone.
    await ledger.acknowledges({ rows: 10, deadlineMs: 2 * minutes });
    await orders.waitReady();
    for (const pod of await orders.instances()) expect(await rowsOf(orders, { superuser: true, pod })).toBe(before);
    const kept = [...(await claims())].filter(([name, uid]) => former.get(name) === uid);
    expect(kept).toHaveLength(1); // by delta, onto one volume that was there; the others were made anew
    await runs.succeeds("Backup", back.firstBackupName ?? "");
    await eventually(
      "the volumes from before are let go",
      2 * minutes,
      async () => ((await orders.get()).status?.formerVolumes ?? []).length === 0,
    );

    await goBack(orders, "undo", { source: { backupName: back.safetyBackupName } });
    expect(await rowsOf(orders)).toBe(mistaken);
    expect(Number(await orders.sql("SELECT count(*) FROM ledger"))).toBeGreaterThanOrEqual(acknowledged);
    await orders.waitReady();
  });

  test("of the only instance goes back, too", { timeout: 15 * minutes }, async () => {
    const { alone } = databases;
    const { moment, before } = await mistake(alone);
    const back = await goBack(alone, "alone-back", { source: { sampleDBName: "alone" }, target: { type: "Time", time: moment } });
    expect(back).toMatchObject({ safetyBackupName: expect.stringMatching(/^alone-before-/) });
    expect(await rowsOf(alone)).toBe(before);
    await alone.waitReady();
  });
});
