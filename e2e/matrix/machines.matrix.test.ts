// Faults of the machines below: container runtime, kubelet, etcd, and a node that loses power.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventuallySucceeds } from "../../tools/eventually.ts";
import { lastServer } from "../database/ledger.ts";
import { deployedOperator, operator } from "../suites/deployed-operator.ts";
import { isLocal, kubectl, localCluster, nodeBack, schedulableNodes, suiteNamespace } from "../suites/test-cluster.ts";
import { Subject } from "./subject.ts";

const minutes = 60_000;

describe.runIf(isLocal)("machines", () => {
  deployedOperator();
  const namespace = suiteNamespace("matrix-machines");
  let subject: Subject;
  let ledgerNode: string;

  beforeAll(async () => {
    [ledgerNode = ""] = await schedulableNodes();
    const spec = { name: "machines", replicas: 3, synchronousReplication: "Required" } as const;
    subject = await Subject.start(namespace, namespace.namespace ?? "", spec, ledgerNode);
    return () => subject.census.stop();
  }, 10 * minutes);

  beforeEach(() => subject.census.reset());

  afterEach(async () => {
    await eventuallySucceeds("the database is whole", 6 * minutes, () => subject.database.waitReady(1000));
    await operator.ready();
    await subject.sound();
  }, 10 * minutes);

  /** The primary's, moved off the node from which the ledger writes. */
  async function primaryNode(): Promise<string> {
    const { database } = subject;
    if ((await database.nodeOf(await database.primary())) !== ledgerNode) return await database.nodeOf(await database.primary());
    const pod = (await database.pods()).find(({ spec }) => spec.nodeName !== ledgerNode)?.["metadata"].name as string;
    await database.switchOver(pod);
    await database.waitReady();
    await database.waitHeirs();
    return await database.nodeOf(pod);
  }

  test.each(["containerd", "kubelet"] as const)("%s of the primary's node killed and started again", async (part) => {
    const node = await primaryNode();
    const before = await subject.ledger.report();
    await localCluster().killPart(node, part);
    await sleep(20_000); // the length of the fault
    await localCluster().startPart(node, part);
    if (part === "containerd") await localCluster().boot(node); // the kubelet may have ended with it
    await subject.ledger.acknowledges({ rows: 100, deadlineMs: 2 * minutes });
    expect((await subject.ledger.report()).last?.server).toEqual(before.last?.server); // nobody had a reason to fail over
    expect(subject.census.births()).toEqual({});
  });

  test("etcd killed and started again", async () => {
    await subject.database.waitFailsafe();
    const before = await subject.ledger.report();
    await localCluster().killPart("control-plane", "etcd");
    await sleep(30_000); // longer than the lock lives
    await localCluster().startPart("control-plane", "etcd");
    await eventuallySucceeds("the API server answers", 2 * minutes, () => kubectl.run("get", "--raw", "/readyz"));
    expect((await subject.ledger.report()).last?.server).toEqual(before.last?.server);
    await subject.database.waitReady(4 * minutes);
    expect(subject.census.births()).toEqual({});
  });

  test("the primary's node without power, and back", async () => {
    const node = await primaryNode();
    const lost = await subject.database.primary();
    const before = await subject.ledger.report();
    await localCluster().powerOff(node);
    try {
      await subject.ledger.acknowledges({ rows: 10, deadlineMs: 2 * minutes, otherThan: lastServer(before) });
      expect(await subject.database.primary()).not.toBe(lost);
    } finally {
      await localCluster().powerOn(node);
      await localCluster().boot(node);
    }
    await nodeBack(node, 3 * minutes);
    await subject.database.waitReady(6 * minutes);
    const claims = Object.keys(subject.census.births()).filter((what) => !what.startsWith("Pod "));
    expect(claims).toEqual([]); // its Pod may be made anew, on its own volume
  });
});
