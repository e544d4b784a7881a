// Restores from a repository of which no object is left, on a real API server: what is stored there is input, and the Restore decides.
import { beforeAll, expect, test } from "vitest";
import * as kinds from "../controllers/kinds/kubernetes.ts";
import { type Restore, restores, type SampleDB, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import { packSpec, unpackSpec } from "../controllers/repository/packed-spec.ts";
import { installKinds } from "../controllers/sampledb/stage.fixture.ts";
import { startSuite } from "../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../tools/eventually.ts";
import { BackupStage } from "./backup-stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);
const open = (namespace: string) => BackupStage.open(namespace, client, proxy);

beforeAll(() => installKinds(plane, client));

const uid = "7c1c6f2e-9d3b-4b8e-8a59-2f3d0b5d6f1e";
const label = "20260504-120000F";
const s3 = {
  endpoint: "https://new.example.com",
  region: "us-east-1",
  bucket: "backups",
  prefix: `databases/shop/${uid}`,
  uriStyle: "Path",
  credentialsSecretName: "new-keys",
} as const;
const bucket = { stanza: `${uid}-17-1`, s3, encryptionSecretName: "new-passphrase" };
const stored = {
  postgresVersion: 17,
  replicas: 3,
  storage: { size: "7Gi" },
  bootstrap: { databaseName: "shop", ownerName: "shop", scripts: [{ secretKeyRef: { name: "gone", key: "sql" } }] },
  paused: true,
  backup: {
    repository: { s3: { ...s3, endpoint: "https://old.example.com", prefix: "databases", credentialsSecretName: "old-keys" } },
    encryptionSecretName: "old-passphrase",
    schedules: [{ name: "night", schedule: "0 3 * * *" }],
    retention: { fullBackupCount: 5 },
  },
};
const packed = (spec: object) => packSpec(spec as SampleDB["spec"]);
const toNew = (repository: object, overrides?: object) => ({
  source: { repository },
  destination: { type: "New", sampleDBName: "copy", ...(overrides ? { overrides } : {}) },
});
/** Ends the look, and resolves when the next Job is there. */
async function found(stage: BackupStage, name: string, end: object): Promise<void> {
  await stage.jobOf(name, "look", "copy-restore");
  await stage.end("copy", "restore", { outcome: "succeeded", label, ...end });
  await stage.jobOf(name, "restore", "copy-restore");
}

test("the run of a backup has the spec of its SampleDB, packed, as it was when the backup began", async () => {
  await using stage = await open("packed");
  await stage.backUp("night");
  await stage.jobOf("night", "backup");
  const run = JSON.parse((await client.get(kinds.configMaps, stage.databases.key("orders-backup"))).data?.["run.json"] ?? "");
  expect(unpackSpec(run.spec)).toEqual((await client.get(sampledbs, stage.databases.key("orders"))).spec);
});

test("the new SampleDB has the stored spec, with the store and the Secrets of the Restore and its overrides", async () => {
  await using stage = await open("bare");
  await stage.restore("back", toNew(bucket, { replicas: 2 }));
  await stage.jobOf("back", "look", "copy-restore");
  expect(await client.find(kinds.persistentVolumeClaims, stage.databases.key("data-copy-0"))).toBeUndefined();
  await found(stage, "back", { spec: packed(stored) });
  const claim = await client.get(kinds.persistentVolumeClaims, stage.databases.key("data-copy-0"));
  expect(claim.spec?.resources?.requests?.["storage"]).toBe("7Gi");
  const reached = { reachedLSN: "0/5000000", timeline: 2, systemIdentifier: "7550000000000000001" };
  await stage.end("copy", "restore", { outcome: "succeeded", label, ...reached });
  const made = await eventually("the SampleDB is made", 60_000, () => client.find(sampledbs, stage.databases.key("copy")));
  expect(made.spec).toMatchObject({
    replicas: 2,
    paused: false,
    bootstrap: { databaseName: "shop", ownerName: "shop" },
    backup: {
      repository: { s3: { ...s3, prefix: "databases" } },
      encryptionSecretName: "new-passphrase",
      schedules: [{ name: "night" }],
      retention: { fullBackupCount: 5 },
    },
  });
  expect(made.spec.bootstrap.scripts).toBeUndefined();
});

test("where nothing is stored, or nothing is wanted from there, the SampleDB is made from the overrides", async () => {
  await using stage = await open("overrides");
  await stage.restore("none", toNew(bucket, { storage: { size: "2Gi" } }));
  await found(stage, "none", {});
  await client.delete(restores, stage.databases.key("none"));
  await stage.databases.gone(restores, "none");
  await stage.released("copy-restore");
  await stage.restore("unwanted", toNew({ ...bucket, sampleDBSpec: "FromOverrides" }, { storage: { size: "3Gi" } }));
  await stage.jobOf("unwanted", "restore", "copy-restore");
  const claim = await client.get(kinds.persistentVolumeClaims, stage.databases.key("data-copy-0"));
  expect(claim.spec?.resources?.requests?.["storage"]).toBe("3Gi");
});

test("what can't be used of a repository fails the Restore with its name, and leaves nothing", async () => {
  await using stage = await open("hostile");
  const failed = { outcome: "failed", reason: "TargetOutsideWindow", message: "from 12:00 to 13:00" };
  for (const [name, end, reason, message] of [
    ["nothing", { outcome: "succeeded", label }, "SourceBad", /no spec is stored with backup .*overrides.storage.size/],
    ["long", { outcome: "succeeded", label, specBytes: 9000 }, "SourceBad", /9000 bytes.*FromOverrides/],
    ["garbage", { outcome: "succeeded", label, spec: "e30=" }, "SourceBad", /no spec of a SampleDB.*FromOverrides/],
    [
      "type",
      { outcome: "succeeded", label, spec: packed({ ...stored, replicas: "3" }) },
      "SourceBad",
      /spec.replicas: must be a whole number/,
    ],
    ["empty", { outcome: "succeeded", label, spec: packed({}) }, "SourceBad", /spec.storage: is missing/],
    [
      "command",
      { outcome: "succeeded", label, spec: packed({ ...stored, postgresql: { parameters: { archive_command: "rm -rf /" } } }) },
      "SourceBad",
      /spec.postgresql.parameters\[archive_command\]/,
    ],
    [
      "rule",
      { outcome: "succeeded", label, spec: packed({ ...stored, replicas: 1, synchronousReplication: "Required" }) },
      "SourceBad",
      /replicas/,
    ],
    ["outside", failed, "TargetOutsideWindow", /from 12:00 to 13:00/],
  ] as const) {
    await stage.restore(name, toNew(bucket));
    await stage.jobOf(name, "look", "copy-restore");
    await stage.end("copy", "restore", end, end.outcome === "failed" ? 1 : 0);
    expect(stage.message(await stage.becomes<Restore>(restores, name, reason))).toMatch(message);
    await stage.released("copy-restore");
  }
  expect(await client.find(kinds.persistentVolumeClaims, stage.databases.key("data-copy-0"))).toBeUndefined();
  expect(await client.find(sampledbs, stage.databases.key("copy"))).toBeUndefined();
});
