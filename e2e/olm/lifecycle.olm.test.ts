// The bundle by a real OLM under a running database: the operator comes, is upgraded twice, is away, goes and comes back.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kinds } from "../../api/kinds.ts";
import { group } from "../../api/version.ts";
import { operatorImage, postgresImage } from "../../images/catalog.ts";
import { type ImageDefinition, imageReference } from "../../images/definition.ts";
import policies from "../../operator/policies.json" with { type: "json" };
import { newestAlone } from "../../packaging/bundle/catalog.ts";
import { eventually } from "../../tools/eventually.ts";
import { say, seconds } from "../../tools/progress.ts";
import { loadImages } from "../cluster/images.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { isReady } from "../cluster/status.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Ledger } from "../database/ledger.ts";
import { Vigil } from "../database/vigil.ts";
import { earlierOperator } from "../matrix/earlier-operator.ts";
import { operator, system } from "../suites/deployed-operator.ts";
import { isLocal, kubectl, localCluster, suiteNamespace } from "../suites/test-cluster.ts";
import { Installation } from "./installation.ts";
import { Olm } from "./olm.ts";
import { type Version, writeBundle } from "./versions.ts";

const minutes = 60_000;

/** The first commit with a bundle. */
const firstBundle = "71194be881b81c6a3ae1895f9e7695f28824c794";

const directory = mkdtempSync(join(tmpdir(), "sampledb-olm-"));
const installation = new Installation(system);
const now = { bundle: join(projectDirectory, "bundle"), operatorImage: operatorImage(), postgresImage: postgresImage("17") };
let olm: Olm;
let earlier: Version;

// OLM runs on the machine of the control plane, and images are brought to the nodes: a cluster of the user's own lets us do neither.
describe.runIf(isLocal)("a database with a ledger, under an operator that OLM installs", () => {
  let vigil: Vigil;
  let spare: Database;

  beforeAll(async () => {
    await Olm.build();
    const { bundle, images, ...its } = await earlierOperator(firstBundle);
    earlier = { version: "0.1.0", bundle, operatorImage: its.operatorImage, postgresImage: its.postgresImage };
    await loadImages(localCluster(), images);
    olm = await Olm.start(kubectl, localCluster(), directory);
  }, 40 * minutes); // the first time, all of it is built
  afterAll(async () => {
    await installation.remove();
    await operator.make("uninstall");
    await kubectl.run("delete", "namespace", system.namespace ?? "", "--timeout=180s", "--request-timeout=0");
    await olm.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const namespace = suiteNamespace("olm");

  async function operatorRuns(image: ImageDefinition): Promise<void> {
    await eventually(`two operators of ${imageReference(image)} are ready, and no other is there`, 3 * minutes, async () => {
      const pods = await system.list("pods");
      const isRight = pods.every(({ spec }) => spec.containers[0].image === imageReference(image));
      return pods.length === 2 && isRight && pods.every(isReady);
    });
    await operator.leader();
  }

  /** By OLM: a Deployment that somebody else has scaled is put right. */
  async function scale(replicas: number): Promise<void> {
    await installation.scale(replicas);
    await eventually(`${replicas} operators`, 2 * minutes, async () => {
      const pods = await system.list("pods");
      return pods.length === replicas && pods.every(isReady);
    });
    await installation.succeeded("0.4.0", 2 * minutes);
  }

  const uidsOf = async (...names: string[]) => {
    const objects = await Promise.all(names.map((name) => kubectl.get(...name.split("/"))));
    return objects.map((object, index) => `${names[index]} ${object?.["metadata"].uid}`);
  };
  const definitions = kinds.map(({ plural }) => `customresourcedefinition/${plural}.${group}`);
  const guards = policies.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);

  test("install into all namespaces, from nothing", async () => {
    const restricted = { "pod-security.kubernetes.io/enforce": "restricted" };
    await kubectl.apply(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: system.namespace, labels: restricted } }));
    await olm.offer([{ version: earlier.version }], [{ directory: writeBundle(directory, earlier) }]);
    const begin = performance.now();
    await installation.subscribe();
    await installation.succeeded("0.1.0", 5 * minutes);
    await operatorRuns(earlier.operatorImage);
    const installed = performance.now();
    const database = await Database.apply(namespace, sampleDB({ name: "orders", replicas: 3, synchronousReplication: "Required" }));
    await database.waitReady(5 * minutes);
    const ready = performance.now();
    const ledger = await Ledger.start(namespace, { database: database.name });
    await database.waitHeirs();
    say(
      `OLM, from nothing: the operator Succeeded after ${seconds(installed - begin)}, its first SampleDB of three Ready ${seconds(ready - installed)} later`,
    );
    vigil = await Vigil.begin(namespace, database, ledger);
    await vigil.lookedAfter("5MB", "UpToDate");
  });

  test("upgrade to the version that replaces it", async () => {
    const next = { ...now, version: "0.2.0" };
    const bundles = [earlier, next].map((version) => ({ directory: writeBundle(directory, version) }));
    await olm.offer([{ version: earlier.version }, { version: next.version, replaces: earlier.version }], bundles);
    await installation.succeeded("0.2.0", 5 * minutes);
    await operatorRuns(now.operatorImage);
    await vigil.lookedAfter("6MB", "RestartPending");
    expect(await uidsOf(...guards)).not.toContainEqual(expect.stringContaining("undefined"));
  });

  test("upgrade by the range of versions that a version alone in its catalog follows", async () => {
    const later = { ...now, version: "0.4.0" };
    await olm.offer(newestAlone(later.version), [{ directory: writeBundle(directory, later) }]);
    await installation.succeeded("0.4.0", 5 * minutes);
    await operatorRuns(now.operatorImage);
    await vigil.lookedAfter("7MB", "RestartPending");
  });

  test("with the operator at zero, what is protected is not deleted", async () => {
    spare = await Database.apply(namespace, sampleDB({ name: "spare", deletionPolicy: "Delete" }));
    await spare.waitReady();
    await vigil.database.change({ deletionProtection: true });
    await scale(0);
    await expect(namespace.run("delete", "sampledb", vigil.database.name)).rejects.toThrow(
      /is protected: set spec\.deletionProtection to false/,
    );
    await expect(kubectl.run("delete", "namespace", namespace.namespace ?? "")).rejects.toThrow(
      /holds SampleDBs whose data would go with it/,
    );
    await vigil.undisturbed();
  });

  test("with the operator at zero, a finalizer can be taken off", async () => {
    await namespace.run("delete", "sampledb", spare.name, "--wait=false");
    const { finalizers = [], deletionTimestamp } = (await spare.get()).metadata;
    expect([deletionTimestamp, finalizers]).toEqual([expect.any(String), [expect.stringContaining("sampledb.io")]]);
    await namespace.run("patch", "sampledb", spare.name, "--type=merge", '--patch={"metadata":{"finalizers":null}}');
    await eventually("the SampleDB is gone", minutes, async () => (await namespace.get("sampledbs.sampledb.io", spare.name)) === undefined);
    await scale(2);
    await vigil.database.change({ deletionProtection: false });
    await vigil.lookedAfter("8MB", "RestartPending");
  });

  test("Subscription and ClusterServiceVersion deleted: the database serves, and CRDs and policies stay", async () => {
    const before = await uidsOf(...definitions, ...guards);
    const report = await vigil.ledger.report();
    await installation.remove();
    await eventually("no operator is left", 2 * minutes, async () => (await system.list("pods")).length === 0);
    await eventually("no webhook of it is left", 2 * minutes, async () => {
      const configurations = await kubectl.list("validatingwebhookconfigurations");
      return !configurations.some(({ webhooks = [] }) =>
        webhooks.some(({ clientConfig }: { clientConfig: { service?: { namespace: string } } }) => {
          return clientConfig.service?.namespace === system.namespace;
        }),
      );
    });
    await vigil.undisturbed(500);
    expect(await uidsOf(...definitions, ...guards)).toEqual(before);
    const longest = Math.max(0, ...(await vigil.ledger.outagesSince(report.now)).map(({ milliseconds }) => milliseconds));
    say(`OLM, removed: rows are acknowledged; pauses above half a second: at most ${longest} ms`);
  });

  test("subscribed again, the operator looks after the same database", async () => {
    await installation.subscribe();
    await installation.succeeded("0.4.0", 5 * minutes);
    await operatorRuns(now.operatorImage);
    await vigil.lookedAfter("9MB", "RestartPending");
  });
});
