// The repository's Pod killed, its node lost with a bucket and with a volume behind it, and the keys of the bucket rotated: pushes wait, and
// nothing is missing afterwards.
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { say } from "../../tools/progress.ts";
import type { KubernetesObject } from "../cluster/kubectl.ts";
import { Archive } from "../database/archive.ts";
import { Database, sampleDB } from "../database/database.ts";
import { findContainer, killContainer } from "../database/faults.ts";
import { Ledger, nothingLost } from "../database/ledger.ts";
import { bucketSecrets, keysSecret } from "../store/bucket.ts";
import { deployedOperator } from "../suites/deployed-operator.ts";
import { backupTo, bucket, suiteStore } from "../suites/suite-store.ts";
import { isLocal, kubectl, localCluster, schedulableNodes, suiteNamespace, withoutNetwork } from "../suites/test-cluster.ts";
import { WatchedDatabase } from "../suites/watched-database.ts";

const minutes = 60_000;
const condition = "RepositoryReachable";

describe.runIf(isLocal)("the repository's Pod", () => {
  deployedOperator();
  const reached = suiteStore();
  const namespace = suiteNamespace("matrix-archive-places");

  const closeSegment = (database: Database) => database.sql("SELECT pg_switch_wal()", { superuser: true });
  const podNow = async (archive: Archive) => (await namespace.get("pod", await archive.pod())) ?? {};
  const secondsSince = (moment: number) => Math.round((performance.now() - moment) / 1000);

  /** No Pod is started on these nodes while this goes on. Those that run there stay. */
  async function cordoned<T>(nodes: readonly string[], work: () => Promise<T>): Promise<T> {
    await kubectl.run("cordon", ...nodes);
    try {
      return await work();
    } finally {
      await kubectl.run("uncordon", ...nodes);
    }
  }

  describe("in front of a bucket", () => {
    let watched: WatchedDatabase;
    let archive: Archive;

    beforeAll(async () => {
      watched = await WatchedDatabase.start(namespace, { backup: await backupTo(reached(), namespace) });
      archive = new Archive(namespace, watched.database);
      await archive.complete({ begin: 1 });
    }, 15 * minutes);

    afterEach(async () => {
      await watched.whole();
      await archive.complete({ begin: 1, deadlineMs: 3 * minutes });
      await watched.database.says(condition, "RepositoryReachable");
    }, 10 * minutes);

    test("is killed: the kubelet starts it again", { timeout: 10 * minutes }, async () => {
      const { metadata } = await podNow(archive);
      await killContainer(localCluster(), await findContainer(namespace, metadata.name, "repository"));
      await closeSegment(watched.database);
      const [status] = await eventually("it runs again", 2 * minutes, async () => {
        const statuses: KubernetesObject[] = (await namespace.get("pod", metadata.name))?.["status"].containerStatuses ?? [];
        return statuses.every(({ ready, restartCount }) => ready && restartCount === 1) && statuses;
      });
      expect(status?.["restartCount"]).toBe(1);
    });

    test("is on a node that is lost: it is back on another one, and what waited arrives", { timeout: 15 * minutes }, async () => {
      const { ledgerNode } = watched;
      if ((await podNow(archive)).spec.nodeName === ledgerNode)
        await cordoned([ledgerNode], async () => namespace.run("delete", "pod", await archive.pod()));
      const node = await eventually("it runs beside the ledger", 2 * minutes, async () => {
        const { spec } = await podNow(archive).catch(() => ({ spec: { nodeName: ledgerNode } }));
        return spec.nodeName !== ledgerNode && (spec.nodeName as string);
      });
      await watched.database.says(condition, "RepositoryReachable");
      await watched.database.waitHeirs();
      const lost = performance.now();
      await withoutNetwork(node, async () => {
        await eventuallySucceeds("it is on another node", 4 * minutes, async () => {
          expect((await podNow(archive)).spec.nodeName).not.toBe(node);
        });
        say(`the repository's Pod is on another node after ${secondsSince(lost)} s`);
        await archive.complete({ begin: 1, deadlineMs: 2 * minutes });
        say(`what waited is in the archive after ${secondsSince(lost)} s`);
        expect(secondsSince(lost)).toBeLessThan(180);
      });
    });

    test("has other keys of the bucket, and the former ones are not valid any more: it uses them without a restart", {
      timeout: 10 * minutes,
    }, async () => {
      const { metadata } = await podNow(archive);
      const former = atob((await namespace.get("secret", keysSecret))?.["data"].accessKeyId);
      await namespace.apply(JSON.stringify(await bucketSecrets(reached().store, bucket)));
      await reached().store.removeKey({ accessKeyId: former });
      const rotated = performance.now();
      await archive.complete({ begin: 1, deadlineMs: 4 * minutes });
      say(`segments arrive with the new keys after ${secondsSince(rotated)} s`);
      const now = await podNow(archive);
      expect(now.metadata.uid).toBe(metadata.uid);
      expect(now.status.containerStatuses[0].restartCount).toBe(0);
    });
  });

  describe("in front of a volume that no other node can use", () => {
    const name = "local";
    let database: Database;
    let archive: Archive;
    let ledger: Ledger;
    let home: string;
    let node: string;

    beforeAll(async () => {
      const [first = "", ...others] = await schedulableNodes();
      home = first;
      database = await cordoned(others, async () => {
        const made = await Database.apply(namespace, sampleDB({ name }));
        await made.waitReady(4 * minutes);
        return made;
      });
      archive = new Archive(namespace, database);
      ledger = await Ledger.start(namespace, { database: name, name: "local-ledger", node: home, deadlineMs: 4 * minutes });
      node = await enable();
    }, 15 * minutes);

    /** Backup to a volume on another node than the instance's, which is returned. */
    async function enable(): Promise<string> {
      await cordoned([home], async () => {
        await database.change({ backup: {} });
        await database.says(condition, "RepositoryReachable");
        await database.waitReady(4 * minutes);
      });
      await archive.complete();
      return (await podNow(archive)).spec.nodeName as string;
    }

    async function toldAsLost(): Promise<void> {
      const blocker = await eventually("it is told", 4 * minutes, async () => {
        const { blockers = [] } = (await database.get()).status ?? {};
        return blockers.find(({ reason, message }) => reason === "RepositorySilent" && message.includes("claim"));
      });
      expect(blocker.message).toMatch(`claim ${name}-repository, which was made for node ${node}`);
      expect(blocker.remedy).toMatch(`bring node ${node} back`);
      expect(await database.says(condition, "RepositorySilent")).toBe(blocker.message);
    }

    test("is on a node that is lost: it is told, rows are written, and what waited arrives when the node is back", {
      timeout: 15 * minutes,
    }, async () => {
      await withoutNetwork(node, async () => {
        await closeSegment(database);
        await toldAsLost();
        await ledger.acknowledges({ rows: 100, deadlineMs: minutes });
      });
      await database.says(condition, "RepositoryReachable");
      await archive.complete({ deadlineMs: 3 * minutes });
      expect(await ledger.verify()).toMatchObject(nothingLost);
    });

    test("is on a node that is lost for good: a new archive begins elsewhere, as docs/backups.md says", {
      timeout: 15 * minutes,
    }, async () => {
      const lost = node;
      await withoutNetwork(lost, async () => {
        await toldAsLost();
        await database.change({ backup: null });
        await eventually(
          "the Deployment is gone",
          4 * minutes,
          async () => (await namespace.get("deployment", `${name}-repository`)) === undefined,
        );
        await database.waitReady(4 * minutes);
        await namespace.run("delete", "pod", "--force", `--selector=sampledb.io/name=${name},sampledb.io/component=repository`);
        await namespace.run("delete", "pvc", `${name}-repository`, "--timeout=60s", "--request-timeout=0");
        node = await enable();
        expect(node).not.toBe(lost);
      });
      expect(await ledger.verify()).toMatchObject(nothingLost);
    });
  });
});
