// Two histories and nobody who leads: a former primary has more log than the only instance that has the newer history.
import { expect, test } from "vitest";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { findContainer, freezeContainer, thawContainer } from "../database/faults.ts";
import { lastServer } from "../database/ledger.ts";
import { deployedOperator } from "../suites/deployed-operator.ts";
import { isLocal, localCluster, nodeBack, schedulableNodes, suiteNamespace } from "../suites/test-cluster.ts";
import { Subject } from "./subject.ts";

deployedOperator();
const namespace = suiteNamespace("matrix-stalemate");

const minutes = 60_000;

// Commits wait for nobody: with a replica that they wait for, Patroni asks only those.
test.runIf(isLocal)("the newer history leads, though the older one has more log", { timeout: 15 * minutes }, async () => {
  const cluster = localCluster();
  const [ledgerNode = ""] = await schedulableNodes();
  const subject = await Subject.start(namespace, namespace.namespace ?? "", { name: "parted", replicas: 3 }, ledgerNode);
  const { database, ledger } = subject;
  const elsewhere = (await database.pods()).find((pod) => pod["spec"].nodeName !== ledgerNode);
  const former = elsewhere?.["metadata"].name as string;
  const node = await database.nodeOf(former);
  if ((await database.primary()) !== former) await database.switchOver(former);
  const followers = async (primary: string) =>
    (
      await database.sql("SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'", { superuser: true, pod: primary })
    ).split("\n");
  await eventually("both replicas follow it", 2 * minutes, async () => (await followers(former)).length === 2);

  // Its node loses power, another leads, and the third follows that one.
  const before = await ledger.report();
  await cluster.powerOff(node);
  await ledger.acknowledges({ rows: 10, deadlineMs: 2 * minutes, otherThan: lastServer(before) });
  const next = await database.primary();
  const [heir = ""] = (await database.instances()).filter((name) => name !== former && name !== next);
  await eventually(`${heir} follows ${next}`, minutes, async () => (await followers(next)).includes(heir));
  await database.sql("CREATE TABLE newer AS SELECT 7 AS id");
  const there = "SELECT to_regclass('newer') IS NOT NULL";
  await eventually(`${heir} has it`, minutes, async () => (await database.sql(there, { superuser: true, pod: heir })) === "t");
  const position = await database.sql("SELECT pg_current_wal_lsn()", { superuser: true, pod: next });

  // That one is lost before the first is back, which has more log then: recovering from a crash ends with a whole segment.
  const [lost, follower] = [await findContainer(namespace, next), await findContainer(namespace, heir)];
  await cluster.powerOn(node);
  await freezeContainer(cluster, lost);
  await freezeContainer(cluster, follower);
  try {
    await cluster.boot(node);
    await eventuallySucceeds(`${former} is ahead`, 2 * minutes, async () => {
      const isAhead = `SELECT pg_last_wal_replay_lsn() > '${position}'`;
      expect(await database.sql(isAhead, { superuser: true, pod: former })).toBe("t");
    });
    await thawContainer(cluster, follower);
    await subject.watchingWriters(ledger.acknowledges({ rows: 10, deadlineMs: 4 * minutes }));
    expect(await database.primary()).toBe(heir);
  } finally {
    await thawContainer(cluster, lost);
  }
  await nodeBack(node, 3 * minutes);
  await database.waitReady(6 * minutes);
  expect(await database.sql("SELECT id FROM newer")).toBe("7");
  expect(await database.writable()).toHaveLength(1);
  await subject.census.stop();
});
