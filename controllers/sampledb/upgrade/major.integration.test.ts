// A database whose data is of an older major than the spec asks for: it is looked after as before.
import { beforeAll, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../../../tools/eventually.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { sampledbs } from "../../kinds/sampledb-io.ts";
import { bind, ensureStorageClass } from "../foundation/volumes.fixture.ts";
import { DatabaseStage, installKinds } from "../stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);
const storageClassName = "grows";

beforeAll(async () => {
  await installKinds(plane, client);
  await ensureStorageClass(client, storageClassName, { allowVolumeExpansion: true });
});

/** One instance that serves data of 15. */
async function serving(namespace: string): Promise<DatabaseStage> {
  const stage = await DatabaseStage.open(namespace, client, proxy);
  await stage.run();
  await stage.create({ postgresVersion: 15, storage: { size: "1Gi", storageClassName } });
  await stage.podsAre("orders-0");
  await bind(client, stage.key("data-orders-0"), { storageClassName });
  await stage.settle("orders-0");
  return stage;
}

/** Differs once an instance is made anew, restarted or given other settings, or a change is tried. */
async function made(stage: DatabaseStage) {
  const [pod, statefulSet, settings] = await Promise.all([
    client.get(kinds.pods, stage.key("orders-0")),
    client.get(kinds.statefulSets, stage.key("orders")),
    client.get(kinds.configMaps, stage.key("orders-config")),
  ]);
  return {
    pod: pod.metadata.uid,
    statefulSet: [statefulSet.metadata.generation, statefulSet.metadata.annotations],
    settings: settings.metadata.annotations,
    trials: (await stage.names(kinds.jobs)).filter((name) => name === "orders-trial"),
  };
}

/** The operator has looked at the newest spec. */
async function lookedAt(stage: DatabaseStage): Promise<void> {
  await eventually("the newest spec has been looked at", 30_000, async () => {
    const { metadata, status } = await client.get(sampledbs, stage.key("orders"));
    return status?.observedGeneration === metadata.generation;
  });
}

const summarizing = { postgresVersion: 17, postgresql: { parameters: { summarize_wal: "on" } } };

test("a setting that the data's major does not know waits for the upgrade; volumes grow, and what is deleted is made again", async () => {
  await using stage = await serving("waiting");
  const before = await made(stage);
  await stage.change(summarizing);
  const { message } = await stage.becomes("NotSupportedByThisVersion");
  expect(message).toMatch(/data is of PostgreSQL 15.*wait for the upgrade: summarize_wal$/);
  expect(await stage.blocker()).toMatchObject({ reason: "UpgradeNotSupported", message });

  await stage.change({ storage: { size: "3Gi" } });
  await eventually("the claim grows", 30_000, async () => {
    const { spec } = await client.get(kinds.persistentVolumeClaims, stage.key("data-orders-0"));
    return spec?.resources?.requests?.["storage"] === "3Gi";
  });
  await client.delete(kinds.services, stage.key("orders-ro"));
  await eventually("the Service is back", 30_000, () => client.find(kinds.services, stage.key("orders-ro")));
  await lookedAt(stage);
  expect(await made(stage)).toEqual(before);
});

test("a raised major is taken back: nothing is restarted or tried, and nothing stands in the way any more", async () => {
  await using stage = await serving("taken-back");
  const before = await made(stage);
  await stage.change(summarizing);
  await stage.becomes("NotSupportedByThisVersion");
  const back = { postgresVersion: 15, postgresql: null };
  await expect(stage.change(back)).rejects.toThrow(/postgresVersion can't be lowered to 15: status.postgresVersion does not say/);

  // As the operator tells it once the primary has answered.
  await client.mergePatch(sampledbs, stage.key("orders"), { status: { postgresVersion: "15.18" } }, { subresource: "status" });
  await stage.change(back);
  await stage.becomes("AllInstancesReady");
  const { status } = await client.get(sampledbs, stage.key("orders"));
  expect(status).toMatchObject({ postgresVersion: "15.18" });
  expect(status?.blockers).toBeUndefined();
  expect(await made(stage)).toEqual(before);
});

test("a spec that is wrong for the asked major as well is InvalidSpec, by the words of that major", async () => {
  await using stage = await serving("wrong");
  await stage.change({ postgresVersion: 17, postgresql: { parameters: { summarize_wal: "perhaps" } } });
  const { message } = await stage.becomes("InvalidSpec");
  expect(message).toContain('spec.postgresql.parameters[summarize_wal]: "perhaps" is neither true nor false');
});
