// As many instances as there may be, on fewer nodes: what is lost with a node is more than one of them.
import { beforeAll, describe, expect, test } from "vitest";
import { eventuallySucceeds } from "../../tools/eventually.ts";
import { findContainer, killContainer } from "../database/faults.ts";
import { lastServer } from "../database/ledger.ts";
import { deployedOperator } from "../suites/deployed-operator.ts";
import { isLocal, localCluster, schedulableNodes, suiteNamespace, withoutNetwork } from "../suites/test-cluster.ts";
import { Subject } from "./subject.ts";

const minutes = 60_000;
const replicas = 9;

describe.runIf(isLocal)("nine instances", () => {
  deployedOperator();
  const namespace = suiteNamespace("matrix-nine");
  let subject: Subject;
  let ledgerNode: string;

  beforeAll(async () => {
    [ledgerNode = ""] = await schedulableNodes();
    const spec = { name: "nine", replicas, synchronousReplication: "Required" } as const;
    subject = await Subject.start(namespace, namespace.namespace ?? "", spec, ledgerNode);
    return () => subject.census.stop();
  }, 10 * minutes);

  async function whole(): Promise<void> {
    await eventuallySucceeds("all nine are there", 5 * minutes, () => subject.database.waitReady(1000));
    await subject.database.waitHeirs();
    await subject.sound();
  }

  test("all follow the primary, and every node has its share", async () => {
    await whole();
    const following = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'quorum'";
    expect(await subject.database.sql(following, { superuser: true })).toBe(String(replicas - 1));
    const nodes = (await subject.database.pods()).map(({ spec }) => spec.nodeName as string);
    for (const node of await schedulableNodes()) expect(nodes.filter((name) => name === node).length).toBeGreaterThan(1);
  });

  test("every process of the primary killed", async () => {
    const before = await subject.ledger.report();
    await killContainer(localCluster(), await findContainer(namespace, await subject.database.primary()));
    await subject.ledger.acknowledges({ rows: 10, deadlineMs: minutes, otherThan: lastServer(before) });
    await whole();
  });

  test("the primary's node cut off, and two replicas or more with it: another takes over", async () => {
    const { database, ledger } = subject;
    const node = await database.primaryNode(ledgerNode);
    await whole();
    const before = await ledger.report();
    await withoutNetwork(node, () => ledger.acknowledges({ rows: 10, deadlineMs: 1.5 * minutes, otherThan: lastServer(before) }));
    await whole();
  });

  test("down to three in one change", async () => {
    await subject.database.change({ replicas: 3 });
    await subject.watchingWriters(subject.database.waitReady(5 * minutes));
    expect(await subject.database.instances()).toEqual(["nine-0", "nine-1", "nine-2"]);
    await subject.sound();
  });
});
