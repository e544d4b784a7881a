// Each fault of the store, in each situation of the database: what is wrong is told while it lasts, and afterwards every segment is there.
import { afterEach, beforeAll, describe, test } from "vitest";
import { Archive } from "../database/archive.ts";
import { lastServer } from "../database/ledger.ts";
import type { StoreFault } from "../store/front.ts";
import { deployedOperator } from "../suites/deployed-operator.ts";
import { backupTo, suiteStore } from "../suites/suite-store.ts";
import { drain, isLocal, suiteNamespace, withoutNetwork } from "../suites/test-cluster.ts";
import { WatchedDatabase } from "../suites/watched-database.ts";

const minutes = 60_000;
const condition = "RepositoryReachable";

/** What the condition says of each fault. A slow store works. */
const faults: readonly { readonly fault: StoreFault; readonly reason: string }[] = [
  { fault: "dead", reason: "StoreUnreachable" },
  { fault: "refusing", reason: "StoreUnreachable" },
  { fault: "silent", reason: "StoreUnreachable" },
  { fault: "denied", reason: "StoreDenied" },
  { fault: "failing", reason: "StoreFailed" },
  { fault: "full", reason: "RepositoryFull" },
  { fault: "slow", reason: "RepositoryReachable" },
  { fault: "cut", reason: "StoreUnreachable" },
];

describe.runIf(isLocal)("the archive", () => {
  deployedOperator();
  const reached = suiteStore();
  const namespace = suiteNamespace("matrix-archive");
  let watched: WatchedDatabase;
  let archive: Archive;

  const pgbench = async (...options: string[]) => {
    const command = ["pgbench", "--host=/run/postgresql", "--username=postgres", "postgres", ...options];
    return await watched.database.shell(await watched.database.primary(), `${command.join(" ")} 2>&1`);
  };

  beforeAll(async () => {
    watched = await WatchedDatabase.start(namespace, { backup: await backupTo(reached(), namespace) });
    archive = new Archive(namespace, watched.database);
    await pgbench("--initialize", "--scale=5", "--quiet");
    await whole();
  }, 15 * minutes);

  afterEach(() => reached().store.fault(undefined));

  /** Every instance follows, every acknowledged row is there, the archive has all of the log, and the store is known to be well. */
  async function whole(): Promise<void> {
    await watched.whole();
    await archive.complete({ begin: 1, deadlineMs: 3 * minutes });
    await watched.database.says(condition, "RepositoryReachable");
  }

  const situations: readonly { readonly situation: string; readonly happens: () => Promise<unknown> }[] = [
    { situation: "idle", happens: async () => {} },
    { situation: "pgbench", happens: () => pgbench("--client=4", "--time=10", "--no-vacuum") },
    { situation: "a switchover", happens: () => watched.handOver() },
    {
      situation: "the primary's node drained",
      happens: async () => drain(await watched.database.nodeOf(await watched.database.primary())),
    },
    { situation: "the primary's node lost", happens: nodeLost },
  ];

  async function nodeLost(): Promise<void> {
    const { database, ledger, ledgerNode } = watched;
    const node = await database.primaryNode(ledgerNode);
    await database.waitHeirs();
    const before = await ledger.report();
    await withoutNetwork(node, () => ledger.acknowledges({ rows: 10, deadlineMs: 2 * minutes, otherThan: lastServer(before) }));
  }

  describe.each(situations)("$situation", ({ happens }) => {
    test.each(faults)("with a store that is $fault", { timeout: 10 * minutes }, async ({ fault, reason }) => {
      const { database } = watched;
      await reached().store.fault(fault);
      await database.sql("SELECT pg_switch_wal()", { superuser: true }); // a push meets the fault
      await happens();
      await database.says(condition, reason);
      await reached().store.fault(undefined);
      await whole();
    });
  });
});
