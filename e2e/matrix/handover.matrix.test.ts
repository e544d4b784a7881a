// A handover where commits wait for nobody, which Patroni carries out whatever the next leader has received.
import { expect, test } from "vitest";
import { cutReplication, findContainer } from "../database/faults.ts";
import { lastServer } from "../database/ledger.ts";
import { deployedOperator } from "../suites/deployed-operator.ts";
import { localCluster, suiteNamespace } from "../suites/test-cluster.ts";
import { Subject } from "./subject.ts";

deployedOperator();
const namespace = suiteNamespace("matrix-handover");
const minutes = 60_000;

test("whoever was named and has lost its connection since does not lead: the last primary does", { timeout: 15 * minutes }, async () => {
  const subject = await Subject.start(namespace, namespace.namespace ?? "", { name: "handed", replicas: 2 });
  const { database, ledger } = subject;
  const primary = await database.primary();
  const named = await database.someReplica();
  const mend = await cutReplication(localCluster(), await findContainer(namespace, named));
  try {
    const before = await ledger.acknowledges({ rows: 10, deadlineMs: minutes }); // which it has not got
    // As the operator would have written it a moment before: by now it may know that the replica does not follow.
    const order = [`leader=${primary}`, `member=${named}`, `sampledb.io/named=${named}`];
    await namespace.run("annotate", "configmap", "handed-failover", ...order);
    const settled = ledger.acknowledges({ rows: 10, deadlineMs: 3 * minutes, otherThan: lastServer(before) });
    await subject.watchingWriters(settled);
    expect(await database.primary()).toBe(primary);
  } finally {
    await mend();
  }
  await database.waitReady(3 * minutes);
  await subject.sound();
  expect((await namespace.get("configmap", "handed-failover"))?.["metadata"].annotations?.["sampledb.io/named"]).toBeUndefined();
  await subject.census.stop();
});
