// Backups and restores of a database that is written to all the while: what says Succeeded gives every acknowledged row back.
import { beforeAll, describe, expect, test } from "vitest";
import type { BackupStatus } from "../../api/backup.ts";
import type { RestoreStatus } from "../../api/restore.ts";
import { apiVersion } from "../../api/version.ts";
import { eventuallySucceeds } from "../../tools/eventually.ts";
import { Archive } from "../database/archive.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Ledger, nothingLost } from "../database/ledger.ts";
import { bucketFields, bucketSecrets } from "../store/bucket.ts";
import { deployedOperator } from "./deployed-operator.ts";
import { suiteStore } from "./suite-store.ts";
import { isLocal, suiteNamespace } from "./test-cluster.ts";

const minutes = 60_000;
const bucket = "backups";

describe.runIf(isLocal)("backups", () => {
  deployedOperator();
  const reached = suiteStore();
  const namespace = suiteNamespace("backups");
  let database: Database;
  let ledger: Ledger;

  const make = (kind: "Backup" | "Restore", name: string, spec: object) =>
    namespace.apply(JSON.stringify({ apiVersion, kind, metadata: { name }, spec }));

  /** The status once the object is over. */
  async function over<Status extends BackupStatus | RestoreStatus>(kind: "backup" | "restore", name: string, wanted: "True" | "False") {
    return await eventuallySucceeds(`${kind} ${name} is over`, 5 * minutes, async () => {
      const status = (await namespace.get(kind, name))?.["status"] as Status | undefined;
      const told = status?.conditions?.find(({ type }) => type === "Succeeded");
      if (told?.status !== wanted) throw new Error(JSON.stringify(told));
      return { ...(status as Status), reason: told.reason, message: told.message };
    });
  }

  async function backUp(name: string, type: "Full" | "Incremental") {
    await make("Backup", name, { sampleDBName: "orders", type });
    return await over<BackupStatus>("backup", name, "True");
  }

  async function restore(name: string, spec: object): Promise<{ restored: Database; status: RestoreStatus }> {
    await make("Restore", name, { destination: { type: "New", sampleDBName: name, overrides: { replicas: 1 } }, ...spec });
    const status = await over<RestoreStatus>("restore", name, "True");
    return { restored: new Database(namespace, name), status };
  }

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
    const full = await backUp("full", "Full");
    expect(full).toMatchObject({ verification: { walComplete: true, checksumsGood: true }, progress: { percent: 100 } });
    expect(full.label).toMatch(/F$/);
    const incremental = await backUp("incremental", "Incremental");
    expect(incremental.label).toMatch(new RegExp(`^${full.label}_.*I$`));
    expect(incremental.repositoryBytes).toBeLessThan(full.repositoryBytes ?? 0);
    expect(incremental.sourcePodName).not.toBe(await database.primary());
    expect((await database.get()).status).toMatchObject({ firstRecoverableTime: full.consistentTime });
    expect(await ledger.verify()).toMatchObject(nothingLost);
  });

  test("give back every acknowledged row, and a second before a mistake what it destroyed", { timeout: 15 * minutes }, async () => {
    await database.sql("CREATE TABLE precious AS SELECT n, md5(n::text) AS text FROM generate_series(1, 1000) AS n");
    const sum = "SELECT md5(string_agg(text, ',' ORDER BY n)) FROM precious";
    const before = await database.sql(sum);
    await database.sql("SELECT pg_sleep(1.5)");
    const moment = (await database.sql("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")).trim();
    await database.sql("SELECT pg_sleep(1.5)");
    await database.sql("DROP TABLE precious");
    const report = await ledger.report();
    await new Archive(namespace, database).complete({ begin: 1 });

    const { restored } = await restore("latest", { source: { backupName: "incremental" } });
    const rows = Number(await restored.sql("SELECT count(*) FROM ledger"));
    expect(rows).toBeGreaterThanOrEqual(report.acknowledged);
    const { restored: earlier, status } = await restore("earlier", {
      source: { sampleDBName: "orders" },
      target: { type: "Time", time: moment },
    });
    expect(await earlier.sql(sum)).toBe(before);
    expect(Date.parse(status.recoveredToTime ?? "")).toBeLessThanOrEqual(Date.parse(moment));
    await over<BackupStatus>("backup", status.firstBackupName ?? "", "True");
    await earlier.waitReady();
  });
});
