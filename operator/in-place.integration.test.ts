// Restores in place with all controllers at work, on a real API server. No node runs their Pods; the test writes what a kubelet would.
import { beforeAll, describe, expect, test } from "vitest";
import { restoreInPlaceAnnotation } from "../api/annotations.ts";
import { succeeded } from "../controllers/backup/backup.fixture.ts";
import * as kinds from "../controllers/kinds/kubernetes.ts";
import { backups, type Restore, restores, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import type { Limits } from "../controllers/permits/turns.ts";
import { bind } from "../controllers/sampledb/foundation/volumes.fixture.ts";
import { installKinds } from "../controllers/sampledb/stage.fixture.ts";
import { failure } from "../e2e/faults/answers.ts";
import { startSuite } from "../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../tools/eventually.ts";
import { BackupStage } from "./backup-stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

const filled = {
  outcome: "succeeded",
  label: succeeded.label,
  reachedLSN: "0/5000000",
  timeline: 2,
  systemIdentifier: succeeded.systemIdentifier,
};
const inPlace = { source: { sampleDBName: "orders" }, destination: { type: "InPlace", sampleDBName: "orders" } };

async function open(namespace: string, limits?: Limits): Promise<BackupStage> {
  const stage = await BackupStage.open(namespace, client, proxy, limits && { limits });
  await bind(client, stage.databases.key("data-orders-0"));
  await stage.backedUp("night");
  return stage;
}

const database = ({ databases }: BackupStage) => client.get(sampledbs, databases.key("orders"));
const blockers = async (stage: BackupStage) => (await database(stage)).status?.blockers ?? [];
const claimed = async (stage: BackupStage) => (await database(stage)).metadata.annotations?.[restoreInPlaceAnnotation];

async function reaches(stage: BackupStage, phase: string): Promise<void> {
  await eventually(`the restore is at ${phase}`, 60_000, async () => (await database(stage)).status?.restore?.phase === phase);
}

/** Up to the moment at which everything from before is in the archive, and nothing runs. */
async function secures(stage: BackupStage, name: string): Promise<string> {
  const { uid = "" } = (await client.get(restores, stage.databases.key(name))).metadata;
  const safety = `orders-before-${uid.slice(0, 8)}`;
  await stage.end("orders", "cutoff", "1 sessions of clients were ended");
  await stage.jobOf(safety, "backup");
  await stage.end("orders", "backup", succeeded);
  await stage.becomes(backups, safety, "BackupSucceeded");
  await stage.databases.podsAre();
  const unlocked = { metadata: { annotations: { leader: null } } };
  await client.mergePatch(kinds.configMaps, stage.databases.key("orders-leader"), unlocked);
  await stage.end("orders", "check", "the repository has everything");
  return safety;
}

/** As the stage writes it in Patroni's place. */
const system = "7300000000000000001";
const letGo = async ({ databases }: BackupStage) =>
  (await client.get(kinds.configMaps, databases.key("orders-patroni"))).data?.["archive-let-go"];

/** A person gives the archive up, at a name that restored data comes to again. */
async function dropArchive(stage: BackupStage): Promise<void> {
  const waits = { waiting: 3, newest: "000000080000000000000042", oldestSeconds: 3600, failure: null, sizeBytes: 10, availableBytes: 1 };
  stage.databases.archive = { primary: async () => waits, repository: undefined };
  const order = { metadata: { annotations: { "sampledb.io/drop-archive": await stanza(stage) } } };
  await client.mergePatch(sampledbs, stage.databases.key("orders"), order);
  await eventually("the instances are told what is let go", 60_000, () => letGo(stage));
}

const stanza = async ({ databases }: BackupStage) =>
  (await client.get(kinds.configMaps, databases.key("orders-repository"))).data?.["pgbackrest.conf"]?.match(/^\[(.*-\d+)\]$/m)?.[1];

test("everything is secured, then one volume is overwritten, and the database goes on from it with an archive of its own", async () => {
  await using stage = await open("in-place");
  const { databases } = stage;
  await dropArchive(stage);
  const former = await stanza(stage);
  await stage.restore("back", inPlace);
  await reaches(stage, "CuttingOff");
  expect(stage.message(await stage.becomes(restores, "back", "Securing"))).toMatch(/SampleDB orders/);
  expect(await stage.job("orders-restore")).toBeUndefined();
  const safety = await secures(stage, "back");
  await stage.jobOf("back", "restore", "orders-restore");
  const pod = (await stage.job("orders-restore"))?.spec?.template.spec;
  expect(pod?.volumes?.find(({ name }) => name === "data")?.persistentVolumeClaim).toEqual({ claimName: "data-orders-0" });
  const run = JSON.parse((await client.get(kinds.configMaps, databases.key("orders-restore"))).data?.["run.json"] ?? "");
  expect(run).toMatchObject({ inPlace: true, target: { type: "Latest" } });
  expect(await databases.podNames()).toEqual([]); // no instance
  await client.delete(kinds.jobs, databases.key("orders-restore")); // by a person: it is made anew
  await stage.jobOf("back", "restore", "orders-restore");
  const removed = { metadata: { annotations: { [restoreInPlaceAnnotation]: null } } };
  await client.mergePatch(sampledbs, databases.key("orders"), removed); // by a person: nothing may start now
  await eventually("it is claimed again", 30_000, () => claimed(stage));
  await stage.end("orders", "restore", { ...filled, systemIdentifier: system });
  await eventually("a new archive begins", 60_000, async () => ![undefined, former].includes(await stanza(stage)));
  await eventually("Patroni knows the identity", 60_000, async () => {
    const { annotations } = (await client.get(kinds.configMaps, databases.key("orders-config"))).metadata;
    return annotations?.["initialize"] === system && annotations["history"] === undefined;
  });
  await databases.podsAre("orders-0");
  expect(await letGo(stage)).toBeUndefined(); // before the instance writes a segment
  await databases.serves("orders-0");
  const { status } = await stage.becomes<Restore>(restores, "back", "RestoreSucceeded");
  expect(status).toMatchObject({ safetyBackupName: safety, recoveredToLSN: filled.reachedLSN });
  expect(await claimed(stage)).toBeUndefined();
  expect((await client.get(backups, databases.key(status?.firstBackupName ?? ""))).spec).toMatchObject({ type: "Full" });
  await stage.released("orders-restore");
  await databases.becomes("AllInstancesReady");
});

describe("a failure", () => {
  test("before the first byte lets the database go on as it was", async () => {
    await using stage = await open("in-place-untouched");
    const former = await stanza(stage);
    await stage.restore("back", inPlace);
    await secures(stage, "back");
    await stage.jobOf("back", "restore", "orders-restore");
    const words = { outcome: "failed", reason: "TargetAcrossGap", message: "a gap", untouched: true };
    await stage.end("orders", "restore", words, 1, "recover");
    const told = await stage.becomes<Restore>(restores, "back", "TargetAcrossGap");
    expect(told.status?.dataUntouched).toBe(true);
    expect(stage.message(told)).toBe("a gap. Nothing was overwritten: the database starts again");
    await eventually("it is lifted", 60_000, async () => (await claimed(stage)) === undefined);
    await stage.databases.serves("orders-0");
    await stage.databases.becomes("AllInstancesReady");
    expect(await stanza(stage)).toBe(former);
  });

  test("because of a person's word in the last moment changes nothing either", async () => {
    await using stage = await open("in-place-protected");
    await stage.restore("back", inPlace);
    await reaches(stage, "CuttingOff");
    await stage.databases.change({ deletionProtection: true });
    await secures(stage, "back");
    const told = await stage.becomes<Restore>(restores, "back", "DestinationUnfit");
    expect(told.status?.dataUntouched).toBe(true);
    expect(await stage.job("orders-restore")).toBeUndefined();
    await stage.databases.serves("orders-0");
    await stage.databases.becomes("AllInstancesReady");
  });

  test("after that starts nothing on the only volume, and another Restore overwrites it again", async () => {
    await using stage = await open("in-place-overwritten");
    await stage.restore("first", inPlace);
    const safety = await secures(stage, "first");
    await stage.jobOf("first", "restore", "orders-restore");
    await stage.end("orders", "restore", { outcome: "failed", reason: "ArchiveCutShort", message: "cut" }, 1, "recover");
    expect(stage.message(await stage.becomes(restores, "first", "ArchiveCutShort"))).toContain(`from Backup ${safety}`);
    await reaches(stage, "Overwritten");
    const told = await eventually("it is told", 30_000, async () =>
      (await blockers(stage)).find(({ reason }) => reason === "DataOverwritten"),
    );
    expect(told.remedy).toContain(safety);
    await stage.released("orders-restore");
    await stage.databases.podsAre();

    await stage.restore("second", { ...inPlace, source: { backupName: safety } });
    await stage.jobOf("second", "restore", "orders-restore");
    await stage.end("orders", "restore", { outcome: "failed", reason: "StoreDenied", message: "403", untouched: true }, 1, "recover");
    await stage.becomes(restores, "second", "StoreDenied");
    await reaches(stage, "Overwritten"); // that one has changed nothing, but the first one had
    await stage.released("orders-restore");

    await stage.restore("third", { ...inPlace, source: { backupName: safety } });
    await stage.jobOf("third", "restore", "orders-restore");
    await stage.end("orders", "restore", filled);
    await stage.databases.serves("orders-0");
    await stage.becomes(restores, "third", "RestoreSucceeded");
  });
});

test("a Restore that is deleted while everything is secured takes it back; later it goes on to its end", async () => {
  await using stage = await open("in-place-deleted");
  await stage.restore("early", inPlace);
  await reaches(stage, "CuttingOff");
  await client.delete(restores, stage.databases.key("early"));
  await stage.databases.gone(restores, "early");
  expect(await claimed(stage)).toBeUndefined();
  await stage.databases.becomes("AllInstancesReady");

  await stage.restore("late", inPlace);
  await secures(stage, "late");
  await stage.jobOf("late", "restore", "orders-restore");
  await client.delete(restores, stage.databases.key("late"));
  await stage.end("orders", "restore", filled);
  await stage.databases.serves("orders-0");
  await stage.databases.gone(restores, "late");
  expect(await claimed(stage)).toBeUndefined();
  await stage.databases.becomes("AllInstancesReady");
});

test("a Restore that is deleted while it waits for its turn, with the instances stopped, lets the database start as it was", async () => {
  const limits = { backups: 9, restores: 9, perStore: 9 };
  await using stage = await open("in-place-turn", limits);
  const { databases } = stage;
  await stage.restore("back", inPlace);
  await reaches(stage, "CuttingOff");
  limits.restores = 0;
  await secures(stage, "back");
  await stage.becomes(restores, "back", "WaitsForTurn");
  await reaches(stage, "Restoring");
  databases.advanceClock(121);
  const told = await eventually("it is told", 30_000, async () => (await blockers(stage)).find(({ reason }) => reason === "RestoreWaits"));
  expect([told.message, told.remedy]).toEqual([
    expect.stringMatching(/^Restoring: the Job/),
    expect.stringContaining("describe restore back"),
  ]);
  await client.delete(restores, databases.key("back"));
  await databases.gone(restores, "back");
  expect(await claimed(stage)).toBeUndefined();
  await databases.serves("orders-0");
  await databases.becomes("AllInstancesReady");
});

test("the next Restore into the SampleDB begins when the one before has ended, and not already when that has lifted it", async () => {
  await using stage = await open("in-place-next");
  const { namespace } = stage.databases;
  await stage.restore("first", inPlace);
  await secures(stage, "first");
  await stage.jobOf("first", "restore", "orders-restore");
  await stage.end("orders", "restore", filled);
  const fault = proxy.answer({ verb: "create", resource: "backups", namespace }, failure(500)); // its last write
  await stage.databases.serves("orders-0");
  await eventually("it is lifted", 60_000, async () => (await claimed(stage)) === undefined);
  await stage.restore("second", inPlace);
  expect(stage.message(await stage.becomes(restores, "second", "DestinationTaken"))).toMatch(/Restore first .* has not ended/);
  expect(await claimed(stage)).toBeUndefined();
  fault.remove();
  await stage.becomes(restores, "first", "RestoreSucceeded");
  await stage.becomes(restores, "second", "Securing");
});

test("while a change is refused, applications are let in again as well when a Restore is taken back", async () => {
  await using stage = await open("in-place-refusal");
  const { databases } = stage;
  await databases.change({ image: "example.invalid/wrong:17" });
  await stage.end("orders", "trial", "it does not start", 3);
  await databases.becomes("ChangeRefused");
  const settings = async () => (await client.get(kinds.configMaps, databases.key("orders-config"))).metadata.annotations?.["config"];
  const was = await settings();
  await stage.restore("back", inPlace);
  await eventually("nobody is let in", 30_000, async () => (await settings())?.includes(JSON.stringify("host all all all reject")));
  await client.delete(restores, databases.key("back"));
  await databases.gone(restores, "back");
  await eventually("applications are let in as before", 30_000, async () => (await settings()) === was);
  await databases.becomes("ChangeRefused");
});

test("what can't be replaced is refused before anything changes, with the way out", async () => {
  await using stage = await open("in-place-refused");
  const change = (spec: object) => stage.databases.change(spec);
  const refused = async (name: string, spec: object, reason: string, message: RegExp) => {
    await stage.restore(name, spec);
    const told = await stage.becomes<Restore>(restores, name, reason);
    expect(stage.message(told)).toMatch(message);
    expect(told.status?.dataUntouched).toBe(true);
  };
  const unfit = "DestinationUnfit";
  await change({ deletionProtection: true });
  await refused("protected", inPlace, unfit, /set spec.deletionProtection to false first/);
  await change({ deletionProtection: false, paused: true });
  await refused("paused", inPlace, unfit, /is paused/);
  await change({ paused: false });
  const missing = { source: { sampleDBName: "other" }, destination: { type: "InPlace", sampleDBName: "other" } };
  await refused("missing", missing, unfit, /SampleDB other is not there/);
  const bare = { volumeClaimName: "orders-repository", stanza: "uid-17-1", sampleDBSpec: "FromRepository" };
  await refused("bare", { ...inPlace, source: { repository: bare } }, "InvalidSpec", /source.repository/);
  const never = { ...inPlace, target: { type: "Time", time: "2126-01-01T00:00:00Z" } };
  await refused("never", never, "TargetOutsideWindow", /is in the future/);
  expect(await claimed(stage)).toBeUndefined();
  await stage.restore("first", inPlace);
  await eventually("it is claimed", 30_000, () => claimed(stage));
  await refused("second", inPlace, unfit, /Restore first replaces the data/);
  await stage.databases.becomes("Restoring");
});
