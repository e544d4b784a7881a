// Backups and restores of a database that is written to all the while: what says Succeeded gives every acknowledged row back.
import { beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { Archive } from "../database/archive.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Ledger, nothingLost } from "../database/ledger.ts";
import { Runs } from "../database/runs.ts";
import { bucketFields, bucketSecrets } from "../store/bucket.ts";
import { deployedOperator } from "./deployed-operator.ts";
import { suiteStore } from "./suite-store.ts";
import { isLocal, kubectl, suiteNamespace } from "./test-cluster.ts";

const minutes = 60_000;
const bucket = "backups";

describe.runIf(isLocal)("backups", () => {
  deployedOperator();
  const reached = suiteStore();
  const namespace = suiteNamespace("backups");
  let database: Database;
  let ledger: Ledger;
  const runs = new Runs(namespace, "orders");

  beforeAll(async () => {
    const { store, url } = reached();
    await store.makeBucket(bucket);
    await namespace.apply(JSON.stringify(await bucketSecrets(store, bucket)));
    await namespace.apply(
      JSON.stringify({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "passphrase" },
        stringData: { passphrase: "correct horse battery" },
      }),
    );
    const backup = { repository: { s3: bucketFields(store, url, bucket) }, encryptionSecretName: "passphrase" };
    database = await Database.apply(namespace, sampleDB({ name: "orders", replicas: 2, synchronousReplication: "Required", backup }));
    ledger = await Ledger.start(namespace, { database: "orders", deadlineMs: 4 * minutes });
    await database.waitReady();
  }, 10 * minutes);

  test("are made while rows are written, full and incremental, from a replica, and checked", { timeout: 10 * minutes }, async () => {
    const full = await runs.backUp("full", "Full");
    expect(full).toMatchObject({ verification: { walComplete: true, checksumsGood: true }, progress: { percent: 100 } });
    expect(full.label).toMatch(/F$/);
    const incremental = await runs.backUp("incremental", "Incremental");
    expect(incremental.label).toMatch(new RegExp(`^${full.label}_.*I$`));
    expect(incremental.repositoryBytes).toBeLessThan(full.repositoryBytes ?? 0);
    expect(incremental.sourcePodName).not.toBe(await database.primary());
    expect((await database.get()).status).toMatchObject({ firstRecoverableTime: full.consistentTime });
    expect(await ledger.verify()).toMatchObject(nothingLost);
  });

  /**
   * What was dropped, and everything beside tables that a database has. PostgreSQL writes 32 numbers of a sequence ahead into its log, so a
   * recovered one may go on behind them.
   */
  const belongings = [
    "CREATE TABLE precious AS SELECT n, md5(n::text) AS text FROM generate_series(1, 1000) AS n",
    "CREATE ROLE clerk NOLOGIN CONNECTION LIMIT 7",
    "GRANT SELECT ON precious TO clerk",
    "CREATE SEQUENCE numbers START 41",
    "SELECT nextval('numbers')",
    "CREATE EXTENSION pg_trgm",
    "SELECT lo_from_bytea(4711, decode(repeat('c0ffee', 10000), 'hex'))",
  ].join("; ");
  const portrait = `SELECT md5(string_agg(text, ',' ORDER BY n)) || ' ' || has_table_privilege('clerk', 'precious', 'SELECT')
      || ' ' || (SELECT rolconnlimit FROM pg_roles WHERE rolname = 'clerk') || ' ' || (SELECT last_value BETWEEN 41 AND 41 + 32 FROM numbers)
      || ' ' || (SELECT extversion FROM pg_extension WHERE extname = 'pg_trgm') || ' ' || md5(lo_get(4711)) FROM precious`;
  const superuser = { superuser: true } as const;

  test("give back what a mistake destroyed, as it was a second before", { timeout: 15 * minutes }, async () => {
    await database.sql(belongings, superuser);
    const before = await database.sql(portrait, superuser);
    await database.sql("SELECT pg_sleep(1.5)");
    const moment = (await database.sql("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")).trim();
    await database.sql("SELECT pg_sleep(1)");
    await database.sql(
      "DROP TABLE precious; DROP SEQUENCE numbers; DROP EXTENSION pg_trgm; SELECT lo_unlink(4711); DROP ROLE clerk",
      superuser,
    );
    await new Archive(namespace, database).complete({ begin: 1 });

    // Three instances, of which the one with the data can't start for a while: the others must not begin a database of their own.
    const target = { type: "Time", time: moment };
    await runs.beginRestore("earlier", "earlier", { source: { sampleDBName: "orders" }, target }, { replicas: 3 });
    const node = await eventually("the data has a node", 3 * minutes, async () => {
      const [pod] = await namespace.list("pods", "--selector=batch.kubernetes.io/job-name=earlier-restore");
      return pod?.["spec"].nodeName as string | undefined; // the volume is there from now on
    });
    const earlier = new Database(namespace, "earlier");
    await kubectl.run("cordon", node);
    try {
      await eventually("the first instance waits for its node", 3 * minutes, async () => {
        const [first, ...others] = await earlier.pods();
        expect(others).toEqual([]);
        return first?.["status"].conditions?.some(({ reason }: { reason?: string }) => reason === "Unschedulable");
      });
      await database.sql("SELECT pg_sleep(20)"); // an empty instance would need less than that to begin a database
      expect(await earlier.instances()).toEqual(["earlier-0"]);
    } finally {
      await kubectl.run("uncordon", node);
    }
    const status = await runs.succeeds("Restore", "earlier");
    expect(await earlier.sql(portrait, superuser)).toBe(before);
    expect(Date.parse(status.recoveredToTime ?? "")).toBeLessThanOrEqual(Date.parse(moment));
    const identity = "SELECT system_identifier FROM pg_control_system()";
    expect(await earlier.sql(identity, superuser)).toBe(await database.sql(identity, superuser));
    await runs.succeeds("Backup", status.firstBackupName ?? "");
    await earlier.waitReady();
    for (const pod of await earlier.instances()) expect(await earlier.sql(portrait, { ...superuser, pod })).toBe(before);
  });

  test("give every acknowledged row back, or none where the store is cut off in the middle", { timeout: 15 * minutes }, async () => {
    const { store } = reached();
    for (let count = 0; count < 4; count++) {
      await ledger.acknowledges({ rows: 5, deadlineMs: minutes });
      await database.sql("SELECT pg_switch_wal()", superuser);
    }
    const report = await ledger.report();
    await new Archive(namespace, database).complete({ begin: 1 });
    const cut = store.faultAtSegment(3, "refusing");
    await runs.beginRestore("cut", "latest", { source: { backupName: "incremental" } });
    await cut;
    try {
      const failed = await runs.over("Restore", "cut");
      expect(failed).toMatchObject({ succeeded: false, reason: "ArchiveCutShort" });
      await eventually("nothing is left of it", minutes, async () => (await runs.left("latest")).length === 0);
    } finally {
      await store.fault(undefined);
    }
    await runs.beginRestore("again", "latest", { source: { backupName: "incremental" } });
    await runs.succeeds("Restore", "again");
    const rows = Number(await new Database(namespace, "latest").sql("SELECT count(*) FROM ledger"));
    expect(rows).toBeGreaterThanOrEqual(report.acknowledged);
    expect(await ledger.verify()).toMatchObject(nothingLost);
  });
});
