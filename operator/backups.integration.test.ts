// Backups on a real API server: Jobs are made, waited for, lost and released. No node runs their Pods; the test writes what a kubelet would.
import { beforeAll, expect, test } from "vitest";
import { apiVersion } from "../api/version.ts";
import { succeeded } from "../controllers/backup/backup.fixture.ts";
import { backupController } from "../controllers/backup/controller.ts";
import type { RunProgress } from "../controllers/backup/progress.ts";
import * as kinds from "../controllers/kinds/kubernetes.ts";
import { type Backup, backups, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import { BackgroundQuestions } from "../controllers/repository/background-questions.ts";
import { DatabaseStage, images, installKinds } from "../controllers/sampledb/stage.fixture.ts";
import { startSuite } from "../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../tools/eventually.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

class BackupStage implements AsyncDisposable {
  readonly databases: DatabaseStage;

  private constructor(databases: DatabaseStage) {
    this.databases = databases;
  }

  /** A database that archives and serves, with the controllers of SampleDBs and Backups at work. */
  static async open(namespace: string): Promise<BackupStage> {
    const stage = new BackupStage(await DatabaseStage.open(namespace, client, proxy));
    await stage.run();
    await stage.databases.create({ backup: {} });
    await stage.databases.settle("orders-0");
    await eventually("its repository is made", 30_000, () => client.find(kinds.configMaps, stage.databases.key("orders-repository")));
    return stage;
  }

  run() {
    return this.databases.run({
      images,
      beside: ({ cache, events, authority, patience, now }) => [
        backupController(
          {
            ...{ cache, events, authority, patience, now, images },
            progress: new BackgroundQuestions<RunProgress>(now),
            progressQuestion: () => undefined,
          },
          {},
        ),
      ],
    });
  }

  async create(name: string, spec: Partial<Backup["spec"]> = {}): Promise<void> {
    const full = { sampleDBName: "orders", type: "Full", deletionPolicy: "Retain", ...spec } as const;
    await client.create(backups, { apiVersion, kind: "Backup", metadata: { name, namespace: this.databases.namespace }, spec: full });
  }

  get(name: string): Promise<Backup> {
    return client.get(backups, this.databases.key(name));
  }

  async becomes(name: string, reason: string): Promise<Backup> {
    let told: unknown;
    return await eventually(`Backup ${name} says ${reason}`, 60_000, async () => {
      const backup = await this.get(name);
      [told] = backup.status?.conditions ?? [];
      return backup.status?.conditions?.[0]?.reason === reason && backup;
    }).catch((error: Error) => {
      throw new Error(`${error.message}; it says ${JSON.stringify(told)}`, { cause: error });
    });
  }

  job() {
    return client.find(kinds.jobs, this.databases.key("orders-backup"));
  }

  async jobOf(name: string, task: string): Promise<void> {
    await eventually(`Job orders-backup does ${task} for ${name}`, 60_000, async () => {
      const { annotations, ownerReferences, deletionTimestamp } = (await this.job())?.metadata ?? {};
      return !deletionTimestamp && annotations?.["sampledb.io/task"] === task && ownerReferences?.[0]?.name === name;
    });
  }

  /** The program's last words, as the kubelet would write them. */
  end(words: object | string, exitCode = 0): Promise<void> {
    return this.databases.endJob("orders", "backup", exitCode, typeof words === "string" ? words : JSON.stringify(words));
  }

  async released(): Promise<void> {
    for (const [what, resource] of [
      ["Job", kinds.jobs],
      ["ConfigMap", kinds.configMaps],
      ["Secret", kinds.secrets],
    ] as const) {
      await eventually(
        `${what} orders-backup is gone`,
        60_000,
        async () => !(await client.find(resource, this.databases.key("orders-backup"))),
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { metadata } of (await client.list(backups, { namespace: this.databases.namespace })).items)
      await client.mergePatch(backups, this.databases.key(metadata.name), { metadata: { finalizers: [] } }).catch(() => undefined);
    await this.databases[Symbol.asyncDispose]();
  }
}

test("a Backup becomes a Job, tells what it made, and leaves nothing of it; the SampleDB tells of it too", async () => {
  await using stage = await BackupStage.open("backed-up");
  await stage.create("first");
  await stage.jobOf("first", "backup");
  const { uid } = (await client.get(sampledbs, stage.databases.key("orders"))).metadata;
  const config = await client.get(kinds.configMaps, stage.databases.key("orders-backup"));
  expect(config.data?.["pgbackrest.conf"]).toContain(`[${uid}-17-1]\n`);
  expect(config.data?.["pgbackrest.conf"]).toContain(`pg1-host=orders-0.orders-pods.${stage.databases.namespace}.svc`);
  expect(JSON.parse(config.data?.["run.json"] ?? "")).toMatchObject({
    task: "backup",
    type: "full",
    uid: (await stage.get("first")).metadata.uid,
  });
  const secret = await client.get(kinds.secrets, stage.databases.key("orders-backup"));
  expect(Object.keys(secret.data ?? {}).sort()).toEqual(["ca.crt", "tls.crt", "tls.key"]);
  const [container] = (await stage.job())?.spec?.template.spec?.containers ?? [];
  expect(container?.image).toBe(images[17]);
  expect(container?.env).toBeUndefined(); // keys are files, never the environment

  await stage.end(succeeded);
  const { status } = await stage.becomes("first", "BackupSucceeded");
  expect(status).toMatchObject({ label: succeeded.label, repository: { stanza: `${uid}-17-1` }, sampleDBSpec: { postgresVersion: 17 } });
  await stage.released();
  await eventually("the SampleDB tells when", 30_000, async () => {
    const told = (await client.get(sampledbs, stage.databases.key("orders"))).status;
    return told?.firstRecoverableTime === succeeded.stopTime && told.lastSuccessfulBackupTime === status?.completionTime;
  });
});

test("the second waits for the first, and begins when that has failed", async () => {
  await using stage = await BackupStage.open("one-at-a-time");
  await stage.create("a");
  await stage.jobOf("a", "backup");
  await stage.create("b", { type: "Incremental" });
  expect((await stage.becomes("b", "BackupWaits")).status?.conditions?.[0]?.message).toBe("it waits for Backup a");
  await stage.end({ outcome: "failed", reason: "StoreDenied", message: "403" }, 1);
  expect((await stage.becomes("a", "StoreDenied")).status?.conditions?.[0]).toMatchObject({ status: "False", message: "403" });
  await stage.jobOf("b", "backup");
});

test("of a Pod that ended without a word the repository is asked, and what is whole counts", async () => {
  await using stage = await BackupStage.open("adopted");
  await stage.create("whole");
  await stage.jobOf("whole", "backup");
  await stage.becomes("whole", "Preparing");
  await stage.end("", 137);
  await stage.jobOf("whole", "adopt");
  await stage.end(succeeded);
  await stage.becomes("whole", "BackupSucceeded");

  await stage.create("broken");
  await stage.jobOf("broken", "backup");
  await stage.becomes("broken", "Preparing");
  await client.delete(kinds.jobs, stage.databases.key("orders-backup")); // by a person
  await stage.jobOf("broken", "adopt");
  await stage.end({ outcome: "failed", reason: "BackupLost", message: "the repository has no backup of this run" }, 1);
  await stage.becomes("broken", "BackupLost");
  await stage.released();
});

test("an operator that is stopped and started again goes on, and makes no second Job", async () => {
  await using stage = await BackupStage.open("restarted");
  const first = await stage.run();
  await stage.create("night");
  await stage.jobOf("night", "backup");
  const uid = (await stage.job())?.metadata.uid;
  await first.stop();
  await stage.run();
  await stage.becomes("night", "Preparing");
  expect((await stage.job())?.metadata.uid).toBe(uid);
  await stage.end(succeeded);
  await stage.becomes("night", "BackupSucceeded");
});

test("deleting a Backup removes the artefact or leaves it, as its policy says; the last good one stays", async () => {
  await using stage = await BackupStage.open("deleted-backup");
  for (const [name, label] of [
    ["old", "20260504-120000F"],
    ["new", "20260505-120000F"],
  ] as const) {
    await stage.create(name, { deletionPolicy: "Delete" });
    await stage.jobOf(name, "backup");
    await stage.end({ ...succeeded, label });
    await stage.becomes(name, "BackupSucceeded");
    await stage.released();
  }
  await client.delete(backups, stage.databases.key("old"));
  await stage.jobOf("old", "expire");
  const config = await client.get(kinds.configMaps, stage.databases.key("orders-backup"));
  expect(JSON.parse(config.data?.["run.json"] ?? "")).toMatchObject({ task: "expire", label: "20260504-120000F" });
  await stage.end({ outcome: "succeeded", removed: 1 });
  await stage.databases.gone(backups, "old");

  await client.delete(backups, stage.databases.key("new"));
  expect((await stage.becomes("new", "ArtefactNeeded")).status?.conditions?.[0]?.message).toMatch(/last good backup/);
  expect(await stage.job()).toBeUndefined();
  await client.mergePatch(backups, stage.databases.key("new"), { spec: { deletionPolicy: "Retain" } });
  await stage.databases.gone(backups, "new");
  await stage.released();
});

test("a Backup that is deleted while it runs ends its Job", async () => {
  await using stage = await BackupStage.open("cancelled");
  await stage.create("night", { deletionPolicy: "Delete" });
  await stage.jobOf("night", "backup");
  await client.delete(backups, stage.databases.key("night"));
  await stage.databases.gone(backups, "night");
  await stage.released();
});
