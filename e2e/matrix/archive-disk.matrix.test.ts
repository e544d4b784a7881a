// Segments that can't be archived fill the data volumes: it is told in time, the volumes grow while nobody can write, and nothing is missing
// when the store is back.
import { beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { say } from "../../tools/progress.ts";
import { Archive } from "../database/archive.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Ledger, nothingLost } from "../database/ledger.ts";
import { deployedOperator } from "../suites/deployed-operator.ts";
import { backupTo, suiteStore } from "../suites/suite-store.ts";
import { isLocal, suiteNamespace } from "../suites/test-cluster.ts";

const minutes = 60_000;

describe.runIf(isLocal)("a store that is away until the disks are full", () => {
  deployedOperator();
  const reached = suiteStore();
  const namespace = suiteNamespace("matrix-archive-disk");
  let database: Database;
  let archive: Archive;
  let ledger: Ledger;

  beforeAll(async () => {
    const backup = await backupTo(reached(), namespace);
    const spec = { name: "filled", replicas: 2, synchronousReplication: "Required", storage: { size: "600Mi" }, backup } as const;
    database = await Database.apply(namespace, sampleDB(spec));
    ledger = await Ledger.start(namespace, { database: "filled", deadlineMs: 4 * minutes });
    await database.waitReady(4 * minutes);
    archive = new Archive(namespace, database);
    await archive.complete({ begin: 1 });
  }, 15 * minutes);

  /** Closes a segment of 16 MiB. The words of the failure, where there is one. */
  async function closeSegment(): Promise<string | undefined> {
    return await database.sql("SELECT pg_switch_wal()", { superuser: true }).then(
      () => undefined,
      (error: Error) => error.message,
    );
  }

  /** Of the primary's volume, in percent. */
  async function used(): Promise<number> {
    const told = await database.shell(await database.primary(), "df --output=pcent /var/lib/postgresql | tail -n 1");
    return Number(told.replace("%", ""));
  }

  test("is told before they are; they grow while nobody can write, and every segment arrives afterwards", {
    timeout: 20 * minutes,
  }, async () => {
    await reached().store.fault("dead");
    await eventually("less than a fifth is free", 3 * minutes, async () => {
      expect(await closeSegment()).toBeUndefined();
      return (await used()) > 82;
    });
    expect(await database.says("ArchivingHealthy", "ArchiveFillsDisk")).toMatch(/segments wait, \d+ % of the primary's volume is free/);
    const { blockers = [] } = (await database.get()).status ?? {};
    expect(blockers.find(({ reason }) => reason === "ArchiveFillsDisk")?.remedy).toMatch(/spec.storage.size/);
    await ledger.acknowledges({ rows: 10, deadlineMs: minutes });

    const failure = await eventually("the disk is full", 4 * minutes, closeSegment);
    say(`full: ${failure.slice(0, 200)}`);
    await database.change({ storage: { size: "1Gi" } });
    await ledger.acknowledges({ rows: 10, deadlineMs: 5 * minutes });
    await database.waitReady(5 * minutes);
    expect(await ledger.verify()).toMatchObject(nothingLost);

    await reached().store.fault(undefined);
    await archive.complete({ begin: 1, deadlineMs: 4 * minutes });
    await database.says("ArchivingHealthy", "Archiving");
    expect(await ledger.verify()).toMatchObject(nothingLost);
  });
});
