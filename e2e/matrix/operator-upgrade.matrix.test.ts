// The operator of an earlier commit is replaced by this one while databases serve: none of them is restarted, and none waits for anything.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorImage } from "../../images/catalog.ts";
import { imageReference } from "../../images/definition.ts";
import { operatorManifest } from "../../tools/deploy.ts";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { say } from "../../tools/progress.ts";
import { loadImages } from "../cluster/images.ts";
import type { Database } from "../database/database.ts";
import { writesWhileQuiet } from "../database/quiet.ts";
import { runningIn } from "../database/running.ts";
import { operator, system } from "../suites/deployed-operator.ts";
import { operatorMetrics } from "../suites/operator-metrics.ts";
import { isLocal, kubectl, localCluster, suiteNamespace } from "../suites/test-cluster.ts";
import { type EarlierOperator, earlierOperator } from "./earlier-operator.ts";
import { Subject } from "./subject.ts";

const minutes = 60_000;

// The earlier images are brought to the nodes, which a cluster of the user's own does not let us do.
describe.runIf(isLocal)("an upgrade of the operator", () => {
  let earlier: EarlierOperator;
  let subjects: readonly Subject[] = [];

  beforeAll(async () => {
    earlier = await earlierOperator();
    await loadImages(localCluster(), earlier.images);
    await kubectl.apply(earlier.manifest);
    await operator.ready();
  }, 30 * minutes);
  afterAll(() => operator.make("undeploy"));

  const scrapeLeader = operatorMetrics();
  const namespace = suiteNamespace("matrix-upgrade");

  beforeAll(async () => {
    const start = (spec: Parameters<typeof Subject.start>[2]) => Subject.start(namespace, namespace.namespace ?? "", spec);
    // The notes of the earlier operator say what a user has asked for: there is something in them.
    const asked = {
      resources: { requests: { cpu: "50m", memory: "256Mi" } },
      postgresql: { parameters: { max_connections: 60, log_min_duration_statement: "5s" } },
      podMetadata: { labels: { team: "orders" } },
    };
    subjects = await Promise.all([
      start({ name: "one", replicas: 1, deletionPolicy: "Delete" }),
      start({ name: "three", replicas: 3, synchronousReplication: "Required", ...asked }),
    ]);
    await subjects[1]?.database.waitHeirs();
  }, 15 * minutes);
  afterAll(() => Promise.all(subjects.map(({ census }) => census.stop())));

  /** As `make deploy` does it, but for the image of the databases. Resolves once the new leader has reconciled each database. */
  async function upgrade(): Promise<void> {
    await kubectl.apply(earlier.keepImage(await operatorManifest((directory) => kubectl.run("kustomize", directory))));
    await eventually("every replica of the operator is a new one", 5 * minutes, async () => {
      const images = (await system.list("pods")).flatMap(({ spec }) => spec.containers.map(({ image }: { image: string }) => image));
      return images.every((image) => image === imageReference(operatorImage()));
    });
    await operator.ready();
    await operator.leader();
    await eventuallySucceeds("the new leader has reconciled each database, and has nothing more to do", 3 * minutes, async () => {
      const samples = Object.entries(await scrapeLeader()).filter(([name]) => name.includes('controller="sampledb"'));
      const sum = (name: string) => samples.filter(([key]) => key.startsWith(`${name}{`)).reduce((all, [, value]) => all + value, 0);
      const [done, left] = [sum("controller_runtime_reconcile_total"), sum("workqueue_depth") + sum("controller_runtime_active_workers")];
      if (done < subjects.length || left > 0) throw new Error(`${done} reconciles are done, ${left} are waiting or under way`);
    });
  }

  test("no Pod is restarted, no row is lost, Ready stays, and the operator is quiet afterwards", { timeout: 20 * minutes }, async () => {
    const before = await Promise.all(subjects.map(({ database }) => stateOf(database)));
    for (const { census } of subjects) census.reset();
    const reports = await Promise.all(subjects.map(({ ledger }) => ledger.report()));
    const upgraded = upgrade();
    await Promise.all(subjects.map((subject) => subject.watchingWriters(upgraded)));

    const writes = await writesWhileQuiet(namespace, { alone: true });
    for (const [index, subject] of subjects.entries()) {
      expect(await stateOf(subject.database)).toEqual(before[index]);
      expect(subject.census.births()).toEqual({}); // this operator makes no object that the earlier one did not make
      await subject.database.waitReady();
      await subject.sound();
      const { acknowledged = 0, now = 0 } = reports[index] ?? {};
      const rows = (await subject.ledger.report()).acknowledged - acknowledged;
      const longest = Math.max(0, ...(await subject.ledger.outagesSince(now)).map(({ milliseconds }) => milliseconds));
      say(
        `${subject.database.name}, upgraded from ${earlier.commit}: ${rows} rows meanwhile; pauses above half a second: at most ${longest} ms`,
      );
    }
    expect(writes).toEqual([]);
  });

  test("a user's change after the upgrade reaches every instance, without a restart", { timeout: 10 * minutes }, async () => {
    const before = await Promise.all(subjects.map(({ database }) => runningIn(database)));
    for (const { database } of subjects) await database.change({ postgresql: { parameters: { work_mem: "7MB" } } });
    for (const [index, subject] of subjects.entries()) {
      await subject.watchingWriters(subject.database.waitReady(5 * minutes));
      for (const pod of await subject.database.instances()) {
        expect(await subject.database.sql("SHOW work_mem", { superuser: true, pod })).toBe("7MB");
      }
      expect(await runningIn(subject.database)).toEqual(before[index]);
      await subject.sound();
    }
  });
});

/** What a restart, another primary, or a while in which the database was not Ready would change. */
async function stateOf(database: Database): Promise<object> {
  const { status } = await database.get();
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return {
    primary: status?.primaryPodName,
    ready: { status: ready?.status, reason: ready?.reason, since: ready?.lastTransitionTime },
    running: await runningIn(database),
  };
}
