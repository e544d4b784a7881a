// A highly available database under faults, with a writer that keeps a ledger of what was acknowledged: nothing of it is ever lost.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { isReady } from "../cluster/status.ts";
import { Database, sampleDB } from "../database/database.ts";
import { findContainer, killContainer } from "../database/faults.ts";
import { Ledger, nothingLost, type Report } from "../database/ledger.ts";
import { writesWhileQuiet } from "../database/quiet.ts";
import { deployedOperator, operator, system } from "./deployed-operator.ts";
import { isLocal, kubectl, localCluster, schedulableNodes, suiteNamespace } from "./test-cluster.ts";

deployedOperator();
const namespace = suiteNamespace("database-faults");

let database: Database;
let ledger: Ledger;
let writersNode: string;

beforeAll(async () => {
  [writersNode = ""] = await schedulableNodes();
  database = await Database.apply(namespace, sampleDB({ name: "orders", replicas: 3, synchronousReplication: "Required" }));
  ledger = await Ledger.start(namespace, { database: "orders", node: writersNode, deadlineMs: 240_000 });
  await database.waitReady();
});

/** After whatever was done to it: whole again, one primary, and every acknowledged row there. */
afterEach(async () => {
  await ledger.acknowledges({ rows: 10, deadlineMs: 60_000 });
  // By asking the primary: what Kubernetes knows of a node that was lost is from before for up to 50 s, and looks well.
  await eventually("every replica follows the primary", 180_000, async () => {
    const followers = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'";
    return (await database.sql(followers, { superuser: true }).catch(() => undefined)) === "2";
  });
  await database.waitReady();
  expect(await ledger.verify()).toMatchObject(nothingLost);
  expect(await database.writable()).toHaveLength(1);
});

const lastServer = ({ last }: Report) => {
  if (!last) throw new Error("nothing was acknowledged yet");
  return last.server;
};

async function longestOutageSince(moment: number): Promise<number> {
  return Math.max(0, ...(await ledger.outagesSince(moment)).map(({ milliseconds }) => milliseconds));
}

/** The node of the leading operator, which is made another one than the writer's: that one is not to be cut. */
async function leadingElsewhere(): Promise<string> {
  return await eventually("the operator leads from another node than the writer's", 180_000, async () => {
    const { name, node } = await operator.leader();
    if (node !== writersNode) return node;
    await system.run("delete", "pod", name);
    await operator.ready();
    return undefined;
  });
}

test("the database is reached by TLS, and its Pods by nobody's password in sight", async () => {
  const [row] = (
    await database.sql("SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'app' AND client_addr IS NOT NULL", {
      superuser: true,
    })
  ).split("\n");
  expect(row).toBe("t");
  const passwords = await Promise.all(
    ["superuser", "replication", "app"].map(async (name) =>
      Buffer.from((await namespace.get("secret", `orders-${name}`))?.["data"].password, "base64").toString(),
    ),
  );
  const seen = [
    JSON.stringify(await namespace.list("configmaps,pods,statefulsets,jobs,events")),
    JSON.stringify(await database.get()),
    await namespace.run("logs", "orders-0", "--all-containers"),
    await namespace.run("exec", "orders-0", "--container=postgres", "--", "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"),
    await system.run("logs", "--selector=app.kubernetes.io/name=sampledb-operator", "--tail=-1"),
  ].join("\n");
  for (const password of passwords) expect(seen.includes(password)).toBe(false);
});

test("a switchover on a person's word loses nothing and takes seconds", async () => {
  const before = await ledger.report();
  const primary = await database.primary();
  await database.switchOver((await database.instances()).find((name) => name !== primary) ?? "");
  await ledger.acknowledges({ rows: 10, deadlineMs: 60_000, since: before, otherThan: lastServer(before) });
  expect(await longestOutageSince(before.now)).toBeLessThan(15_000);
  expect((await namespace.get("sampledb", "orders"))?.["metadata"].annotations?.["sampledb.io/switchover"]).toBeUndefined();
});

describe.runIf(isLocal)("faults", () => {
  test("every process of the primary killed", async () => {
    const before = await ledger.report();
    const victim = await findContainer(namespace, await database.primary());
    await killContainer(localCluster(), victim);
    const { now } = await ledger.acknowledges({ rows: 10, deadlineMs: 60_000, otherThan: lastServer(before) });
    expect(now).toBeGreaterThan(before.now);
  });

  test("the operator away while a failover happens", async () => {
    await system.run("scale", "deployment/sampledb-operator", "--replicas=0");
    await eventually("no operator is left", 90_000, async () => (await system.list("pods")).length === 0);
    const before = await ledger.report();
    const primary = await database.primary();
    await namespace.run("delete", "pod", primary, "--grace-period=0", "--force");
    await ledger.acknowledges({ rows: 10, deadlineMs: 60_000, otherThan: lastServer(before) });
    expect(await ledger.connect(20)).toMatchObject({ failed: 0 });
    await system.run("scale", "deployment/sampledb-operator", "--replicas=2");
    await operator.ready();
  });

  test("the API server away for longer than the lock lives: writes go on", async () => {
    const cluster = localCluster();
    const before = await ledger.report();
    await cluster.killPart("control-plane", "kube-apiserver");
    await sleep(40_000); // the length of the fault: twice the time that the lock is good for
    await cluster.startPart("control-plane", "kube-apiserver");
    const { last } = await ledger.report();
    expect(last?.server).toEqual(lastServer(before));
    expect(await longestOutageSince(before.now)).toBeLessThan(5000);
    await operator.leader(); // its replicas have ended meanwhile, and the kubelet starts them again after a while
  });

  test("the node with the leading operator and the primary cut off: another takes over, and no new connection goes to the lost one", async () => {
    const cluster = localCluster();
    const node = await leadingElsewhere();
    const here = (await database.pods()).find((pod) => pod["spec"].nodeName === node)?.["metadata"].name as string;
    if ((await database.primary()) !== here) await database.switchOver(here);
    await database.waitReady();
    const before = await ledger.report();
    await cluster.cutNetwork(node);
    try {
      await ledger.acknowledges({ rows: 1, deadlineMs: 90_000, otherThan: lastServer(before) });
      const { failed, servers } = await ledger.connect(100);
      expect({ failed, answered: servers.length, inRecovery: servers[0]?.inRecovery }).toEqual({
        failed: 0,
        answered: 1,
        inRecovery: false,
      });
      const outage = await longestOutageSince(before.now);
      expect(outage).toBeLessThan(60_000);
    } finally {
      await cluster.joinNetwork(node);
    }
    await eventually(`${node} is Ready again`, 120_000, async () => isReady((await kubectl.get("node", node)) ?? {}));
    await operator.ready();
  });

  test("every node drained in turn", async () => {
    for (const node of await schedulableNodes()) {
      await kubectl.run(
        "drain",
        node,
        "--ignore-daemonsets",
        "--delete-emptydir-data",
        "--pod-selector=app!=ledger",
        "--timeout=170s",
        "--request-timeout=0",
      );
      await kubectl.run("uncordon", node);
      await eventuallySucceeds("the database is whole", 120_000, () => database.waitReady(1000));
    }
    await operator.ready();
  });
});

test("a replica that has left the primary's history comes back by itself", async () => {
  const primary = await database.primary();
  const stray = (await database.instances()).find((name) => name !== primary) ?? "";
  const promoted = "pg_ctl promote --pgdata=/var/lib/postgresql/data && psql --command='CREATE TABLE astray (id int)'";
  await namespace.run("exec", stray, "--container=postgres", "--", "sh", "-c", promoted);
  await eventuallySucceeds(`${stray} follows ${primary} again`, 180_000, async () => {
    expect(
      await database.sql("SELECT to_regclass('astray') IS NULL AND pg_is_in_recovery()", {
        superuser: true,
        pod: stray,
        databaseName: "postgres",
      }),
    ).toBe("t");
    expect(await database.sql(`SELECT state FROM pg_stat_replication WHERE application_name = '${stray}'`, { superuser: true })).toBe(
      "streaming",
    );
  });
});

test("the primary's Pod deleted", async () => {
  const before = await ledger.report();
  await namespace.run("delete", "pod", await database.primary(), "--wait=false");
  await ledger.acknowledges({ rows: 10, deadlineMs: 60_000, otherThan: lastServer(before) });
  expect(await longestOutageSince(before.now)).toBeLessThan(30_000);
});

test("converged, the operator is quiet", async () => {
  expect(await writesWhileQuiet(namespace, { alone: true })).toEqual([]);
});
