// Retention and limits on a real API server, by a clock of the tests. No node runs the Jobs' Pods; the test writes what a kubelet would.
import { beforeAll, expect, test } from "vitest";
import { succeeded } from "../controllers/backup/backup.fixture.ts";
import * as kinds from "../controllers/kinds/kubernetes.ts";
import { type Backup, backups, restores, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import { installKinds } from "../controllers/sampledb/stage.fixture.ts";
import { startSuite } from "../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../tools/eventually.ts";
import { BackupStage } from "./backup-stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

const keeping = (fullBackupCount: number) => ({ backup: { retention: { fullBackupCount } } });
const labelOf = (day: number) => `202605${String(day).padStart(2, "0")}-120000F`;

/** A Backup that retention may remove. */
async function backedUp(stage: BackupStage, name: string, label: string): Promise<void> {
  await stage.backUp(name, { deletionPolicy: "Delete" });
  await stage.jobOf(name, "backup");
  await stage.end("orders", "backup", { ...succeeded, label });
  await stage.becomes(backups, name, "BackupSucceeded");
}

const runOf = async (stage: BackupStage) =>
  JSON.parse((await client.get(kinds.configMaps, stage.databases.key("orders-backup"))).data?.["run.json"] ?? "{}");

async function expired(stage: BackupStage, name: string, run: object): Promise<void> {
  await stage.jobOf(name, "expire");
  expect(await runOf(stage)).toMatchObject(run);
  await stage.end("orders", "backup", { outcome: "succeeded", removed: 1 });
  await stage.databases.gone(backups, name);
}

const expiring = ({ status }: Backup) => status?.conditions?.find(({ type }) => type === "Expiring");

async function marked(stage: BackupStage, name: string, reason: string | undefined, message = /./) {
  let last: unknown;
  return await eventually(`Backup ${name} is marked ${reason}`, 60_000, async () => {
    const told = expiring(await client.get(backups, stage.databases.key(name)));
    last = told;
    return told?.reason === reason && (reason === undefined || message.test(told?.message ?? "")) && (told ?? true);
  }).catch((error: Error) => {
    throw new Error(`${error.message}; it says ${JSON.stringify(last)}`, { cause: error });
  });
}

test("the backup that is one too many goes from the repository and then from the list, with all that build on it and with what failed", async () => {
  await using stage = await BackupStage.open("retained", client, proxy, keeping(1));
  await backedUp(stage, "first", labelOf(4));
  await backedUp(stage, "second", `${labelOf(4)}_20260504-180000I`);
  await stage.backUp("bad", { deletionPolicy: "Delete" });
  await stage.jobOf("bad", "backup");
  await stage.becomes(backups, "bad", "Preparing");
  await stage.end("orders", "backup", { outcome: "failed", reason: "PageChecksumsBad", message: "page 3" }, 1);
  await stage.becomes(backups, "bad", "PageChecksumsBad");
  await stage.backedUp("by-hand", {}, labelOf(5)); // Retain: it neither goes nor counts
  await expired(stage, "bad", { task: "expire", dependents: [] });
  expect(await stage.databases.names(backups)).toEqual(["by-hand", "first", "second"]);

  await backedUp(stage, "third", labelOf(6));
  await expired(stage, "first", { task: "expire", label: labelOf(4), dependents: [`${labelOf(4)}_20260504-180000I`] });
  await stage.databases.gone(backups, "second");
  await stage.released("orders-backup");
  expect(await stage.databases.names(backups)).toEqual(["by-hand", "third"]);
});

test("what a changed policy removes is told an hour before, goes after the next success, and stays if the policy is changed back", async () => {
  await using stage = await BackupStage.open("policy-changed", client, proxy, keeping(3));
  for (const day of [1, 2, 3]) await backedUp(stage, `day-${day}`, labelOf(day));
  await stage.databases.change(keeping(1));
  await marked(stage, "day-1", "RetentionChanged", /keeps the last full backup.*in an hour at the earliest/);
  await marked(stage, "day-2", "RetentionChanged");
  await eventually("an Event names it", 30_000, async () => {
    const { items } = await client.list(kinds.events, { namespace: stage.databases.namespace });
    return items.some((event) => (event as { note?: string }).note?.includes("Backup day-1:"));
  });
  await stage.databases.change(keeping(2));
  await marked(stage, "day-2", undefined);
  await marked(stage, "day-1", "RetentionChanged");
  await stage.databases.change(keeping(1));
  await marked(stage, "day-2", "RetentionChanged");

  stage.databases.advanceClock(60);
  await backedUp(stage, "day-4", labelOf(4));
  // Nobody was told of day-3 by a change alone: it goes with the others, an hour after it was told.
  await marked(stage, "day-3", "RetentionChanged");
  expect(await stage.job("orders-backup").then((job) => job?.metadata.annotations?.["sampledb.io/task"])).not.toBe("expire");
  stage.databases.advanceClock(3700);
  await stage.run(); // a new operator has only what is stored
  await expired(stage, "day-1", { label: labelOf(1) });
  await expired(stage, "day-2", { label: labelOf(2) });
  expect(await stage.databases.names(backups)).toEqual(["day-3", "day-4"]); // no backup has succeeded since day-3 was told
  await backedUp(stage, "day-5", labelOf(5));
  await eventually("both go", 60_000, async () => {
    await stage.end("orders", "backup", { outcome: "succeeded", removed: 1 }).catch(() => undefined);
    return (await stage.databases.names(backups)).join() === "day-5";
  });
});

test("nothing goes while a Restore reads, and a Restore waits while something goes", async () => {
  await using stage = await BackupStage.open("reading", client, proxy, keeping(1));
  await backedUp(stage, "first", labelOf(4));
  const source = { sampleDBName: "orders" };
  const to = (sampleDBName: string) => ({ source, destination: { type: "New", sampleDBName } });
  await stage.restore("reader", to("copy"));
  await stage.jobOf("reader", "restore", "copy-restore");
  await backedUp(stage, "second", labelOf(5));
  await marked(stage, "first", "BeyondRetention", /when Restore reader is over/);
  expect(await stage.job("orders-backup")).toBeUndefined();
  await client.delete(restores, stage.databases.key("reader"));
  await stage.jobOf("first", "expire");
  await stage.restore("later", to("again"));
  const waits = await stage.becomes(restores, "later", "SourceNotReady");
  expect(stage.message(waits)).toMatch(/retention removes Backup first/);
  expect(await stage.job("again-restore")).toBeUndefined();
  await stage.end("orders", "backup", { outcome: "succeeded", removed: 1 });
  await stage.databases.gone(backups, "first");
  await stage.jobOf("later", "restore", "again-restore");
});

test("what can't go for the sake of a name says so, and a Restore begins meanwhile", async () => {
  await using stage = await BackupStage.open("name-taken", client, proxy, keeping(1));
  await backedUp(stage, "first", labelOf(4));
  const to = (sampleDBName: string) => ({ source: { sampleDBName: "orders" }, destination: { type: "New", sampleDBName } });
  await stage.restore("reader", to("copy"));
  await stage.jobOf("reader", "restore", "copy-restore");
  await backedUp(stage, "second", labelOf(5));
  await marked(stage, "first", "BeyondRetention", /when Restore reader is over/);
  await stage.occupy("orders-backup");
  await client.delete(restores, stage.databases.key("reader"));
  await marked(stage, "first", "BeyondRetention", /Secret name-taken\/orders-backup is there already/);
  await stage.restore("later", to("again"));
  await stage.jobOf("later", "restore", "again-restore");
});

test("a Backup that is edited or deleted in the middle of its expiry, and one that the repository refuses to remove, end well", async () => {
  await using stage = await BackupStage.open("in-the-middle", client, proxy, keeping(1));
  await backedUp(stage, "deleted", labelOf(1));
  await backedUp(stage, "kept", labelOf(2));
  await stage.jobOf("deleted", "expire");
  await client.delete(backups, stage.databases.key("deleted"));
  await stage.end("orders", "backup", { outcome: "succeeded", removed: 0 }); // somebody had removed the artefact
  await stage.databases.gone(backups, "deleted");

  await backedUp(stage, "newest", labelOf(3));
  await stage.jobOf("kept", "expire");
  await stage.end("orders", "backup", { outcome: "failed", reason: "BackupNeeded", message: "these build on it" }, 1);
  await marked(stage, "kept", "ExpiryFailed", /these build on it/);
  await stage.released("orders-backup");
  expect(await stage.databases.names(backups)).toEqual(["kept", "newest"]);
  await client.mergePatch(backups, stage.databases.key("kept"), { spec: { deletionPolicy: "Retain" } });
  await marked(stage, "kept", undefined);
});

test("as many run at once as the limits allow, and what waits says for whom", async () => {
  await using stage = await BackupStage.open("limited", client, proxy, { limits: { backups: 1, restores: 1, perStore: 1 } });
  await stage.backedUp("base");
  await stage.backUp("night");
  await stage.jobOf("night", "backup");
  await stage.restore("urgent", { source: { backupName: "base" }, destination: { type: "New", sampleDBName: "copy" } });
  const waits = await stage.becomes(restores, "urgent", "WaitsForTurn");
  expect(stage.message(waits)).toBe(
    "it waits for its turn: at most 1 backups and restores run at once on its store (now: Backup night), and none wait before it",
  );
  await stage.end("orders", "backup", { ...succeeded, label: labelOf(5) });
  await stage.backUp("morning");
  await stage.jobOf("urgent", "restore", "copy-restore");
  await stage.becomes(backups, "morning", "WaitsForTurn");
  await client.delete(restores, stage.databases.key("urgent"));
  await stage.jobOf("morning", "backup");
});

test("the repository outlives a SampleDB with the policy Delete while good Backups lie in it", async () => {
  await using stage = await BackupStage.open("outlived", client, proxy);
  await stage.backedUp("only");
  await stage.databases.change({ deletionPolicy: "Delete" });
  await client.delete(sampledbs, stage.databases.key("orders"));
  await stage.databases.gone(sampledbs, "orders");
  await stage.databases.gone(kinds.persistentVolumeClaims, "data-orders-0");
  const claim = await client.get(kinds.persistentVolumeClaims, stage.databases.key("orders-repository"));
  expect(claim.metadata.deletionTimestamp).toBeUndefined();
  expect(await client.find(kinds.configMaps, stage.databases.key("orders-repository"))).toBeDefined();
});
