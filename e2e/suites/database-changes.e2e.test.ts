// Changes while a database serves, side by side on databases of their own: rows are written all the while, and none is lost.
import { describe, expect, test } from "vitest";
import type { SampleDBStatus } from "../../api/sampledb-status.ts";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Ledger, nothingLost } from "../database/ledger.ts";
import { writesWhileQuiet } from "../database/quiet.ts";
import { deployedOperator } from "./deployed-operator.ts";
import { suiteNamespace } from "./test-cluster.ts";

deployedOperator();
const namespace = suiteNamespace("database-changes");

const minutes = 60_000;

function condition(status: SampleDBStatus | undefined, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}

async function reason(database: Database, type: string, wanted: string): Promise<SampleDBStatus> {
  return await eventually(`${type} of ${database.name} says ${wanted}`, 3 * minutes, async () => {
    const { status, metadata } = await database.get();
    const found = condition(status, type);
    return found?.reason === wanted && found.observedGeneration === metadata.generation && status;
  });
}

/** Nothing that was acknowledged is missing, and one instance at most takes writes. */
async function sound(database: Database, ledger: Ledger): Promise<void> {
  await ledger.acknowledges({ rows: 10, deadlineMs: 2 * minutes });
  expect(await ledger.verify()).toMatchObject(nothingLost);
  expect((await database.writable()).length).toBe(1);
}

async function settings(database: Database, name: string): Promise<string[]> {
  return await Promise.all((await database.instances()).map((pod) => database.sql(`SHOW ${name}`, { superuser: true, pod })));
}

describe.concurrent("changes", () => {
  test("three instances: settings, resources, image, number, power", { timeout: 20 * minutes }, async () => {
    const database = await Database.apply(namespace, sampleDB({ name: "changing", replicas: 3, synchronousReplication: "Required" }));
    const ledger = await Ledger.start(namespace, { database: "changing", name: "changing-ledger", deadlineMs: 4 * minutes });
    await database.waitReady();
    const pods = async () => (await database.pods()).map((pod) => pod["metadata"].uid as string);

    // A setting that is reloaded restarts nobody; one that needs a restart restarts PostgreSQL, in the Pods that are there.
    const made = await pods();
    await database.change({ postgresql: { parameters: { work_mem: "7MB" } } });
    await database.waitReady();
    expect(await settings(database, "work_mem")).toEqual(["7MB", "7MB", "7MB"]);
    await database.change({ postgresql: { parameters: { max_connections: 120 } } });
    await database.waitReady();
    expect(await settings(database, "max_connections")).toEqual(["120", "120", "120"]);
    await database.change({ postgresql: { parameters: { max_connections: 60 } } });
    await database.waitReady();
    expect(await settings(database, "max_connections")).toEqual(["60", "60", "60"]);
    expect(await pods()).toEqual(made);
    await sound(database, ledger);

    // A setting that PostgreSQL refuses at its start reaches no instance, and taking it back is all it needs.
    await database.change({ postgresql: { parameters: { shared_preload_libraries: "no_such_library" } } });
    const refused = await reason(database, "Ready", "ChangeRefused");
    expect(refused.blockers?.[0]?.message).toMatch(/no_such_library/);
    expect(refused.readyReplicas).toBe(3);
    await database.change({ postgresql: { parameters: { shared_preload_libraries: null } } });
    await database.waitReady();

    // An image that does not exist is taken back in the same way; nobody was touched.
    await database.change({ image: "localhost/sampledb/no-such-image:17" });
    const missing = await reason(database, "Ready", "ChangeRefused");
    expect(missing.blockers?.[0]?.remedy).toMatch(/image/);
    await database.change({ image: null });
    await database.waitReady();
    expect(await pods()).toEqual(made);
    await sound(database, ledger);

    // What is in the Pod is changed one instance after the other.
    await database.change({ resources: { requests: { cpu: "50m", memory: "200Mi" } }, podMetadata: { labels: { team: "orders" } } });
    await reason(database, "UpToDate", "RollingOut");
    await database.waitReady(5 * minutes);
    for (const pod of await database.pods()) {
      expect(pod["metadata"].labels.team).toBe("orders");
      expect(pod["spec"].containers[0].resources.requests.cpu).toBe("50m");
    }
    await sound(database, ledger);

    // More, and fewer: the primary is never the one that goes, and the claims stay.
    const [, , last = ""] = await database.instances();
    await database.switchOver(last);
    await namespace.run("scale", "sampledb", "changing", "--replicas=2");
    await database.waitReady(4 * minutes);
    expect(await database.instances()).toEqual(["changing-0", "changing-1"]);
    expect(await namespace.get("pvc", "data-changing-2")).toBeDefined();
    await sound(database, ledger);

    // Stopped and started again: with the same rows, the last primary first.
    const { primaryPodName } = (await database.get()).status ?? {};
    await database.change({ powerState: "Hibernated" });
    await reason(database, "Ready", "Hibernated");
    expect(await database.instances()).toEqual([]);
    await database.change({ powerState: "Running" });
    await database.waitReady(5 * minutes);
    expect((await database.get()).status?.primaryPodName).toBe(primaryPodName);
    await sound(database, ledger);
    await ledger.stop();
  });

  test("one instance: made with scripts, one of them wrong; grown from a full disk; paused; deleted with everything", {
    timeout: 15 * minutes,
  }, async () => {
    const script = (name: string, sql: string) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name },
      data: { "schema.sql": sql },
    });
    await namespace.apply(JSON.stringify(script("schema", "CREATE TABLE items (id int);\nINSERT INTO itms VALUES (1);")));
    const scripts = [{ configMapKeyRef: { name: "schema", key: "schema.sql" } }, { configMapKeyRef: { name: "later", key: "schema.sql" } }];
    const database = await Database.apply(
      namespace,
      sampleDB({
        name: "single",
        storage: { size: "600Mi" },
        deletionPolicy: "Delete",
        bootstrap: { databaseName: "shop", ownerName: "shop", extensions: ["pgcrypto"], scripts },
      }),
    );
    await reason(database, "Initialized", "ScriptMissing");
    await namespace.apply(JSON.stringify(script("later", "INSERT INTO items VALUES (2);")));
    const failed = condition(await reason(database, "Initialized", "InitializationFailed"), "Initialized");
    expect(failed?.message).toMatch(/schema\.sql.*line 2/s);
    expect(failed?.message).toMatch(/relation "itms" does not exist/);
    await namespace.apply(JSON.stringify(script("schema", "CREATE TABLE items (id int);\nINSERT INTO items VALUES (1);")));
    await database.waitReady(4 * minutes);
    expect(await database.sql("SELECT id FROM items ORDER BY id")).toBe("1\n2");
    expect(await database.sql("SELECT extname FROM pg_extension WHERE extname = 'pgcrypto'")).toBe("pgcrypto");

    // A full disk: growth does not wait for health.
    await database.sql("CREATE TABLE filler (text text)", { superuser: true });
    const fill = "INSERT INTO filler SELECT repeat(md5(random()::text), 30) FROM generate_series(1, 100000)";
    const full = /No space left|terminating connection|server closed|not running|recovery|exit code/;
    await eventually("the disk is full", 4 * minutes, async () => {
      const failure = await database.sql(fill, { superuser: true }).then(
        () => "",
        (error: Error) => error.message,
      );
      return full.test(failure);
    });
    await database.change({ storage: { size: "1200Mi" } });
    await database.waitReady(5 * minutes);
    // Ready can be that of the moment before the disk was full: the kubelet's probe has to fail twice.
    await eventuallySucceeds("it takes rows again", 2 * minutes, () => database.sql("INSERT INTO items VALUES (3)"));
    expect(await database.sql("SELECT id FROM items ORDER BY id")).toBe("1\n2\n3");

    // Paused, it is left alone.
    await database.change({ paused: true });
    await namespace.run("delete", "service", "single-ro");
    await database.change({ paused: false });
    await eventually("the Service is back", minutes, async () => (await namespace.get("service", "single-ro")) !== undefined);

    await namespace.run("delete", "sampledb", "single", "--timeout=180s", "--request-timeout=0");
    await eventually("nothing is left", 2 * minutes, async () => {
      const kinds =
        "statefulsets,pods,services,secrets,configmaps,persistentvolumeclaims,jobs,roles,rolebindings,serviceaccounts,poddisruptionbudgets";
      return (await namespace.list(kinds, "--selector=sampledb.io/name=single")).length === 0;
    });
  });

  test("two instances: deleted and kept, then taken up by a new one with the same password and the newest rows", {
    timeout: 12 * minutes,
  }, async () => {
    const manifest = sampleDB({ name: "kept", postgresVersion: 15, replicas: 2 });
    const database = await Database.apply(namespace, manifest);
    await database.waitReady(4 * minutes);
    await database.sql("CREATE TABLE kept AS SELECT 1 AS id");
    // The newest rows are not where a new database would look first.
    await database.switchOver("kept-1");
    await database.sql("INSERT INTO kept SELECT generate_series(2, 1000)");
    const appPassword = async () => (await namespace.get("secret", "kept-app"))?.["data"].password as string;
    const password = await appPassword();
    await namespace.run("delete", "sampledb", "kept", "--timeout=180s", "--request-timeout=0");
    await eventually("its instances are gone", 2 * minutes, async () => (await database.instances()).length === 0);
    expect((await namespace.list("pvc", "--selector=sampledb.io/name=kept")).length).toBe(2);

    await Database.apply(namespace, manifest);
    const status = await database.waitReady(4 * minutes);
    expect(await database.sql("SELECT count(*) FROM kept")).toBe("1000");
    expect(await appPassword()).toBe(password);

    // Another password, which PostgreSQL has when the Secret has it, and every replica that follows has it before.
    const replica = (await database.instances()).find((pod) => pod !== status.primaryPodName) ?? "";
    const receiver = await database.sql("SELECT pid FROM pg_stat_wal_receiver", { superuser: true, pod: replica });
    await database.shell(replica, `kill -STOP ${receiver}`);
    await namespace.run("annotate", "sampledb", "kept", "sampledb.io/rotate-password=app");
    await eventually("the Job waits for the replica", 2 * minutes, async () => {
      const forLong = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND now() - query_start > '2 s'";
      return (await database.sql(`${forLong} AND query LIKE '%flush_lsn < written%'`, { superuser: true })) === "1";
    });
    expect(await appPassword()).toBe(password);
    await database.shell(replica, `kill -CONT ${receiver}`);
    const next = await eventually("the Secret has another password", 2 * minutes, async () => {
      const now = await appPassword();
      return now !== password && now;
    });
    expect(await database.login(next)).toBe("app");
    await expect(database.login(password)).rejects.toThrow(/password authentication failed/);

    // A newer major is not started on the data of an older one; what serves goes on.
    await database.change({ postgresVersion: 17 });
    const held = await reason(database, "UpToDate", "NotSupportedByThisVersion");
    expect(held.blockers?.[0]).toMatchObject({ reason: "UpgradeNotSupported" });
    expect(await database.sql("SHOW server_version")).toMatch(/^15\./);
    // While the data is of the old major, the change can be taken back, and restarts nothing.
    const uids = async () => (await database.pods()).map(({ metadata }) => metadata.uid);
    const before = await uids();
    await database.change({ postgresVersion: 15 });
    await database.waitReady();
    expect(await uids()).toEqual(before);
  });
});

test("after all of it the operator is quiet", async () => {
  expect(await writesWhileQuiet(namespace, { alone: true })).toEqual([]);
});
