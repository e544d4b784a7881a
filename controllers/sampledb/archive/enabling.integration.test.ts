// `spec.backup` set on a database that serves, with the operator killed after each single write of it.
import { beforeAll, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { KilledOperator } from "../../../operator/killed-operator.fixture.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { hasEnded } from "../../jobs/outcome.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { sampledbs } from "../../kinds/sampledb-io.ts";
import { DatabaseStage, installKinds } from "../stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

async function archiveMode(stage: DatabaseStage): Promise<string | undefined> {
  const { metadata } = await client.get(kinds.configMaps, stage.key("orders-config"));
  return JSON.parse(metadata.annotations?.["config"] ?? "{}").postgresql?.parameters?.archive_mode;
}

/** Ends the Job that tries the settings, in place of the kubelet, where there is one. */
async function endTrial(stage: DatabaseStage): Promise<void> {
  const labelSelector = "batch.kubernetes.io/job-name=orders-trial";
  const { items } = await client.list(kinds.pods, { namespace: stage.namespace, labelSelector });
  if (items.some((pod) => !hasEnded(pod))) await stage.endJob("orders", "trial", 0, "PostgreSQL 17 starts with these settings");
}

/** The replica's new Pod has the container that backups read from. No kubelet makes it ready, so the primary stays as it is. */
async function isEnabled(stage: DatabaseStage): Promise<boolean> {
  const { metadata } = await client.get(sampledbs, stage.key("orders"));
  const isTold = (await stage.condition("Ready"))?.observedGeneration === metadata.generation;
  const replica = await client.find(kinds.pods, stage.key("orders-1"));
  const isAnew = replica?.spec?.containers.some(({ name }) => name === "backup") ?? false;
  const isTried = (await client.find(kinds.jobs, stage.key("orders-trial"))) === undefined;
  return isTold && isAnew && isTried && (await archiveMode(stage)) === "on";
}

test("an operator that is killed after each of its writes enables backup all the same: one archive, and nothing is made twice", {
  timeout: 560_000,
}, async () => {
  await using stage = await DatabaseStage.open("killed-at-each-write", client, proxy);
  const before = await stage.run();
  const { metadata } = await stage.create({ replicas: 2 });
  await stage.settle("orders-0", "orders-1");
  await before.stop();
  const primary = async () => (await client.get(kinds.pods, stage.key("orders-0"))).metadata.uid;
  const made = await primary();

  proxy.resetCounts();
  await stage.change({ backup: { repository: { volume: { size: "2Gi" } } } });
  const { namespace } = stage;
  const operator = new KilledOperator(proxy, { namespace, play: () => endTrial(stage), isDone: () => isEnabled(stage) });
  let kills = 0;
  while (await operator.killedAfter()) kills++;

  const created = operator.writes.filter(({ status }) => status === 201);
  const what = created.map(({ resource, name }) => [resource, name].filter(Boolean).join("/")).sort();
  expect(what).toEqual([
    "configmaps/orders-repository",
    "configmaps/orders-trial",
    "deployments/orders-repository",
    "jobs/orders-trial",
    "persistentvolumeclaims",
    "secrets",
    "services/orders-repository",
  ]);
  expect(kills).toBeGreaterThanOrEqual(what.length);
  const config = await client.get(kinds.configMaps, stage.key("orders-repository"));
  expect(JSON.parse(config.data?.["clients.json"] ?? "{}").stanza).toBe(`${metadata.uid}-17-1`); // no kill has begun another archive
  expect((await client.get(kinds.deployments, stage.key("orders-repository"))).spec?.replicas).toBe(1);
  expect(await primary()).toBe(made);
  const deleted = operator.writes.filter(({ method, resource, status }) => method === "DELETE" && resource === "pods" && status === 200);
  expect(deleted.map(({ name }) => name)).toEqual(["orders-1"]);
});
