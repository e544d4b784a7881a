// A deletion with `Snapshot`, with the operator killed after each single write of it.
import { beforeAll, expect, test } from "vitest";
import { succeeded } from "../controllers/backup/backup.fixture.ts";
import { hasEnded } from "../controllers/jobs/outcome.ts";
import * as kinds from "../controllers/kinds/kubernetes.ts";
import { backups, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import { DatabaseStage, installKinds } from "../controllers/sampledb/stage.fixture.ts";
import { startSuite } from "../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../tools/eventually.ts";
import { KilledOperator } from "./killed-operator.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

/** What the kubelet and the programs would do next: ends the Jobs of the deletion, and gives the lock back when no instance runs. */
async function play(stage: DatabaseStage): Promise<void> {
  for (const [component, words] of [
    ["cutoff", "1 sessions of clients were ended"],
    ["backup", JSON.stringify(succeeded)],
    ["check", "the repository has everything"],
  ] as const) {
    const labelSelector = `batch.kubernetes.io/job-name=orders-${component}`;
    const { items } = await client.list(kinds.pods, { namespace: stage.namespace, labelSelector });
    if (items.some((pod) => !hasEnded(pod) && !pod.metadata.deletionTimestamp)) await stage.endJob("orders", component, 0, words);
  }
}

/** While the data is not proven to be in the repository, it is on its volume. */
async function nothingIsLost(stage: DatabaseStage): Promise<void> {
  const database = await client.find(sampledbs, stage.key("orders"));
  const isClaimed = database === undefined || database.status?.deletion?.phase === "Releasing";
  const claim = await client.find(kinds.persistentVolumeClaims, stage.key("data-orders-0"));
  expect(isClaimed || (claim !== undefined && claim.metadata.deletionTimestamp === undefined)).toBe(true);
  const [final] = (await client.list(backups, { namespace: stage.namespace })).items;
  expect(!isClaimed || final?.status?.label === succeeded.label).toBe(true);
}

test("an operator that is killed after each of its writes ends it all the same: one last Backup, and no volume goes before", {
  timeout: 560_000,
}, async () => {
  await using stage = await DatabaseStage.open("snapshot-killed", client, proxy);
  const before = await stage.run();
  await stage.create({ backup: {} });
  await stage.settle("orders-0");
  await eventually("its repository is made", 30_000, () => client.find(kinds.deployments, stage.key("orders-repository")));
  await before.stop();

  proxy.resetCounts();
  await client.delete(sampledbs, stage.key("orders"));
  const isDone = async () => (await client.find(sampledbs, stage.key("orders"))) === undefined;
  const operator = new KilledOperator(proxy, { namespace: stage.namespace, play: () => play(stage), isDone });
  let kills = 0;
  for (; await operator.killedAfter(); kills++) await nothingIsLost(stage);
  await nothingIsLost(stage);

  expect(kills).toBeGreaterThanOrEqual(10);
  const made = (await client.list(backups, { namespace: stage.namespace })).items;
  expect(made).toHaveLength(1);
  const created = operator.writes.filter(({ status, resource }) => status === 201 && (resource === "jobs" || resource === "backups"));
  expect(created.map(({ resource }) => resource).sort()).toEqual(["backups", "jobs", "jobs", "jobs"]); // nothing was done twice
  expect(await stage.names(kinds.persistentVolumeClaims)).toEqual(["orders-repository"]);
  expect(await stage.names(kinds.secrets)).toEqual(expect.arrayContaining(["orders-app", "orders-superuser", "orders-tls"]));
  for (const { metadata } of made) await client.mergePatch(backups, stage.key(metadata.name), { metadata: { finalizers: [] } });
});
