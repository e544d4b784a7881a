// A retention run with the operator killed after each single write of it.
import { beforeAll, expect, test } from "vitest";
import { hasEnded } from "../controllers/jobs/outcome.ts";
import * as kinds from "../controllers/kinds/kubernetes.ts";
import { backups } from "../controllers/kinds/sampledb-io.ts";
import { installKinds } from "../controllers/sampledb/stage.fixture.ts";
import type { ApiRequest } from "../e2e/faults/request.ts";
import { startSuite } from "../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../runtime/kube/test-connection.fixture.ts";
import { BackupStage } from "./backup-stage.fixture.ts";
import { KilledOperator } from "./killed-operator.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

/** Only what concerns Backups and their Job: the SampleDB tells of its own state at any time. */
const isWrite = ({ method, resource, name }: ApiRequest) =>
  method !== "GET" && (resource === "backups" || ((resource === "jobs" || resource === "configmaps") && name === "orders-backup"));

/** Ends the Job that removes from the repository, in place of the kubelet, where its Pod runs. */
async function endExpiry(stage: BackupStage): Promise<void> {
  const labelSelector = "batch.kubernetes.io/job-name=orders-backup";
  const { items } = await client.list(kinds.pods, { namespace: stage.databases.namespace, labelSelector });
  if (items.some((pod) => !hasEnded(pod))) await stage.end("orders", "backup", { outcome: "succeeded", removed: 2 });
}

const isDone = async (stage: BackupStage) =>
  (await stage.databases.names(backups)).join() === "newest" && (await stage.job("orders-backup")) === undefined;

test("an operator that is killed after each of its writes removes what is one too many all the same, once, and nothing else", {
  timeout: 400_000,
}, async () => {
  const backup = { retention: { fullBackupCount: 2 } };
  await using stage = await BackupStage.open("killed-in-retention", client, proxy, { backup });
  const full = "20260501-120000F";
  const labels = { first: full, second: `${full}_20260502-120000I`, newest: "20260503-120000F" };
  for (const [name, label] of Object.entries(labels)) await stage.backedUp(name, { deletionPolicy: "Delete" }, label);
  await stage.databases.stop();
  // As if it had been so from the beginning: what a change removes would wait for an hour.
  await stage.databases.change({ backup: { retention: { fullBackupCount: 1 } } });
  for (const name of Object.keys(labels)) {
    const status = { sampleDBSpec: { backup: { retention: { fullBackupCount: 1 } } } };
    await client.mergePatch(backups, stage.databases.key(name), { status }, { subresource: "status" });
  }

  proxy.resetCounts();
  const { namespace } = stage.databases;
  const operator = new KilledOperator(proxy, { namespace, isWrite, play: () => endExpiry(stage), isDone: () => isDone(stage) });
  let kills = 0;
  while (await operator.killedAfter()) kills++;

  const done = operator.writes.filter(({ status }) => status !== undefined && status < 300);
  const made = done.filter(({ resource, status }) => resource === "jobs" && status === 201);
  expect(made.length).toBe(1);
  const deleted = done.filter(({ method, resource }) => method === "DELETE" && resource === "backups").map(({ name }) => name);
  expect([...new Set(deleted)].sort()).toEqual(["first", "second"]);
  expect(kills).toBeGreaterThanOrEqual(8);
  expect((await client.get(backups, stage.databases.key("newest"))).status).toMatchObject({ label: labels.newest });
});
