// `spec.backup` set on a database that serves, with the operator killed after each single write of it.
import { beforeAll, expect, test } from "vitest";
import type { ApiRequest } from "../../../e2e/faults/request.ts";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { OperatorProcess } from "../../../operator/operator-process.fixture.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../../../tools/eventually.ts";
import { hasEnded } from "../../jobs/outcome.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { sampledbs } from "../../kinds/sampledb-io.ts";
import { DatabaseStage, installKinds, operatorNamespace } from "../stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

const start = ({ namespace }: DatabaseStage) =>
  new OperatorProcess(["--health-probe-bind-address=0", `--watch-namespaces=${namespace}`], {
    ...{ KUBECONFIG: proxy.kubeconfig, ENABLE_WEBHOOKS: "false", POD_NAMESPACE: operatorNamespace },
  });

/** Events say what was done, and nothing depends on them. */
const isWrite = ({ method, resource }: ApiRequest) => method !== "GET" && resource !== "events";

const writes = () => proxy.requests.filter(isWrite);

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

/** An operator that is killed when its first write is answered and it has begun its second. False where it has nothing left to write. */
async function writesOnce(stage: DatabaseStage): Promise<boolean> {
  const { length } = writes();
  let begun = 0;
  const hold = proxy.hold((request) => isWrite(request) && ++begun > 1);
  const operator = start(stage);
  const outcome = await eventually("the operator writes twice, or has nothing left to write", 60_000, async () => {
    if (hold.hits > 0 && writes()[length]?.status !== undefined) return "killed";
    await endTrial(stage);
    return (await isEnabled(stage)) && "done";
  });
  operator.tell("SIGKILL");
  await operator.ended;
  hold.remove(); // what is held has gone with its client
  return outcome === "killed";
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
  let kills = 0;
  while (await writesOnce(stage)) kills++;

  const created = writes().filter(({ status }) => status === 201);
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
  const deleted = writes().filter(({ method, resource, status }) => method === "DELETE" && resource === "pods" && status === 200);
  expect(deleted.map(({ name }) => name)).toEqual(["orders-1"]);
});
