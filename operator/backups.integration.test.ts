// Backups on a real API server: Jobs are made, waited for, lost and released. No node runs their Pods; the test writes what a kubelet would.
import { beforeAll, expect, test } from "vitest";
import { labelNames } from "../api/labels.ts";
import { succeeded } from "../controllers/backup/backup.fixture.ts";
import { managedBy } from "../controllers/desired/identity.ts";
import * as kinds from "../controllers/kinds/kubernetes.ts";
import { backups, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import { images, installKinds } from "../controllers/sampledb/stage.fixture.ts";
import { startSuite } from "../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../tools/eventually.ts";
import { BackupStage } from "./backup-stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

const open = (namespace: string) => BackupStage.open(namespace, client, proxy);

test("a Backup becomes a Job, tells what it made, and leaves nothing of it; the SampleDB tells of it too", async () => {
  await using stage = await open("backed-up");
  await stage.backUp("first");
  await stage.jobOf("first", "backup");
  const { uid } = (await client.get(sampledbs, stage.databases.key("orders"))).metadata;
  const config = await client.get(kinds.configMaps, stage.databases.key("orders-backup"));
  expect(config.data?.["pgbackrest.conf"]).toContain(`[${uid}-17-1]\n`);
  expect(config.data?.["pgbackrest.conf"]).toContain(`pg1-host=orders-0.orders-pods.${stage.databases.namespace}.svc`);
  expect(JSON.parse(config.data?.["run.json"] ?? "")).toMatchObject({
    task: "backup",
    type: "full",
    uid: (await client.get(backups, stage.databases.key("first"))).metadata.uid,
  });
  const secret = await client.get(kinds.secrets, stage.databases.key("orders-backup"));
  expect(Object.keys(secret.data ?? {}).sort()).toEqual(["ca.crt", "tls.crt", "tls.key"]);
  const [container] = (await stage.job("orders-backup"))?.spec?.template.spec?.containers ?? [];
  expect(container?.image).toBe(images[17]);
  expect(container?.env).toBeUndefined(); // keys are files, never the environment

  await stage.end("orders", "backup", succeeded);
  const { status } = await stage.becomes(backups, "first", "BackupSucceeded");
  expect(status).toMatchObject({ label: succeeded.label, repository: { stanza: `${uid}-17-1` }, sampleDBSpec: { postgresVersion: 17 } });
  await stage.released("orders-backup");
  await eventually("the SampleDB tells when", 30_000, async () => {
    const told = (await client.get(sampledbs, stage.databases.key("orders"))).status;
    return told?.firstRecoverableTime === succeeded.stopTime && told.lastSuccessfulBackupTime === status?.completionTime;
  });
});

test("the second waits for the first, and begins when that has failed", async () => {
  await using stage = await open("one-at-a-time");
  await stage.backUp("a");
  await stage.jobOf("a", "backup");
  await stage.backUp("b", { type: "Incremental" });
  expect((await stage.becomes(backups, "b", "BackupWaits")).status?.conditions?.[0]?.message).toBe("it waits for Backup a");
  await stage.end("orders", "backup", { outcome: "failed", reason: "StoreDenied", message: "403" }, 1);
  expect((await stage.becomes(backups, "a", "StoreDenied")).status?.conditions?.[0]).toMatchObject({ status: "False", message: "403" });
  await stage.jobOf("b", "backup");
});

test("of a Pod that ended without a word the repository is asked, and what is whole counts", async () => {
  await using stage = await open("adopted");
  await stage.backUp("whole");
  await stage.jobOf("whole", "backup");
  await stage.becomes(backups, "whole", "Preparing");
  await stage.end("orders", "backup", "", 137);
  await stage.jobOf("whole", "adopt");
  await stage.end("orders", "backup", succeeded);
  await stage.becomes(backups, "whole", "BackupSucceeded");

  await stage.backUp("broken");
  await stage.jobOf("broken", "backup");
  await stage.becomes(backups, "broken", "Preparing");
  await client.delete(kinds.jobs, stage.databases.key("orders-backup")); // by a person
  await stage.jobOf("broken", "adopt");
  await stage.end("orders", "backup", { outcome: "failed", reason: "BackupLost", message: "the repository has no backup of this run" }, 1);
  await stage.becomes(backups, "broken", "Interrupted");
  await stage.released("orders-backup");

  await stage.backUp("drained");
  await stage.jobOf("drained", "backup");
  await stage.end("orders", "backup", { outcome: "failed", reason: "Interrupted", message: "the run was told to end" }, 1);
  await stage.jobOf("drained", "adopt"); // it may have been told so after its last byte
  await stage.end("orders", "backup", succeeded);
  await stage.becomes(backups, "drained", "BackupSucceeded");
  await stage.released("orders-backup");
});

test("an operator that is stopped and started again goes on, and makes no second Job", async () => {
  await using stage = await open("restarted");
  const first = await stage.run();
  await stage.backUp("night");
  await stage.jobOf("night", "backup");
  const uid = (await stage.job("orders-backup"))?.metadata.uid;
  await first.stop();
  await stage.run();
  await stage.becomes(backups, "night", "Preparing");
  expect((await stage.job("orders-backup"))?.metadata.uid).toBe(uid);
  await stage.end("orders", "backup", succeeded);
  await stage.becomes(backups, "night", "BackupSucceeded");
});

test("deleting a Backup removes the artefact or leaves it, as its policy says; the last good one stays", async () => {
  await using stage = await open("deleted-backup");
  for (const [name, label] of [
    ["old", "20260504-120000F"],
    ["new", "20260505-120000F"],
  ] as const) {
    await stage.backedUp(name, { deletionPolicy: "Delete" }, label);
  }
  await client.delete(backups, stage.databases.key("old"));
  await stage.jobOf("old", "expire");
  const config = await client.get(kinds.configMaps, stage.databases.key("orders-backup"));
  expect(JSON.parse(config.data?.["run.json"] ?? "")).toMatchObject({ task: "expire", label: "20260504-120000F" });
  await stage.end("orders", "backup", { outcome: "succeeded", removed: 1 });
  await stage.databases.gone(backups, "old");

  await client.delete(backups, stage.databases.key("new"));
  expect((await stage.becomes(backups, "new", "ArtefactNeeded")).status?.conditions?.[0]?.message).toMatch(/last good backup/);
  expect(await stage.job("orders-backup")).toBeUndefined();
  await client.mergePatch(backups, stage.databases.key("new"), { spec: { deletionPolicy: "Retain" } });
  await stage.databases.gone(backups, "new");
  await stage.released("orders-backup");
});

test("while a Secret of the user's has the name of a run's, the Backup names it; it goes on when that is gone", async () => {
  await using stage = await open("name-in-the-way");
  await stage.occupy("orders-backup");
  await stage.backUp("night");
  const waits = await stage.becomes(backups, "night", "RunRefused");
  expect(stage.message(waits)).toMatch(/^Secret name-in-the-way\/orders-backup is there already/);
  expect(waits.status?.startTime).toBeUndefined();
  await client.delete(kinds.secrets, stage.databases.key("orders-backup"));
  await stage.jobOf("night", "backup");
});

test("of two runs that begin in the same moment, the second leaves the first its certificate, and takes an old one that was left", async () => {
  await using stage = await open("same-moment");
  await stage.backedUp("first");
  await stage.released("orders-backup");
  const first = await client.get(backups, stage.databases.key("first"));
  const { apiVersion, kind, metadata } = first;
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "", controller: true };
  const made = await stage.occupy("orders-backup", { labels: { ...managedBy, [labelNames.database]: "orders" }, ownerReferences: [owner] });
  await stage.backUp("second");
  expect(stage.message(await stage.becomes(backups, "second", "BackupWaits"))).toBe(
    "it waits for the end of another run, which has just begun",
  );
  expect((await client.get(kinds.secrets, stage.databases.key("orders-backup"))).metadata.uid).toBe(made.metadata.uid);
  stage.databases.advanceClock(301);
  await stage.jobOf("second", "backup");
});

test("while a full quota refuses the Job, the Backup has the API server's words and leaves nothing", async () => {
  await using stage = await open("quota-full");
  await stage.limit({ "count/jobs.batch": "0" });
  await stage.backUp("night");
  const waits = await stage.becomes(backups, "night", "RunRefused");
  expect(stage.message(waits)).toMatch(/quota: full/);
  await stage.released("orders-backup");
});

test("a Backup that can't be removed for the sake of a name says so, and holds up no Restore", async () => {
  await using stage = await open("not-removed");
  await stage.backedUp("old", { deletionPolicy: "Delete" }, "20260504-120000F");
  await stage.backedUp("new", {}, "20260505-120000F");
  await stage.occupy("orders-backup");
  await client.delete(backups, stage.databases.key("old"));
  await eventually("it says why, and has no claim", 60_000, async () => {
    const going = await client.get(backups, stage.databases.key("old"));
    return /Secret not-removed\/orders-backup/.test(stage.message(going)) && going.status?.conditions?.length === 1;
  });
  await stage.restore("back", { source: { backupName: "new" }, destination: { type: "New", sampleDBName: "copy" } });
  await stage.jobOf("back", "restore", "copy-restore");
  await client.delete(kinds.secrets, stage.databases.key("orders-backup"));
  await stage.jobOf("old", "expire");
});

test("a Backup that is deleted while it runs ends its Job, and what it has copied is removed", async () => {
  await using stage = await open("cancelled");
  await stage.backUp("night", { deletionPolicy: "Delete" });
  await stage.jobOf("night", "backup");
  const { uid } = (await stage.becomes(backups, "night", "Preparing")).metadata;
  await client.delete(backups, stage.databases.key("night"));
  await stage.jobOf("night", "expire");
  const config = await client.get(kinds.configMaps, stage.databases.key("orders-backup"));
  const run = JSON.parse(config.data?.["run.json"] ?? "");
  expect(run).toMatchObject({ task: "expire", uid });
  expect(run.label).toBeUndefined(); // it may be whole, and nobody has told its label
  await stage.end("orders", "backup", { outcome: "succeeded", removed: 1 });
  await stage.databases.gone(backups, "night");
  await stage.released("orders-backup");
});
