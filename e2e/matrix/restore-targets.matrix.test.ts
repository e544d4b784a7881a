// Every kind of target, on both majors: exactly the rows up to it come back, and the status says what was reached. Then source and restored
// database write side by side, and each has an archive of its own.
import { beforeAll, describe, expect, test } from "vitest";
import type { RestoreSpec } from "../../api/restore.ts";
import { Archive } from "../database/archive.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Ledger, nothingLost } from "../database/ledger.ts";
import { Runs } from "../database/runs.ts";
import { deployedOperator } from "../suites/deployed-operator.ts";
import { backupTo, suiteStore } from "../suites/suite-store.ts";
import { isLocal, suiteNamespace } from "../suites/test-cluster.ts";

const minutes = 60_000;
const superuser = { superuser: true } as const;
const restorePoint = "after the fourth";

/** A row, and the server's clock and place in the log after it was written and before its commit. */
interface Written {
  readonly time: number;
  readonly place: bigint;
}

interface Goal {
  readonly name: string;
  readonly target: () => Partial<RestoreSpec["target"]>;
  /** The last row that comes back. The failover is between rows 6 and 7. */
  readonly last: number;
}

describe.runIf(isLocal)("restores", () => {
  deployedOperator();
  const reached = suiteStore();

  describe.each([17, 15] as const)("of PostgreSQL %i", (postgresVersion) => {
    const namespace = suiteNamespace(`matrix-targets-${postgresVersion}`);
    const runs = new Runs(namespace, "orders", 10 * minutes);
    const orders = new Database(namespace, "orders");
    const archive = new Archive(namespace, orders);
    const written: Written[] = [];
    let label: string | undefined;
    let lsn = "";
    let transactionID = "";
    let moment = "";

    const now = "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')";

    /** The next row; what a target needs to name its transaction. */
    async function write(database: Database, n: number): Promise<{ readonly transaction: string } & Written> {
      const told = await database.sql(`INSERT INTO rows VALUES (${n}) RETURNING ${now}, pg_current_wal_insert_lsn(), pg_current_xact_id()`);
      const [time = "", place = "", transaction = ""] = told.split("|");
      return { time: Date.parse(time), place: placeOf(place), transaction };
    }

    async function writeNext(): Promise<string> {
      const { transaction, ...row } = await write(orders, written.length + 1);
      written.push(row);
      return transaction;
    }

    const rowsOf = (database: Database) => database.sql("SELECT string_agg(n::text, ' ' ORDER BY n) FROM rows");

    const goals: readonly Goal[] = [
      { name: "immediate", target: () => ({ type: "Immediate" }), last: 1 },
      { name: "place", target: () => ({ type: "LSN", lsn }), last: 2 },
      { name: "transaction", target: () => ({ type: "TransactionID", transactionID }), last: 3 },
      { name: "restore-point", target: () => ({ type: "RestorePoint", restorePoint }), last: 4 },
      { name: "time", target: () => ({ type: "Time", time: moment }), last: 5 },
      { name: "former-timeline", target: () => ({ type: "Latest", timeline: 1 }), last: 6 },
      { name: "latest", target: () => ({ type: "Latest" }), last: 7 },
    ];

    beforeAll(async () => {
      const backup = await backupTo(reached(), namespace);
      const spec = { replicas: 2, synchronousReplication: "Required", deletionPolicy: "Delete" } as const;
      await Database.apply(namespace, sampleDB({ name: "orders", postgresVersion, backup, ...spec }));
      await orders.waitReady(5 * minutes);
      await orders.sql("CREATE TABLE rows (n integer)");
      await writeNext();
      ({ label } = await runs.backUp("first", "Full"));
      await orders.sql("SELECT pg_sleep(1.5)"); // the backup's end is told in whole seconds, and a target is later
      await writeNext();
      lsn = await orders.sql("SELECT pg_current_wal_insert_lsn()");
      transactionID = await writeNext();
      await writeNext();
      await orders.sql(`SELECT pg_create_restore_point('${restorePoint}')`, superuser);
      await writeNext();
      moment = await orders.sql(`SELECT ${now} FROM pg_sleep(1)`);
      await writeNext();
      await archive.complete({ begin: 1, deadlineMs: 3 * minutes });
      await failOver();
      await writeNext();
      await archive.complete({ begin: 1, deadlineMs: 3 * minutes });
      for (const { name, target } of goals) await runs.beginRestore(name, name, { source: { backupName: "first" }, target: target() });
    }, 20 * minutes);

    async function failOver(): Promise<void> {
      await orders.waitHeirs();
      await namespace.run("delete", "pod", await orders.primary(), "--timeout=120s", "--request-timeout=0");
      await orders.waitReady();
      expect(await orders.sql("SELECT pg_walfile_name(pg_current_wal_lsn())", superuser)).toMatch(/^00000002/);
    }

    test.each(goals)("to $name give the rows up to $last", { timeout: 15 * minutes }, async ({ name, last }) => {
      const status = await runs.succeeds("Restore", name);
      expect(await rowsOf(new Database(namespace, name))).toBe("1 2 3 4 5 6 7".slice(0, 2 * last - 1));
      // The archive knows timeline 2 by then, so each begins the third one.
      expect(status).toMatchObject({
        backupLabel: label,
        timeline: 3,
        recoveredToTime: expect.any(String),
        recoveredToLSN: expect.any(String),
      });
      expect(status.note).toBeUndefined();
      const { [last - 1]: reachedRow, [last]: next } = written;
      const [time, place] = [Date.parse(status.recoveredToTime ?? ""), placeOf(status.recoveredToLSN ?? "")];
      expect(time).toBeGreaterThanOrEqual(reachedRow?.time ?? Number.NaN);
      expect(time).toBeLessThan(next?.time ?? Number.POSITIVE_INFINITY);
      expect(place > (reachedRow?.place ?? 0n)).toBe(true);
      expect(next === undefined || place <= next.place).toBe(true);
    });

    test("and the new database write side by side, and neither touches the archive of the other", { timeout: 20 * minutes }, async () => {
      const latest = new Database(namespace, "latest");
      const own = new Archive(namespace, latest);
      await runs.succeeds("Restore", "latest");
      const ledgers = [
        await Ledger.start(namespace, { database: "orders", name: "ledger-orders" }),
        await Ledger.start(namespace, { database: "latest", name: "ledger-latest" }),
      ];
      for (let round = 0; round < 3; round++) {
        for (const ledger of ledgers) await ledger.acknowledges({ rows: 100, deadlineMs: minutes });
        for (const database of [orders, latest]) await database.sql("SELECT pg_switch_wal()", superuser);
      }
      await write(orders, 100);
      await write(latest, 200);
      for (const ledger of ledgers) {
        expect(await ledger.verify()).toMatchObject(nothingLost);
        await ledger.stop();
      }
      for (const each of [archive, own]) await each.complete({ deadlineMs: 3 * minutes });
      expect(await own.stanza()).not.toBe(await archive.stanza());
      expect(timelines(await archive.files())).toEqual([1, 2]);
      expect(timelines(await own.files())).toEqual([4]); // the restore has begun the third one, and Patroni promotes once more

      const { firstBackupName = "" } = await runs.succeeds("Restore", "latest");
      await runs.succeeds("Backup", firstBackupName);
      await runs.beginRestore("of-the-source", "of-the-source", { source: { sampleDBName: "orders" } });
      await runs.beginRestore("of-the-new-one", "of-the-new-one", { source: { sampleDBName: "latest" } });
      await runs.succeeds("Restore", "of-the-source");
      expect(await rowsOf(new Database(namespace, "of-the-source"))).toBe("1 2 3 4 5 6 7 100");
      await runs.succeeds("Restore", "of-the-new-one");
      expect(await rowsOf(new Database(namespace, "of-the-new-one"))).toBe("1 2 3 4 5 6 7 200");
    });
  });
});

function placeOf(lsn: string): bigint {
  const [high = "", low = ""] = lsn.split("/");
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

/** Of the segments among these files of an archive. */
function timelines(files: readonly string[]): number[] {
  const found = files.flatMap((file) => /\/([0-9A-F]{8})[0-9A-F]{16}-[0-9a-f]{40}/.exec(file)?.[1] ?? []);
  return [...new Set(found.map((timeline) => Number.parseInt(timeline, 16)))].sort();
}
