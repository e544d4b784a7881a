// The archive of a database that is written to all the while: switched on and off, with a store that dies, is slow and comes back, through
// a switchover; and what a database's own Pod can't do with it.
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { Archive } from "../database/archive.ts";
import { segmentNumbers } from "../database/archive-list.ts";
import { Database, sampleDB } from "../database/database.ts";
import { findContainer, killContainer } from "../database/faults.ts";
import { Ledger, lastServer, nothingLost } from "../database/ledger.ts";
import { bucketFields, bucketSecrets } from "../store/bucket.ts";
import { deployedOperator } from "./deployed-operator.ts";
import { bucket, suiteStore } from "./suite-store.ts";
import { isLocal, localCluster, suiteNamespace } from "./test-cluster.ts";

const minutes = 60_000;

describe.runIf(isLocal)("the archive", () => {
  deployedOperator();
  const reached = suiteStore();
  const namespace = suiteNamespace("archive");
  let database: Database;
  let archive: Archive;
  let ledger: Ledger;

  afterEach(() => reached().store.fault(undefined));

  const secret = (name: string, data: Readonly<Record<string, string>>) =>
    namespace.apply(JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name }, stringData: data }));

  const s3 = () => ({ ...bucketFields(reached().store, reached().url, bucket), prefix: "e2e" });

  beforeAll(async () => {
    database = await Database.apply(namespace, sampleDB({ name: "orders", replicas: 2, synchronousReplication: "Required" }));
    archive = new Archive(namespace, database);
    ledger = await Ledger.start(namespace, { database: "orders", deadlineMs: 4 * minutes });
    await database.waitReady();
    await reached().store.makeBucket(bucket);
  });

  test("is switched on while rows are written; what is missing is told, and the database serves", { timeout: 10 * minutes }, async () => {
    await database.change({ backup: { repository: { s3: s3() }, encryptionSecretName: "passphrase" } });
    expect(await database.says("RepositoryReachable", "CredentialsMissing")).toMatch(/accessKeyId/);
    const { store } = reached();
    await secret("passphrase", { passphrase: "correct horse battery staple" });
    await namespace.apply(JSON.stringify(await bucketSecrets(store, bucket)));
    await database.says("RepositoryReachable", "RepositoryReachable");
    await database.waitReady(4 * minutes);
    await archive.complete();
    await database.says("ArchivingHealthy", "Archiving");
    expect(await ledger.verify()).toMatchObject(nothingLost);
    expect((await store.objects(bucket, "e2e/")).length).toBeGreaterThan(0);
  });

  test("is closed to the database's own Pod, but for adding", async () => {
    const pod = await database.primary();
    const call = (method: string, path: string) =>
      database.shell(
        pod,
        `python3 -IS -c "
import http.client, ssl
context = ssl.create_default_context(cafile='/etc/sampledb/tls/ca.crt')
context.load_cert_chain('/etc/sampledb/tls/tls.crt', '/etc/sampledb/tls/tls.key')
connection = http.client.HTTPSConnection('orders-repository', 8433, timeout=5, context=context)
connection.request('${method}', '${path}', b'' if '${method}' != 'GET' else None)
print(connection.getresponse().status)
"`,
      );
    const [segment = ""] = (await archive.files()).filter((file) => /[0-9A-F]{24}/.test(file));
    const name = /[0-9A-F]{24}/.exec(segment)?.[0] ?? "";
    for (const [method, path] of [
      ["GET", `/wal/${name}`],
      ["GET", "/wal/"],
      ["GET", "/"],
      ["GET", "/status"],
      ["GET", "/etc/sampledb/store/secretAccessKey"],
      ["DELETE", `/wal/${name}`],
      ["PUT", "/wal/../../pgbackrest.conf"],
      ["POST", `/wal/${name}`],
    ] as const) {
      expect(await call(method, path), `${method} ${path}`).toMatch(/^(400|403|404|405|501)$/);
    }
    // pgBackRest's own port, which would hand out keys, is not there at all.
    await expect(database.shell(pod, "timeout 3 bash -c '</dev/tcp/orders-repository/8432'")).rejects.toThrow(/exit code/);
    const seen = await database.shell(pod, "cat /proc/1/environ /etc/sampledb/tls/* 2>/dev/null; ls -R /etc/sampledb");
    expect(seen).not.toContain("correct horse");
    expect(seen).not.toMatch(/secretAccessKey|accessKeyId/);
  });

  test("of a store that dies: rows are written, a switchover is quick, what waits arrives afterwards, also what the former primary left", {
    timeout: 10 * minutes,
  }, async () => {
    const { store } = reached();
    await store.fault("dead");
    await database.says("RepositoryReachable", "StoreUnreachable");
    const former = await database.primary();
    for (let segment = 0; segment < 3; segment++) await database.sql("SELECT pg_switch_wal()", { superuser: true });
    await eventually("segments wait", minutes, async () => (await archive.waiting()).length >= 3);
    const before = await ledger.report();
    await database.switchOver(await database.someReplica());
    await ledger.acknowledges({ rows: 10, deadlineMs: minutes, since: before });
    // A restartpoint of the former primary removes segments that it need not keep for itself.
    for (const pod of [former, former]) {
      await eventuallySucceeds(`${pod} makes a restartpoint`, 2 * minutes, () =>
        database.sql("CHECKPOINT", { superuser: true, pod, databaseName: "postgres" }),
      );
    }
    // A primary that is killed with segments waiting goes through a recovery, and a rewind, before it is a standby.
    await database.waitReady(4 * minutes);
    for (let segment = 0; segment < 3; segment++) await database.sql("SELECT pg_switch_wal()", { superuser: true });
    const killed = await ledger.report();
    await killContainer(localCluster(), await findContainer(namespace, await database.primary()));
    await ledger.acknowledges({ rows: 10, deadlineMs: 2 * minutes, otherThan: lastServer(killed) });
    await database.waitReady(4 * minutes);
    await store.fault(undefined);
    await database.says("RepositoryReachable", "RepositoryReachable");
    await archive.complete({ deadlineMs: 3 * minutes });
    expect(await ledger.verify()).toMatchObject(nothingLost);
  });

  test("of a slow store: what waits becomes less", { timeout: 10 * minutes }, async () => {
    const { store } = reached();
    await store.fault("slow");
    // Nothing that a compressor could make small: some seconds of what the store takes.
    await database.sql(
      `CREATE TABLE noise (text text STORAGE EXTERNAL);
       INSERT INTO noise SELECT string_agg(gen_random_uuid()::text, '') FROM generate_series(1, 1500000) AS n GROUP BY n % 1000`,
    );
    await eventually("segments wait", minutes, async () => (await archive.waiting()).length > 0);
    await archive.complete({ deadlineMs: 3 * minutes });
  });

  test("of a store that is dead for good is given up: what waits is let go, and nothing that is written since", {
    timeout: 10 * minutes,
  }, async () => {
    const { store } = reached();
    await store.fault("dead");
    for (let segment = 0; segment < 3; segment++) await database.sql("SELECT pg_switch_wal()", { superuser: true });
    await eventually("segments wait, and fail", 2 * minutes, async () => (await archive.waiting()).length >= 3 && (await archive.fails()));
    await namespace.run("annotate", "sampledb", "orders", `sampledb.io/drop-archive=${await archive.stanza()}`);
    const last = await eventuallySucceeds("what is let go is noted", minutes, () => archive.lastLetGo());
    await eventually("it is let go, with the store dead", 3 * minutes, async () => (await archive.waiting()).every((name) => name > last));
    expect((await database.get()).metadata.annotations?.["sampledb.io/drop-archive"]).toBeUndefined();
    await store.fault(undefined);
    const [number = 0] = segmentNumbers([last]);
    await archive.complete({ deadlineMs: 3 * minutes, begin: number + 1 });
    expect(await database.says("ArchivingHealthy", "FullBackupDue")).toMatch(/can't be restored until a full backup is made/);
    expect(await ledger.verify()).toMatchObject(nothingLost);
  });

  test("is switched off again, and the repository goes; a volume begins another archive", { timeout: 10 * minutes }, async () => {
    await database.change({ backup: null });
    await eventually(
      "the repository's Pod is gone",
      4 * minutes,
      async () => (await namespace.get("deployment", "orders-repository")) === undefined,
    );
    await database.waitReady(4 * minutes);
    expect(await database.sql("SHOW archive_mode", { superuser: true })).toBe("off");
    await database.change({ backup: {} });
    await database.says("RepositoryReachable", "RepositoryReachable");
    await database.waitReady(4 * minutes);
    await database.sql("SELECT pg_switch_wal()", { superuser: true });
    await eventuallySucceeds("a segment is on the volume", 2 * minutes, async () => {
      expect((await archive.files()).filter((file) => /[0-9A-F]{24}/.test(file)).length).toBeGreaterThan(0);
    });
    await database.says("ArchivingHealthy", "Archiving");
    expect(await ledger.verify()).toMatchObject(nothingLost);
  });
});
