// A restore when nothing is left but the bucket: the namespace is gone, and so are the CRDs with every object of theirs.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Archive } from "../database/archive.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Runs } from "../database/runs.ts";
import { bucketFields, bucketSecrets } from "../store/bucket.ts";
import { deployedOperator, operator } from "./deployed-operator.ts";
import { bucket, suiteStore } from "./suite-store.ts";
import { isLocal, kubectl, suiteNamespace } from "./test-cluster.ts";

const minutes = 60_000;
const passphrase = { apiVersion: "v1", kind: "Secret", metadata: { name: "passphrase" }, stringData: { passphrase: "correct horse" } };

describe.runIf(isLocal)("a bare repository", () => {
  deployedOperator();
  const reached = suiteStore();
  const former = kubectl.inNamespace("bare-former");
  const namespace = suiteNamespace("bare");
  /** Twice, where a test has failed before the namespace was gone. */
  async function removeFormer(): Promise<void> {
    await Database.deleteAll(former);
    await kubectl.run("delete", "namespace", "bare-former", "--ignore-not-found", "--timeout=180s", "--request-timeout=0");
  }
  afterAll(removeFormer);
  let place: { readonly stanza: string; readonly s3: object };

  beforeAll(async () => {
    const { store, url } = reached();
    await store.makeBucket(bucket);
    await kubectl.run("create", "namespace", "bare-former");
    for (const secrets of [await bucketSecrets(store, bucket), passphrase]) await former.apply(JSON.stringify(secrets));
    const s3 = { ...bucketFields(store, url, bucket), prefix: "databases" };
    const backup = { repository: { s3 }, encryptionSecretName: "passphrase", retention: { fullBackupCount: 3 } };
    const postgresql = { parameters: { work_mem: "7MB" } };
    const bootstrap = { databaseName: "shop", ownerName: "keeper" };
    const database = await Database.apply(former, sampleDB({ name: "orders", storage: { size: "900Mi" }, backup, postgresql, bootstrap }));
    await database.waitReady(4 * minutes);
    await database.sql("CREATE TABLE before AS SELECT generate_series(1, 1000) AS n");
    const { repository } = await new Runs(former, "orders").backUp("full", "Full");
    await database.sql("CREATE TABLE after AS SELECT generate_series(1, 77) AS n");
    await new Archive(former, database).complete();
    place = { stanza: repository?.stanza ?? "", s3: { ...s3, prefix: repository?.s3?.prefix } };

    await removeFormer();
    await operator.make("uninstall");
    expect((await kubectl.list("crd")).filter(({ spec }) => spec.group === "sampledb.io")).toEqual([]);
    await operator.make("undeploy");
    await operator.make("deploy");
    await operator.ready();
  }, 15 * minutes);

  test("gives the database back, with its spec, and archives beside the former one", { timeout: 10 * minutes }, async () => {
    const { store } = reached();
    for (const secrets of [await bucketSecrets(store, bucket), passphrase]) await namespace.apply(JSON.stringify(secrets));
    const runs = new Runs(namespace, "orders");
    await runs.make("Restore", "back", {
      source: { repository: { ...place, encryptionSecretName: "passphrase" } },
      destination: { type: "New", sampleDBName: "orders" },
    });
    const status = await runs.succeeds("Restore", "back");
    const database = new Database(namespace, "orders");
    expect(await database.sql("SELECT count(*), (SELECT count(*) FROM after), current_database(), current_user FROM before")).toBe(
      "1000|77|shop|keeper",
    );
    expect(await database.sql("SHOW work_mem")).toBe("7MB");
    const { spec, metadata } = await database.get();
    expect(spec).toMatchObject({
      storage: { size: "900Mi" },
      backup: { repository: { s3: { prefix: "databases" } }, encryptionSecretName: "passphrase", retention: { fullBackupCount: 3 } },
    });
    const first = await runs.succeeds("Backup", status.firstBackupName ?? "");
    expect(first.repository?.s3?.prefix).toBe(`databases/${namespace.namespace}/${metadata.uid}`);
    await database.waitReady();
  });
});
