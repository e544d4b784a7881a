// run-backup with an encrypted repository in a bucket: the same checks, the store's faults by their names, and no key in a message.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { S3Store } from "../../e2e/store/s3-store.ts";
import { Stage, stanza } from "./backup.fixture.ts";

const bucket = "backups";
const folder = "databases/shop/uid";

describe.runIf(process.getuid?.() === 0)("run-backup with a bucket", () => {
  let stage: Stage;
  let store: S3Store;

  beforeAll(async () => {
    store = await S3Store.start();
    await store.makeBucket(bucket);
    stage = await Stage.start();
    stage.store(
      "repo1-type=s3",
      `repo1-path=/${folder}`,
      `repo1-s3-endpoint=${store.endpoint}`,
      `repo1-s3-bucket=${bucket}`,
      `repo1-s3-region=${store.region}`,
      "repo1-s3-uri-style=path",
      "repo1-storage-ca-file=/tmp/store-ca.crt",
      "repo1-cipher-type=aes-256-cbc",
    );
    stage.containers.write("store-ca.crt", store.caCertificate);
    for (const mounted of ["repository", "run"]) writeKeys(mounted, store.secretAccessKey);
    await stage.servePrimary();
  }, 600_000);
  afterAll(async () => {
    await stage?.containers.stop();
    await store?.[Symbol.asyncDispose]();
  });

  function writeKeys(mounted: string, secret: string): void {
    stage.containers.write(`${mounted}/store/accessKeyId`, store.accessKeyId);
    stage.containers.write(`${mounted}/store/secretAccessKey`, secret);
    stage.containers.write(`${mounted}/encryption/passphrase`, "a pass = phrase");
  }

  const backups = async () => await store.objects(bucket, `${folder}/backup/${stanza}/`);

  test("backups are made, found again and removed", async () => {
    const first = await stage.run({ task: "backup", type: "full", uid: "first" });
    expect(first).toMatchObject({ outcome: "succeeded", type: "full" });
    const second = await stage.label({ type: "full", uid: "second" });
    expect(await stage.run({ task: "backup", type: "incr", uid: "third" })).toMatchObject({ outcome: "succeeded", type: "incr" });
    expect(await stage.run({ task: "adopt", uid: "first" })).toMatchObject({ outcome: "succeeded", label: first.label });
    expect(await stage.run({ task: "expire", label: first.label })).toEqual({ outcome: "succeeded", removed: 1 });
    const keys = (await backups()).map(({ key }) => key);
    expect(keys.filter((key) => key.includes(`/${first.label}/`))).toEqual([]);
    expect(keys.filter((key) => key.includes(`/${second}/`))).not.toEqual([]);
  });

  test("a segment that is missing in the bucket fails the backup, and is named", async () => {
    const { lastWAL } = await stage.run({ task: "backup", type: "incr", uid: "gap" });
    const [object] = (await store.objects(bucket, `${folder}/archive/${stanza}/17-1/0000000100000000/${lastWAL}-`)).slice(-1);
    await store.client().delete(bucket, object?.key as string);
    const message = `the segment ${lastWAL} is missing in the archive`;
    expect(await stage.run({ task: "adopt", uid: "gap" })).toMatchObject({ outcome: "failed", reason: "WALIncomplete", message });
  });

  test("a wrong key is told as such, and not shown", async () => {
    writeKeys("run", "not-the-secret");
    onTestFinished(() => writeKeys("run", store.secretAccessKey));
    const failed = await stage.run({ task: "backup", uid: "denied" });
    expect(failed).toMatchObject({ outcome: "failed", reason: "StoreDenied" });
    expect(JSON.stringify(failed)).not.toContain("not-the-secret");
  });

  test("a store that is away fails a backup within seconds", async () => {
    await store.fault("refusing");
    onTestFinished(async () => await store.fault(undefined));
    const began = performance.now();
    expect(await stage.run({ task: "backup", uid: "away" })).toMatchObject({ outcome: "failed", reason: "StoreUnreachable" });
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});
