// For tests: a database that archives, with the controllers of SampleDBs, Backups and Restores at work, on a real API server without nodes.
import { apiVersion } from "../api/version.ts";
import { succeeded } from "../controllers/backup/backup.fixture.ts";
import { backupController } from "../controllers/backup/controller.ts";
import * as kinds from "../controllers/kinds/kubernetes.ts";
import { type Backup, backups, type Restore, restores, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import { CachedPermits } from "../controllers/permits/cached-permits.ts";
import type { Limits } from "../controllers/permits/turns.ts";
import { BackgroundQuestions } from "../controllers/repository/background-questions.ts";
import type { RunProgress } from "../controllers/repository/run-progress.ts";
import { restoreController } from "../controllers/restore/controller.ts";
import { DatabaseStage, images } from "../controllers/sampledb/stage.fixture.ts";
import type { FaultProxy } from "../e2e/faults/fault-proxy.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import type { KubeObject } from "../runtime/kube/object.ts";
import { namespaced } from "../runtime/kube/resource.ts";
import { eventually } from "../tools/eventually.ts";

const quotas = namespaced<KubeObject & { readonly spec: object }>("v1", "ResourceQuota", "resourcequotas");
const plenty: Limits = { backups: 9, restores: 9, perStore: 9 };

type Told = Backup | Restore;

export class BackupStage implements AsyncDisposable {
  readonly databases: DatabaseStage;
  readonly client: KubeClient;
  readonly limits: Limits;

  private constructor(databases: DatabaseStage, limits: Limits) {
    this.databases = databases;
    this.limits = limits;
    this.client = databases.client;
  }

  static async open(
    namespace: string,
    client: KubeClient,
    proxy: FaultProxy,
    { limits = plenty, backup = {} }: { readonly limits?: Limits; readonly backup?: object } = {},
  ): Promise<BackupStage> {
    const stage = new BackupStage(await DatabaseStage.open(namespace, client, proxy), limits);
    await stage.run();
    await stage.databases.create({ backup });
    await stage.databases.settle("orders-0");
    await eventually("its repository is made", 30_000, () => client.find(kinds.configMaps, stage.databases.key("orders-repository")));
    return stage;
  }

  run() {
    return this.databases.run({
      images,
      beside: ({ cache, events, authority, passwords, patience, now }) => {
        const progress = new BackgroundQuestions<RunProgress>(now);
        const permits = new CachedPermits(cache, this.limits, now);
        const deps = { cache, events, authority, passwords, patience, permits, now, images, progress, progressQuestion: () => undefined };
        return [backupController(deps, {}), restoreController(deps, {})];
      },
    });
  }

  async backUp(name: string, spec: Partial<Backup["spec"]> = {}): Promise<void> {
    const full = { sampleDBName: "orders", type: "Full", deletionPolicy: "Retain", ...spec } as const;
    const metadata = { name, namespace: this.databases.namespace };
    await this.client.create(backups, { apiVersion, kind: "Backup", metadata, spec: full });
  }

  /** A Backup that has succeeded. */
  async backedUp(name: string, spec: Partial<Backup["spec"]> = {}, label: string = succeeded.label): Promise<void> {
    await this.backUp(name, spec);
    await this.jobOf(name, "backup");
    await this.end("orders", "backup", { ...succeeded, label });
    await this.becomes(backups, name, "BackupSucceeded");
    await this.released("orders-backup");
  }

  async restore(name: string, spec: object): Promise<void> {
    const metadata = { name, namespace: this.databases.namespace };
    const full = { target: { type: "Latest" }, ...spec } as Restore["spec"];
    await this.client.create(restores, { apiVersion, kind: "Restore", metadata, spec: full });
  }

  async becomes<T extends Told>(
    resource: { readonly kind: string } & Parameters<KubeClient["get"]>[0],
    name: string,
    reason: string,
  ): Promise<T> {
    let told: unknown;
    return await eventually(`${resource.kind} ${name} says ${reason}`, 60_000, async () => {
      const object = (await this.client.get(resource, this.databases.key(name))) as T;
      [told] = object.status?.conditions ?? [];
      return object.status?.conditions?.[0]?.reason === reason && object;
    }).catch((error: Error) => {
      throw new Error(`${error.message}; it says ${JSON.stringify(told)}`, { cause: error });
    });
  }

  message({ status }: Told): string {
    return status?.conditions?.[0]?.message ?? "";
  }

  job(name: string) {
    return this.client.find(kinds.jobs, this.databases.key(name));
  }

  async jobOf(owner: string, task: string, name = "orders-backup"): Promise<void> {
    await eventually(`Job ${name} does ${task} for ${owner}`, 60_000, async () => {
      const { annotations, ownerReferences, deletionTimestamp } = (await this.job(name))?.metadata ?? {};
      return !deletionTimestamp && annotations?.["sampledb.io/task"] === task && ownerReferences?.[0]?.name === owner;
    });
  }

  /** The program's last words, as the kubelet would write them. */
  async end(database: string, component: string, words: object | string, exitCode = 0, init?: string): Promise<void> {
    await this.databases.endJob(database, component, exitCode, typeof words === "string" ? words : JSON.stringify(words), init);
  }

  /** A Secret under the name that a run's certificate has: the user's, or with `more` whose else. */
  async occupy(name: string, more: Partial<KubeObject["metadata"]> = {}): Promise<KubeObject> {
    return await this.client.create(kinds.secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { ...more, ...this.databases.key(name) },
    });
  }

  async limit(hard: Readonly<Record<string, string>>): Promise<void> {
    await this.client.create(quotas, { apiVersion: "v1", kind: "ResourceQuota", metadata: this.databases.key("full"), spec: { hard } });
  }

  async released(name: string): Promise<void> {
    for (const resource of [kinds.jobs, kinds.configMaps, kinds.secrets]) {
      await eventually(
        `${resource.kind} ${name} is gone`,
        60_000,
        async () => !(await this.client.find(resource, this.databases.key(name))),
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const resource of [backups, restores, sampledbs]) {
      for (const { metadata } of (await this.client.list<Told>(resource as never, { namespace: this.databases.namespace })).items)
        await this.client
          .mergePatch(resource as never, this.databases.key(metadata.name), { metadata: { finalizers: [] } })
          .catch(() => undefined);
    }
    await this.databases[Symbol.asyncDispose]();
  }
}
