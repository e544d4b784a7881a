// A newer operator takes over, and restarts no instance by that alone.
import { beforeAll, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually, eventuallySucceeds } from "../../../tools/eventually.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { DatabaseStage, installKinds } from "../stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

const notes = async (stage: DatabaseStage) => (await client.get(kinds.configMaps, stage.key("orders-config"))).metadata.annotations ?? {};
const senders = async (stage: DatabaseStage) =>
  JSON.parse((await notes(stage))["config"] ?? "{}").postgresql?.parameters?.max_wal_senders as unknown;

test("a newer operator's own settings wait for a restart by the user; a setting that the user changes does not wait", async () => {
  await using stage = await DatabaseStage.open("newer", client, proxy);
  const older = await stage.run();
  await stage.create({});
  await stage.settle("orders-0");
  await older.stop();
  const settings = JSON.parse((await notes(stage))["config"] ?? "");
  settings.postgresql.parameters.max_wal_senders = 10; // as an older version had it
  const annotations = { config: JSON.stringify(settings) };
  await client.mergePatch(kinds.configMaps, stage.key("orders-config"), { metadata: { annotations } });

  await stage.run();
  await eventually("the newer one has written its own", 30_000, async () => (await senders(stage)) === 20);
  const reason = { max_wal_senders: { old_value: "10", new_value: "20" } };
  const status = { state: "running", role: "primary", timeline: 1, pending_restart: true, pending_restart_reason: reason };
  await client.mergePatch(kinds.pods, stage.key("orders-0"), { metadata: { annotations: { status: JSON.stringify(status) } } });
  stage.advanceClock(60);
  await eventually("it says so", 30_000, async () => (await stage.condition("UpToDate"))?.reason === "RestartPending");
  expect(await stage.condition("UpToDate")).toMatchObject({ message: expect.stringContaining("orders-0 (max_wal_senders)") });
  await stage.becomes("AllInstancesReady");

  await stage.change({ postgresql: { parameters: { max_wal_senders: 30 } } });
  await stage.becomes("ChangeOnTrial");
  await stage.endJob("orders", "trial", 0, "");
  await eventually("it is asked for now", 30_000, async () => (await senders(stage)) === 30);
  expect((await notes(stage))["sampledb.io/settings-held"]).toBeUndefined();
  stage.advanceClock(60);
  // There are no nodes, so the restart can't succeed. The operator would not have tried it for a held setting.
  await eventually("it is restarted", 30_000, async () => {
    return (await stage.condition("Ready"))?.message?.includes("restarts PostgreSQL in orders-0");
  });
});

/** The own trial of another database; its Pod is never made. */
async function otherTrial(stage: DatabaseStage, name: string): Promise<void> {
  const annotations = { "sampledb.io/trial-for-operator": "true" };
  const labels = { "app.kubernetes.io/managed-by": "sampledb-operator" };
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "trial", image: "example.invalid/postgres:17" }] } };
  const metadata = { name, namespace: stage.namespace, labels, annotations };
  await client.create(kinds.jobs, { apiVersion: "batch/v1", kind: "Job", metadata, spec: { suspend: true, template } } as kinds.Job);
}

test("a newer operator tries its image in ten databases at a time, while Ready stays true; a user's change is tried at once", async () => {
  await using stage = await DatabaseStage.open("newer-image", client, proxy);
  const older = await stage.run();
  await stage.create({});
  await stage.settle("orders-0");
  await older.stop();
  const others = Array.from({ length: 10 }, (_, index) => `other-${index}`);
  for (const name of others) await otherTrial(stage, name);

  const newer = await stage.run({ images: { 17: "example.invalid/postgres:17-newer" } });
  await eventually("it waits", 30_000, async () => (await stage.condition("UpToDate"))?.reason === "ChangeOnTrial");
  expect(await stage.names(kinds.jobs)).not.toContain("orders-trial");
  expect(await stage.condition("Ready")).toMatchObject({ status: "True" });

  const look = () => eventuallySucceeds("it has looked", 10_000, () => stage.again(newer, newer.objects())); // beside the one in the queue
  const itsTurnComes = () =>
    eventually("its turn comes", 30_000, async () => {
      await look();
      return (await stage.names(kinds.jobs)).includes("orders-trial");
    });
  await client.delete(kinds.jobs, stage.key("other-0"));
  await itsTurnComes();
  expect((await client.get(kinds.jobs, stage.key("orders-trial"))).metadata.annotations).toHaveProperty("sampledb.io/trial-for-operator");

  await otherTrial(stage, "other-0");
  await client.delete(kinds.jobs, stage.key("orders-trial"));
  await stage.gone(kinds.jobs, "orders-trial");
  await look();
  expect(await stage.names(kinds.jobs)).toEqual(others);
  stage.advanceClock(601); // the others can't start, and no longer count
  await itsTurnComes();

  await stage.change({ postgresql: { parameters: { work_mem: "8MB" } } });
  await stage.becomes("ChangeOnTrial");
  await eventually("what the user asks for is tried in its place", 30_000, async () => {
    const trial = await client.find(kinds.jobs, stage.key("orders-trial"));
    return trial && trial.metadata.annotations?.["sampledb.io/trial-for-operator"] === undefined;
  });
});
