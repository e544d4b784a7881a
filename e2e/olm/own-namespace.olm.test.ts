// The bundle by a real OLM in the mode OwnNamespace: an operator looks after its namespace, and leaves all others alone.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operatorImage, postgresImage } from "../../images/catalog.ts";
import { newestAlone } from "../../packaging/bundle/catalog.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { Database, sampleDB } from "../database/database.ts";
import { operator } from "../suites/deployed-operator.ts";
import { isLocal, kubectl, localCluster, suiteNamespace } from "../suites/test-cluster.ts";
import { Installation } from "./installation.ts";
import { Olm } from "./olm.ts";
import { writeBundle } from "./versions.ts";

const minutes = 60_000;
const version = "0.1.0";
const directory = mkdtempSync(join(tmpdir(), "sampledb-olm-"));
const mistake = { postgresql: { parameters: { wrok_mem: "4MB" } } };

describe.runIf(isLocal)("an operator of its own namespace", () => {
  let olm: Olm;
  let installation: Installation;

  beforeAll(async () => {
    await Olm.build();
    olm = await Olm.start(kubectl, localCluster(), directory);
    const bundle = { bundle: join(projectDirectory, "bundle"), operatorImage: operatorImage(), postgresImage: postgresImage("17") };
    await olm.offer(newestAlone(version), [{ directory: writeBundle(directory, { version, ...bundle }) }]);
  }, 30 * minutes); // the first time, OLM is built
  afterAll(async () => {
    await operator.make("uninstall");
    await olm.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const own = suiteNamespace("olm-own");
  const other = suiteNamespace("olm-other");

  beforeAll(async () => {
    installation = new Installation(own, [own.namespace ?? ""]);
    await installation.subscribe();
    await installation.succeeded(version, 5 * minutes);
  }, 10 * minutes);

  test("it makes databases in its namespace, and touches none elsewhere", async () => {
    const stranger = await Database.apply(other, sampleDB({ name: "orders" }));
    const { resourceVersion } = (await stranger.get()).metadata;
    const database = await Database.apply(own, sampleDB({ name: "orders", replicas: 2, deletionPolicy: "Delete" }));
    await database.waitReady();
    expect(await database.sql("SELECT current_user")).toBe("app");
    expect((await stranger.get()).metadata.resourceVersion).toBe(resourceVersion);
    expect(await other.list("pods,statefulsets,services,secrets,persistentvolumeclaims")).toEqual([]);
  });

  test("its webhooks refuse a mistake in its namespace, and are not asked elsewhere", async () => {
    await expect(own.apply(JSON.stringify(sampleDB({ name: "mistaken", ...mistake })))).rejects.toThrow(
      /spec\.postgresql\.parameters\[wrok_mem\]/,
    );
    await other.apply(JSON.stringify(sampleDB({ name: "mistaken", ...mistake })));
  });

  test("it may not read or write in other namespaces", async () => {
    const account = `--as=system:serviceaccount:${own.namespace}:sampledb-operator`;
    const may = async (where: typeof own, ...what: string[]) =>
      (await where.run("auth", "can-i", ...what, account).catch(() => "no")).trim();
    for (const what of [
      ["patch", "sampledbs.sampledb.io"],
      ["create", "statefulsets.apps"],
      ["get", "secrets"],
    ]) {
      expect([...what, await may(own, ...what), await may(other, ...what)]).toEqual([...what, "yes", "no"]);
    }
  });

  test("it sets no policies for the cluster", async () => {
    expect(await kubectl.list("validatingadmissionpolicies")).toEqual([]);
  });
});
