// A highly available database under faults, with a writer that keeps a ledger of what was acknowledged: nothing of it is ever lost.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { Database, sampleDB, whyNotReady } from "../database/database.ts";
import { findContainer, freezeContainer, killContainer, leaveHistory, runningContainers, thawContainer } from "../database/faults.ts";
import { Ledger, lastServer, nothingLost } from "../database/ledger.ts";
import { writesWhileQuiet } from "../database/quiet.ts";
import { deployedOperator, operator, system } from "./deployed-operator.ts";
import { isLocal, kubectl, localCluster, nodeBack, schedulableNodes, suiteNamespace } from "./test-cluster.ts";

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

/** New connections through the read-write Service: each is answered, by the same one, which takes writes. */
async function onePrimaryAnswers(attempts: number): Promise<void> {
  const { failed, servers } = await ledger.connect(attempts);
  expect({ failed, answered: servers.length, inRecovery: servers[0]?.inRecovery }).toEqual({ failed: 0, answered: 1, inRecovery: false });
}

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

async function someReplica(): Promise<string> {
  const primary = await database.primary();
  return (await database.instances()).find((name) => name !== primary) ?? "";
}

/** Resolves once another instance takes the writes. */
async function handOver(): Promise<void> {
  const before = await ledger.report();
  await database.switchOver(await someReplica());
  await ledger.acknowledges({ rows: 10, deadlineMs: 120_000, since: before, otherThan: lastServer(before) });
}

test("a switchover on a person's word loses nothing and takes seconds", async () => {
  const before = await ledger.report();
  await handOver();
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
    await database.waitFailsafe();
    const before = await ledger.report();
    await cluster.killPart("control-plane", "kube-apiserver");
    await sleep(40_000); // the length of the fault: twice the time that the lock is good for
    await cluster.startPart("control-plane", "kube-apiserver");
    const after = await ledger.report();
    const outage = await longestOutageSince(before.now);
    await operator.leader(); // its replicas have ended meanwhile, and the kubelet starts them again after a while
    // Nor do Kubernetes' own parts follow at once: their watches come back after up to a minute.
    await handOver();
    expect(lastServer(after)).toEqual(lastServer(before));
    expect(outage).toBeLessThan(5000);
  });

  test("Kubernetes' controller manager away: writes follow the primary all the same", async () => {
    const cluster = localCluster();
    await cluster.killPart("control-plane", "kube-controller-manager");
    try {
      await handOver();
      await onePrimaryAnswers(20);
    } finally {
      await cluster.startPart("control-plane", "kube-controller-manager");
    }
  });

  test("the node with the leading operator and the primary cut off: another takes over, and no new connection goes to the lost one", async () => {
    const cluster = localCluster();
    const node = await leadingElsewhere();
    const here = (await database.pods()).find((pod) => pod["spec"].nodeName === node)?.["metadata"].name as string;
    if ((await database.primary()) !== here) await database.switchOver(here);
    await database.waitReady();
    await database.waitHeirs();
    const before = await ledger.report();
    await cluster.cutNetwork(node);
    try {
      await ledger.acknowledges({ rows: 1, deadlineMs: 90_000, otherThan: lastServer(before) });
      await onePrimaryAnswers(100);
      const outage = await longestOutageSince(before.now);
      expect(outage).toBeLessThan(60_000);
    } finally {
      await cluster.joinNetwork(node);
    }
    await nodeBack(node, 120_000);
    await operator.ready();
  });

  test("a primary lost in the middle of a switchover: whoever was named does not take over without what others have", async () => {
    const primary = await database.primary();
    const named = await someReplica();
    await database.waitHeirs();
    const [receiver] = (await database.sql("SELECT pid FROM pg_stat_wal_receiver", { superuser: true, pod: named })).split("\n");
    await database.shell(named, `kill -STOP ${receiver}`); // it lags from here on, and nobody has noticed yet
    const before = await ledger.acknowledges({ rows: 10, deadlineMs: 60_000 });
    const lost = await findContainer(namespace, primary);
    await freezeContainer(localCluster(), lost);
    try {
      await database.shell(named, `kill -TERM ${receiver}; kill -CONT ${receiver}`); // what came meanwhile is not read any more
      await namespace.run("annotate", "configmap", "orders-failover", `leader=${primary}`, `member=${named}`);
      await ledger.acknowledges({ rows: 10, deadlineMs: 120_000, otherThan: lastServer(before) });
      expect(await ledger.verify()).toMatchObject(nothingLost);
    } finally {
      await thawContainer(localCluster(), lost);
    }
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

/** Resolves once this replica streams from the primary, with nothing of a history of its own. */
async function followsAgain(replica: string): Promise<void> {
  await eventuallySucceeds(`${replica} follows the primary again`, 180_000, async () => {
    const inRecovery = "SELECT to_regclass('astray') IS NULL AND pg_is_in_recovery()";
    expect(await database.sql(inRecovery, { superuser: true, pod: replica, databaseName: "postgres" })).toBe("t");
    const state = `SELECT state FROM pg_stat_replication WHERE application_name = '${replica}'`;
    expect(await database.sql(state, { superuser: true })).toBe("streaming");
  });
}

/** When the data directory was made: pg_rewind leaves this file alone, a new copy has a new one. */
const bornAt = (pod: string) => database.shell(pod, "stat --format=%W.%i /var/lib/postgresql/data/PG_VERSION");

test("a replica that has left the primary's history comes back by itself; where going back was cut short before, it is copied anew", async () => {
  const stray = await someReplica();
  const born = await bornAt(stray);
  await database.shell(stray, leaveHistory);
  await followsAgain(stray);
  expect(await bornAt(stray)).toBe(born);

  await database.shell(stray, `touch /var/lib/postgresql/rewinding && ${leaveHistory}`);
  await followsAgain(stray);
  expect(await bornAt(stray)).not.toBe(born);
  expect(await database.shell(stray, "ls /var/lib/postgresql")).toBe("data\nserver.lock");
});

test.runIf(isLocal)(
  "a database whose first instance is killed while it is made is made all the same, and from its first moment commits wait",
  async () => {
    const newborn = await Database.apply(namespace, sampleDB({ name: "newborn", replicas: 2, synchronousReplication: "Required" }));
    await eventually("somebody is at it", 120_000, async () => {
      return (await namespace.get("configmap", "newborn-config"))?.["metadata"].annotations?.initialize === "";
    });
    // Whoever it is: the other one may not even have been started, and is not at it then.
    const victims = await eventually("who is at it runs", 30_000, async () => {
      const found = await runningContainers(namespace, await newborn.instances());
      return found.length > 0 && found;
    });
    for (const victim of victims) await killContainer(localCluster(), victim);
    const waitsFor = () => newborn.sql("SHOW synchronous_standby_names", { superuser: true, databaseName: "postgres" });
    const names: string[] = [];
    await eventually("newborn is Ready", 180_000, async () => {
      names.push(
        ...(await waitsFor().then(
          (name) => [name],
          () => [],
        )),
      ); // whoever has the primary's label is asked
      return whyNotReady(await newborn.get()) === undefined;
    });
    expect(names.length).toBeGreaterThan(0);
    expect(names).not.toContain("");
    expect(await newborn.sql("SELECT count(*) FROM pg_roles WHERE rolreplication AND rolname = 'replication'", { superuser: true })).toBe(
      "1",
    );
  },
);

test.runIf(isLocal)("a replica that was killed while it was copied begins anew", async () => {
  const replica = await someReplica();
  const born = await bornAt(replica);
  await database.shell(replica, "touch /var/lib/postgresql/copying && rm /var/lib/postgresql/data/postmaster.opts"); // a copy has none
  await killContainer(localCluster(), await findContainer(namespace, replica));
  await followsAgain(replica);
  expect(await bornAt(replica)).not.toBe(born);
});

test("an instance has its volume for itself", async () => {
  await expect(database.shell(await someReplica(), "flock --nonblock /var/lib/postgresql/server.lock true")).rejects.toThrow(
    /exit code 1\b/,
  );
});

test("an instance that is told to end while it starts does so, and is not killed three minutes later", async () => {
  const replica = await someReplica();
  const { uid } = (await namespace.get("pod", replica))?.["metadata"] ?? {};
  await namespace.run("delete", "pod", replica, "--wait=false");
  await eventually(`${replica} starts anew`, 60_000, async () => {
    const pod = await namespace.get("pod", replica);
    const statuses: { name: string; state: { running?: object } }[] = pod?.["status"].containerStatuses ?? [];
    return pod?.["metadata"].uid !== uid && statuses.some(({ name, state }) => name === "postgres" && state.running !== undefined);
  });
  await namespace.run("delete", "pod", replica, "--timeout=90s", "--request-timeout=0");
  await followsAgain(replica);
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
