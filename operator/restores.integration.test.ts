// Restores into a new SampleDB on a real API server. No node runs their Pods; the test writes what a kubelet would.
import { beforeAll, expect, test } from "vitest";
import * as kinds from "../controllers/kinds/kubernetes.ts";
import { backups, type Restore, restores, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import { images, installKinds } from "../controllers/sampledb/stage.fixture.ts";
import { startSuite } from "../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../tools/eventually.ts";
import { BackupStage } from "./backup-stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);
const open = (namespace: string) => BackupStage.open(namespace, client, proxy);

beforeAll(() => installKinds(plane, client));

const filled = {
  outcome: "succeeded",
  label: "20260504-120000F",
  reachedTime: "2026-05-04T12:30:00Z",
  reachedLSN: "0/5000000",
  timeline: 2,
  systemIdentifier: "7550000000000000001",
};
const toNew = (source: object, more: object = {}) => ({ source, destination: { type: "New", sampleDBName: "copy", ...more } });
/** All that could be half-made under the destination's name. */
const left = async (stage: BackupStage) => {
  const found: string[] = [];
  for (const [resource, name] of [
    [kinds.persistentVolumeClaims, "data-copy-0"],
    [kinds.secrets, "copy-superuser"],
    [kinds.secrets, "copy-replication"],
    [kinds.secrets, "copy-app"],
    [kinds.secrets, "copy-tls"],
    [kinds.configMaps, "copy-config"],
    [kinds.configMaps, "copy-leader"],
    [sampledbs, "copy"],
  ] as const) {
    if (await client.find(resource as typeof kinds.secrets, stage.databases.key(name))) found.push(name);
  }
  return found;
};

test("a Restore fills a volume, and only then makes the SampleDB, with an identity, passwords and a first Backup", async () => {
  await using stage = await open("restored");
  await stage.backedUp("night");
  await stage.restore("back", toNew({ backupName: "night" }, { overrides: { replicas: 2, storage: { size: "3Gi" } } }));
  await stage.jobOf("back", "restore", "copy-restore");
  expect(await client.find(sampledbs, stage.databases.key("copy"))).toBeUndefined();
  const { uid } = (await client.get(sampledbs, stage.databases.key("orders"))).metadata;
  const run = JSON.parse((await client.get(kinds.configMaps, stage.databases.key("copy-restore"))).data?.["run.json"] ?? "");
  expect(run).toMatchObject({ stanza: `${uid}-17-1`, label: "20260504-120000F", target: { type: "Latest" } });
  const claim = await client.get(kinds.persistentVolumeClaims, stage.databases.key("data-copy-0"));
  expect(claim).toMatchObject({
    metadata: { ownerReferences: [{ kind: "Restore" }] },
    spec: { resources: { requests: { storage: "3Gi" } } },
  });
  const pod = (await stage.job("copy-restore"))?.spec?.template.spec;
  expect(pod?.containers[0]?.image).toBe(images[17]);
  expect(pod?.volumes?.find(({ name }) => name === "repository")?.persistentVolumeClaim).toEqual({
    claimName: "orders-repository",
    readOnly: true,
  });

  await stage.end("copy", "restore", filled);
  await stage.databases.serves("copy-0");
  await stage.databases.initialize("copy");
  const { status } = await stage.becomes<Restore>(restores, "back", "RestoreSucceeded");
  expect(status).toMatchObject({
    recoveredToTime: filled.reachedTime,
    timeline: 2,
    systemIdentifier: filled.systemIdentifier,
    firstBackupName: expect.any(String),
  });
  expect((await client.get(sampledbs, stage.databases.key("copy"))).spec).toMatchObject({ replicas: 2, backup: {} });
  expect((await client.get(kinds.persistentVolumeClaims, stage.databases.key("data-copy-0"))).metadata.ownerReferences ?? []).toEqual([]);
  expect((await client.get(backups, stage.databases.key(status?.firstBackupName as string))).spec).toMatchObject({
    sampleDBName: "copy",
    type: "Full",
  });
  await stage.released("copy-restore");
});

test("a Restore that fails leaves nothing, says why, and the next one works at once", async () => {
  await using stage = await open("not-restored");
  await stage.backedUp("night");
  await stage.restore("first", toNew({ sampleDBName: "orders" }));
  await stage.jobOf("first", "restore", "copy-restore");
  await stage.end("copy", "restore", { outcome: "failed", reason: "TargetOutsideWindow", message: "from 12:00 to 13:00" }, 1, "recover");
  expect(stage.message(await stage.becomes(restores, "first", "TargetOutsideWindow"))).toBe("from 12:00 to 13:00");
  await eventually("nothing is left", 60_000, async () => (await left(stage)).length === 0);
  await stage.restore("second", toNew({ sampleDBName: "orders" }));
  await stage.jobOf("second", "restore", "copy-restore");
});

test("a Restore that is deleted while it runs leaves nothing", async () => {
  await using stage = await open("withdrawn");
  await stage.backedUp("night");
  await stage.restore("back", toNew({ backupName: "night" }));
  await stage.jobOf("back", "restore", "copy-restore");
  await client.delete(restores, stage.databases.key("back"));
  await stage.databases.gone(restores, "back");
  await eventually("nothing is left", 60_000, async () => (await left(stage)).length === 0);
  await stage.released("copy-restore");
});

test("a new SampleDB that is deleted before it serves is not made again, and its Restore ends", async () => {
  await using stage = await open("deleted-early");
  await stage.backedUp("night");
  await stage.restore("back", toNew({ backupName: "night" }));
  await stage.jobOf("back", "restore", "copy-restore");
  await stage.end("copy", "restore", filled);
  await eventually("all is made, and the status says so", 60_000, async () => {
    const { status } = await client.get(restores, stage.databases.key("back"));
    return status?.firstBackupName !== undefined;
  });
  await stage.databases.change({ deletionPolicy: "Retain" }, "copy");
  await client.delete(sampledbs, stage.databases.key("copy"));
  expect(stage.message(await stage.becomes(restores, "back", "RestoreLost"))).toBe("SampleDB copy was deleted before it served");
  await stage.databases.gone(sampledbs, "copy");
  await stage.released("copy-restore");
});

test("a SampleDB that somebody makes under the name meanwhile gets no instance on the half-filled volume", async () => {
  await using stage = await open("in-between");
  await stage.backedUp("night");
  await stage.restore("back", toNew({ backupName: "night" }));
  await stage.jobOf("back", "restore", "copy-restore");
  await stage.databases.create({}, "copy");
  expect((await stage.databases.becomes("NameTaken", "copy")).message).toMatch(/being filled by Restore back/);
  expect(await client.find(kinds.statefulSets, stage.databases.key("copy"))).toBeUndefined();
});

test("what can't be restored is refused before anything is made, with the way out", async () => {
  await using stage = await open("refused-restore");
  await stage.backedUp("night");
  await stage.backUp("running");
  await stage.jobOf("running", "backup");
  for (const [name, spec, reason, message] of [
    ["unknown-backup", toNew({ backupName: "other" }), "SourceMissing", /no Backup other in this namespace/],
    ["unknown-database", toNew({ sampleDBName: "other" }), "SourceMissing", /no good Backup/],
    [
      "exists",
      { source: { backupName: "night" }, destination: { type: "New", sampleDBName: "orders" } },
      "DestinationTaken",
      /is there already/,
    ],
    [
      "a-claim",
      toNew({ repository: { volumeClaimName: "data-orders-0", stanza: "uid-17-1" } }),
      "SourceMissing",
      /no repository of this operator/,
    ],
    [
      "no-size",
      toNew({ repository: { volumeClaimName: "orders-repository", stanza: "uid-17-1", sampleDBSpec: "FromOverrides" } }),
      "InvalidSpec",
      /overrides.storage.size: is needed/,
    ],
    [
      "too-early",
      { ...toNew({ sampleDBName: "orders" }), target: { type: "Time", time: "2026-05-04T12:00:20Z" } },
      "TargetOutsideWindow",
      /from 2026-05-04T12:00:21Z, when Backup night had ended/,
    ],
    [
      "too-early-for-its-backup",
      { ...toNew({ backupName: "night" }), target: { type: "LSN", lsn: "0/20000FF" } },
      "TargetOutsideWindow",
      /from 0\/2000100/,
    ],
    [
      "in-the-future",
      { ...toNew({ backupName: "night" }), target: { type: "Time", time: "2126-01-01T00:00:00Z" } },
      "TargetOutsideWindow",
      /is in the future/,
    ],
    ["small", toNew({ backupName: "night" }, { overrides: { storage: { size: "20M" } } }), "VolumeTooSmall", /20M is too small/],
    [
      "wrong-major",
      toNew({ repository: { volumeClaimName: "orders-repository", stanza: "uid-14-1" } }),
      "SourceBad",
      /is of PostgreSQL 14/,
    ],
    ["still-running", toNew({ backupName: "running" }), "SourceNotReady", /still being made/],
    ["too-late", toNew({ backupName: "night" }), "DestinationTaken", /Restore still-running makes SampleDB copy already/],
  ] as const) {
    await stage.restore(name, spec);
    expect(stage.message(await stage.becomes(restores, name, reason))).toMatch(message);
  }
  expect(await left(stage)).toEqual([]);
  expect(await stage.job("copy-restore")).toBeUndefined();
});
