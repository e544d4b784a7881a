// Faults of the machines below: container runtime, kubelet, etcd, and a node that loses power.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { lastServer } from "../database/ledger.ts";
import { deployedOperator, operator } from "../suites/deployed-operator.ts";
import { isLocal, kubectl, localCluster, nodeBack, nodeReady, schedulableNodes, suiteNamespace } from "../suites/test-cluster.ts";
import { conditionOf } from "./changes.ts";
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
    await subject.database.waitHeirs(); // a Pod on a node that was lost looks well for most of a minute
    await operator.ready();
    await subject.sound();
  }, 10 * minutes);

  /** The primary's, moved off the node from which the ledger writes. */
  const primaryNode = () => subject.database.primaryNode(ledgerNode);

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

  test("the kubelet away on which a change is tried: another node tries it", async () => {
    const { database } = subject;
    const others = [ledgerNode, await primaryNode()];
    const node = (await schedulableNodes()).find((name) => !others.includes(name)) ?? "";
    await localCluster().killPart(node, "kubelet");
    try {
      await kubectl.run("cordon", ...others); // the scheduler does not know yet
      await database.change({ postgresql: { parameters: { work_mem: "9MB" } } });
      await eventually(`it is to be tried on ${node}`, minutes, async () => {
        const pods = await namespace.list("pods", "--selector=batch.kubernetes.io/job-name=machines-trial");
        return pods.some(({ spec }) => spec.nodeName === node);
      });
      await kubectl.run("uncordon", ...others);
      await eventually("the primary has it", 4 * minutes, async () => (await database.sql("SHOW work_mem")) === "9MB");
    } finally {
      await kubectl.run("uncordon", ...others);
      await localCluster().startPart(node, "kubelet");
    }
    await nodeBack(node, 2 * minutes);
    expect(Object.keys(subject.census.births()).filter((what) => !what.endsWith("-trial"))).toEqual([]);
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

  /** The node has no power while this goes on, and is back then. */
  async function withoutPower(node: string, work: () => Promise<void>): Promise<void> {
    await localCluster().powerOff(node);
    try {
      await work();
    } finally {
      await localCluster().powerOn(node);
      await localCluster().boot(node);
    }
    await nodeBack(node, 3 * minutes);
  }

  /** On a person's word; its node does not come back. */
  async function madeAnewElsewhere(name: string, node: string): Promise<void> {
    const { database } = subject;
    await namespace.run("annotate", "sampledb", "machines", `sampledb.io/replace-instance=${name}`);
    await eventually(`${name} is on another node`, 4 * minutes, async () => (await database.nodeOf(name).catch(() => node)) !== node);
    await database.waitReady(4 * minutes);
    await database.waitHeirs();
  }

  test("the primary's node without power, and back", async () => {
    const node = await primaryNode();
    const lost = await subject.database.primary();
    const before = await subject.ledger.report();
    await withoutPower(node, async () => {
      await subject.ledger.acknowledges({ rows: 10, deadlineMs: 2 * minutes, otherThan: lastServer(before) });
      expect(await subject.database.primary()).not.toBe(lost);
    });
    await subject.database.waitReady(6 * minutes);
    const claims = Object.keys(subject.census.births()).filter((what) => !what.startsWith("Pod "));
    expect(claims).toEqual([]); // its Pod may be made anew, on its own volume
  });

  test("a node that never comes back: on a person's word its instance is made anew elsewhere", async () => {
    const { database } = subject;
    const others = [ledgerNode, await primaryNode()];
    const lost = (await database.pods()).find(({ spec }) => !others.includes(spec.nodeName));
    const { name, node } = { name: lost?.["metadata"].name as string, node: lost?.["spec"].nodeName as string };
    await withoutPower(node, async () => {
      await database.tells({ reason: "NodeLost", message: `${name} is lost: its node ${node} does not answer` });
      await madeAnewElsewhere(name, node);
    });
    await madeAnewElsewhere(name, await database.nodeOf(name)); // back to where there is none
    const anew = { created: 2, deleted: 2 };
    expect(subject.census.births()).toEqual({ [`Pod ${name}`]: anew, [`PersistentVolumeClaim data-${name}`]: anew });
  });

  test("the last primary's node lost for good while the database sleeps: given up on a person's word, the others lead", async () => {
    const { database } = subject;
    const node = await primaryNode();
    const name = await database.primary();
    await database.change({ powerState: "Hibernated" });
    await eventually("it sleeps", 3 * minutes, async () => conditionOf((await database.get()).status, "Ready")?.reason === "Hibernated");
    await withoutPower(node, async () => {
      await eventually("the node is lost", 2 * minutes, async () => !(await nodeReady(node)));
      await database.change({ powerState: "Running" });
      await eventually("nobody else is started", 2 * minutes, async () => {
        const { blockers = [] } = (await database.get()).status ?? {};
        return (await database.instances()).join() === name && blockers.some(({ reason }) => reason === "Unschedulable");
      });
      await madeAnewElsewhere(name, node);
    });
    const claims = Object.entries(subject.census.births()).filter(([what]) => what.startsWith("PersistentVolumeClaim "));
    expect(claims).toEqual([[`PersistentVolumeClaim data-${name}`, { created: 1, deleted: 1 }]]);
  });
});
