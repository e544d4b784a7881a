// A highly available database under faults, with a writer that keeps a ledger of what was acknowledged: nothing of it is ever lost. It
// archives to a store all the while, and the archive has no gap in the end.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { Archive } from "../database/archive.ts";
import type { Database } from "../database/database.ts";
import { findContainer, freezeContainer, killContainer, thawContainer } from "../database/faults.ts";
import { type Ledger, lastServer, nothingLost } from "../database/ledger.ts";
import { writesWhileQuiet } from "../database/quiet.ts";
import { deployedOperator, operator, system } from "./deployed-operator.ts";
import { backupTo, suiteStore } from "./suite-store.ts";
import { drain, isLocal, localCluster, schedulableNodes, suiteNamespace, withoutNetwork } from "./test-cluster.ts";
import { watchedDatabase } from "./watched-database.ts";

deployedOperator();
const reached = isLocal ? suiteStore() : undefined;
const namespace = suiteNamespace("database-faults");

const watched = watchedDatabase(namespace, async () => (reached ? { backup: await backupTo(reached(), namespace) } : {}));
let database: Database;
let ledger: Ledger;

beforeAll(() => {
  ({ database, ledger } = watched());
});

/** New connections through the read-write Service: each is answered, by the same one, which takes writes. */
async function onePrimaryAnswers(attempts: number): Promise<void> {
  const { failures, servers } = await ledger.connect(attempts);
  const answered = servers.map(({ inRecovery, answers }) => ({ inRecovery, answers }));
  expect({ failures, answered }).toEqual({ failures: [], answered: [{ inRecovery: false, answers: attempts }] });
}

async function longestOutageSince(moment: number): Promise<number> {
  return Math.max(0, ...(await ledger.outagesSince(moment)).map(({ milliseconds }) => milliseconds));
}

/** The node of the leading operator, which is made another one than the writer's: that one is not to be cut. */
async function leadingElsewhere(): Promise<string> {
  return await eventually("the operator leads from another node than the writer's", 180_000, async () => {
    const { name, node } = await operator.leader();
    if (node !== watched().ledgerNode) return node;
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
  await watched().handOver();
  expect(await longestOutageSince(before.now)).toBeLessThan(15_000);
  expect((await namespace.get("sampledb", "orders"))?.["metadata"].annotations?.["sampledb.io/switchover"]).toBeUndefined();
});

describe.runIf(isLocal)("faults", () => {
  test("the operator away while a failover happens", async () => {
    await system.run("scale", "deployment/sampledb-operator", "--replicas=0");
    try {
      await eventually("no operator is left", 90_000, async () => (await system.list("pods")).length === 0);
      const before = await ledger.report();
      const primary = await database.primary();
      await namespace.run("delete", "pod", primary, "--grace-period=0", "--force");
      await ledger.acknowledges({ rows: 10, deadlineMs: 60_000, otherThan: lastServer(before) });
      expect((await ledger.connect(20)).failures).toEqual([]);
    } finally {
      await system.run("scale", "deployment/sampledb-operator", "--replicas=2"); // the tests after this one need it
      await operator.ready();
    }
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
    await watched().handOver();
    expect(lastServer(after)).toEqual(lastServer(before));
    expect(outage).toBeLessThan(5000);
  });

  test("Kubernetes' controller manager away: writes follow the primary all the same", async () => {
    const cluster = localCluster();
    await cluster.killPart("control-plane", "kube-controller-manager");
    try {
      await watched().handOver();
      await onePrimaryAnswers(20);
    } finally {
      await cluster.startPart("control-plane", "kube-controller-manager");
    }
  });

  test("every process of the primary killed: a replica leads, which has nothing to recover; killed again, nobody waits for it", async () => {
    const victim = await database.primary();
    for (const kill of ["first", "second"]) {
      if (kill === "second") await database.switchOver(victim);
      await database.waitReady();
      await database.waitHeirs();
      const before = await ledger.report();
      await killContainer(localCluster(), await findContainer(namespace, victim));
      await ledger.acknowledges({ rows: 10, deadlineMs: 60_000, otherThan: lastServer(before) });
      expect(await database.primary()).not.toBe(victim);
      // The kubelet starts it ten seconds later the second time, and its lock is good for twenty.
      expect(await longestOutageSince(before.now)).toBeLessThan(9000);
    }
  });

  test("the node with the leading operator and the primary cut off: another takes over, and no new connection goes to the lost one", async () => {
    const node = await leadingElsewhere();
    const here = (await database.pods()).find((pod) => pod["spec"].nodeName === node)?.["metadata"].name as string;
    if ((await database.primary()) !== here) await database.switchOver(here);
    await database.waitReady();
    await database.waitHeirs();
    const before = await ledger.report();
    await withoutNetwork(node, async () => {
      await ledger.acknowledges({ rows: 1, deadlineMs: 90_000, otherThan: lastServer(before) });
      await onePrimaryAnswers(100);
      const outage = await longestOutageSince(before.now);
      expect(outage).toBeLessThan(60_000);
      await database.tells({ reason: "NodeLost", message: `${here} is lost: its node ${node} does not answer` });
    });
    await operator.ready();
  });

  test("a primary lost in the middle of a switchover: whoever was named does not take over without what others have", async () => {
    const primary = await database.primary();
    const named = await database.someReplica();
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

  test("every node drained in turn, each as soon as the last one is let back", async () => {
    const { now } = await ledger.report();
    for (const node of await schedulableNodes()) await drain(node);
    await operator.ready();
    expect(await longestOutageSince(now)).toBeLessThan(30_000);
  });
});

test("the primary's Pod deleted", async () => {
  const before = await ledger.report();
  await namespace.run("delete", "pod", await database.primary(), "--wait=false");
  await ledger.acknowledges({ rows: 10, deadlineMs: 60_000, otherThan: lastServer(before) });
  expect(await longestOutageSince(before.now)).toBeLessThan(30_000);
});

test.runIf(isLocal)("after all of it, every segment from the first to the last commit is in the archive", async () => {
  await new Archive(namespace, database).complete({ begin: 1, deadlineMs: 180_000 });
});

test("converged, the operator is quiet", async () => {
  expect(await writesWhileQuiet(namespace, { alone: true })).toEqual([]);
});
