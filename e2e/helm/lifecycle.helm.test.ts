// The chart by Helm 3 and by Helm 4 under a running database: the operator comes, changes, is killed, goes and comes back. The database serves.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorImage } from "../../images/catalog.ts";
import { type ImageDefinition, imageReference } from "../../images/definition.ts";
import { eventually } from "../../tools/eventually.ts";
import { say, seconds } from "../../tools/progress.ts";
import { loadImages } from "../cluster/images.ts";
import { isReady } from "../cluster/status.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Ledger, nothingLost } from "../database/ledger.ts";
import { runningIn } from "../database/running.ts";
import { type EarlierOperator, earlierOperator } from "../matrix/earlier-operator.ts";
import { operator, system } from "../suites/deployed-operator.ts";
import { isLocal, kubectl, localCluster, suiteNamespace } from "../suites/test-cluster.ts";
import { Helm, helmProgram } from "./helm.ts";

const minutes = 60_000;

/** The last commit without a chart. */
const beforeTheChart = "63b8504fce24168c90ea1347e8115d813efb8278";

const release = { name: "sampledb-operator", namespace: "sampledb-system" };
const directory = mkdtempSync(join(tmpdir(), "sampledb-helm-"));
let earlier: EarlierOperator;

// The earlier images are brought to the nodes, which a cluster of the user's own does not let us do.
describe.runIf(isLocal)("a database with a ledger", () => {
  beforeAll(async () => {
    earlier = await earlierOperator(beforeTheChart);
    await loadImages(localCluster(), earlier.images);
  }, 30 * minutes); // the first time, its images are built
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  describe.each([3, 4] as const)("under an operator that Helm %i installs", (major) => {
    const helm = new Helm(directory, kubectl, major);
    let database: Database;
    let ledger: Ledger;
    let before: object;

    beforeAll(() => helmProgram(major), 15 * minutes); // the first time, it is built
    afterAll(async () => {
      await helm.uninstall(release);
      await operator.make("uninstall"); // the next Helm begins from nothing
      await kubectl.run("delete", "namespace", release.namespace, "--timeout=180s", "--request-timeout=0");
    });
    const namespace = suiteNamespace(`helm-${major}`);

    /** An operator comes with an image of databases, as in a release: the other operator's databases have another one. */
    const earlierValues = () => [
      `--set=image.tag=${earlier.operatorImage.tag}`,
      `--set=postgresImages.17=${imageReference(earlier.postgresImage)}`,
    ];
    const valuesOfNow = () => [`--set=image.tag=${operatorImage().tag}`];

    async function operatorRuns(image: ImageDefinition): Promise<void> {
      await eventually(`two operators of ${imageReference(image)} are ready, and no other is there`, 3 * minutes, async () => {
        const pods = await system.list("pods");
        const isRight = pods.every(({ spec }) => spec.containers[0].image === imageReference(image));
        return pods.length === 2 && isRight && pods.every(isReady);
      });
    }

    /** Nothing that the operator's coming and going must leave alone has changed. */
    async function undisturbed(): Promise<void> {
      await ledger.acknowledges({ rows: 50, deadlineMs: minutes });
      expect(await ledger.verify()).toMatchObject(nothingLost);
      expect(await stateOfDatabase()).toEqual(before);
    }

    /** A SampleDB whose kind was deleted serves on while a finalizer is left: its time of deletion tells. */
    async function stateOfDatabase(): Promise<object> {
      const { uid, deletionTimestamp: deleted } = (await database.get()).metadata;
      return { uid, deleted, primary: await database.primary(), running: await runningIn(database) };
    }

    /** The operator of the moment carries out a change, its webhook refuses a mistake, and nothing is restarted: another image waits. */
    async function lookedAfter(workMem: string, upToDate: "UpToDate" | "RestartPending"): Promise<void> {
      await operator.leader();
      await database.change({ postgresql: { parameters: { work_mem: workMem } } });
      await database.waitReady(3 * minutes);
      for (const pod of await database.instances()) {
        expect(await database.sql("SHOW work_mem", { superuser: true, pod })).toBe(workMem);
      }
      await expect(database.change({ postgresql: { parameters: { wrok_mem: "4MB" } } })).rejects.toThrow(
        /spec\.postgresql\.parameters\[wrok_mem\]/,
      );
      await database.says("UpToDate", upToDate);
      await undisturbed();
    }

    test("install from nothing, with the operator of an earlier commit", async () => {
      const begin = performance.now();
      await helm.chart("install", release, "--create-namespace", "--wait", ...earlierValues());
      await operatorRuns(earlier.operatorImage);
      const installed = performance.now();
      await kubectl.run("label", "namespace", release.namespace, "pod-security.kubernetes.io/enforce=restricted");
      database = await Database.apply(namespace, sampleDB({ name: "orders", replicas: 3, synchronousReplication: "Required" }));
      await database.waitReady(5 * minutes);
      const ready = performance.now();
      ledger = await Ledger.start(namespace, { database: database.name });
      await database.waitHeirs();
      say(
        `Helm ${major}, from nothing: operator of ${earlier.commit} ready after ${seconds(installed - begin)}, its first SampleDB of three Ready ${seconds(ready - installed)} later`,
      );
      before = await stateOfDatabase();
      expect(before).toMatchObject({ deleted: undefined });
      await lookedAfter("5MB", "UpToDate");
    });

    test("upgrade to the operator of now", async () => {
      await helm.chart("upgrade", release, "--wait", ...valuesOfNow());
      await operatorRuns(operatorImage());
      await lookedAfter("6MB", "RestartPending");
    });

    test("rollback to the earlier operator", async () => {
      await helm.run("rollback", release.name, "1", `--namespace=${release.namespace}`, "--wait");
      await operatorRuns(earlier.operatorImage);
      await lookedAfter("7MB", "UpToDate");
    });

    test("the leading operator is killed in the middle of an upgrade", async () => {
      const leader = await operator.leader();
      const upgraded = helm.chart("upgrade", release, "--wait", ...valuesOfNow());
      upgraded.catch(() => undefined); // awaited below
      // The Deployment ends no earlier Pod before the first new one is ready.
      await eventually("the first Pod of the new operator is there", minutes, async () => {
        const images = (await system.list("pods")).map(({ spec }) => spec.containers[0].image as string);
        return images.includes(imageReference(operatorImage()));
      });
      await operator.kill(leader);
      await upgraded;
      await operatorRuns(operatorImage());
      await lookedAfter("8MB", "RestartPending");
    });

    test("uninstall: the database goes on serving", async () => {
      const report = await ledger.report();
      await helm.uninstall(release);
      await eventually("no operator is left", 2 * minutes, async () => (await system.list("pods")).length === 0);
      await ledger.acknowledges({ rows: 500, deadlineMs: 2 * minutes });
      await undisturbed();
      const longest = Math.max(0, ...(await ledger.outagesSince(report.now)).map(({ milliseconds }) => milliseconds));
      say(`Helm ${major}, uninstalled: rows are acknowledged; pauses above half a second: at most ${longest} ms`);
    });

    test("reinstall: the operator looks after the same database", async () => {
      await helm.chart("install", release, "--wait", ...valuesOfNow());
      await operatorRuns(operatorImage());
      await lookedAfter("9MB", "RestartPending");
    });
  });
});
