// The repository's objects on a real API server: made, changed, left and refused. No node runs its Pod here.
import { beforeAll, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import type { KubeObject } from "../../../runtime/kube/object.ts";
import { namespaced } from "../../../runtime/kube/resource.ts";
import { TestConnection } from "../../../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../../../tools/eventually.ts";
import * as kinds from "../../kinds/kubernetes.ts";
import { sampledbs } from "../../kinds/sampledb-io.ts";
import { bind, ensureStorageClass } from "../foundation/volumes.fixture.ts";
import { DatabaseStage, installKinds } from "../stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);
const storageClassName = "grows";
const onVolume = { backup: { repository: { volume: { size: "2Gi", storageClassName } } } };

beforeAll(async () => {
  await installKinds(plane, client);
  await ensureStorageClass(client, storageClassName, { allowVolumeExpansion: true });
});

async function open(namespace: string, spec: Parameters<DatabaseStage["create"]>[0]): Promise<DatabaseStage> {
  const stage = await DatabaseStage.open(namespace, client, proxy);
  await stage.run();
  await stage.create(spec);
  await stage.podsAre("orders-0");
  return stage;
}

const deployment = (stage: DatabaseStage) => client.find(kinds.deployments, stage.key("orders-repository"));
const config = (stage: DatabaseStage) => client.find(kinds.configMaps, stage.key("orders-repository"));
const conf = async (stage: DatabaseStage) => (await config(stage))?.data?.["pgbackrest.conf"] ?? "";
const settings = async (stage: DatabaseStage) => {
  const { metadata } = await client.get(kinds.configMaps, stage.key("orders-config"));
  return JSON.parse(metadata.annotations?.["config"] ?? "{}").postgresql;
};

test("a database with backup has a repository from its first second, archives to it, and its condition says that it starts", async () => {
  await using stage = await open("archived", onVolume);
  expect((await deployment(stage))?.spec?.replicas).toBe(1);
  expect((await client.get(kinds.persistentVolumeClaims, stage.key("orders-repository"))).spec).toMatchObject({
    ...{ storageClassName, resources: { requests: { storage: "2Gi" } } },
  });
  const { uid } = (await client.get(sampledbs, stage.key("orders"))).metadata;
  expect(await conf(stage)).toContain(`[${uid}-17-1]`);
  expect((await client.get(kinds.secrets, stage.key("orders-repository"))).data).toHaveProperty(["tls.key"]);
  expect(await client.find(kinds.services, stage.key("orders-repository"))).toBeDefined();
  const { parameters, recovery_conf: recovery } = await settings(stage);
  expect(parameters).toMatchObject({ archive_mode: "on", archive_command: "pgbackrest-push %p", archive_timeout: "60s" });
  expect(recovery).toEqual({ restore_command: expect.stringContaining("fetch-history %f %p") });
  await eventually("its conditions are told", 30_000, async () => {
    return (await stage.condition("RepositoryReachable"))?.reason === "RepositoryStarting" && (await stage.condition("ArchivingHealthy"));
  });
});

test("its volume grows while nothing is healthy, and a deletion that retains keeps it, with the generation", async () => {
  await using stage = await open("grown-repository", onVolume);
  await bind(client, stage.key("orders-repository"), { storageClassName, persistentVolumeReclaimPolicy: "Delete" });
  await stage.change({ backup: { repository: { volume: { size: "5Gi" } } } });
  await eventually("the claim asks for more", 30_000, async () => {
    const claim = await client.get(kinds.persistentVolumeClaims, stage.key("orders-repository"));
    return claim.spec?.resources?.requests?.["storage"] === "5Gi";
  });
  await eventually("its volume is kept", 30_000, async () => {
    const volume = await client.get(kinds.persistentVolumes, { namespace: "", name: `${stage.namespace}-orders-repository` });
    return volume.spec?.persistentVolumeReclaimPolicy === "Retain";
  });
  await client.delete(kinds.statefulSets, stage.key("orders")).catch(() => undefined);
  await client.delete(sampledbs, stage.key("orders"));
  await stage.gone(sampledbs, "orders");
  expect(await client.find(kinds.persistentVolumeClaims, stage.key("orders-repository"))).toBeDefined();
  expect((await config(stage))?.metadata.annotations?.["sampledb.io/archive-generation"]).toBe("1");
});

test("a claim of that name that is someone else's is left alone, and the database is made all the same", async () => {
  const stage = await DatabaseStage.open("foreign-repository", client, proxy);
  await using _ = stage;
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const metadata = { name: "orders-repository", namespace: stage.namespace };
  await client.create(kinds.persistentVolumeClaims, { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec });
  await stage.run();
  await stage.create(onVolume);
  expect(await stage.becomes("NameTaken")).toMatchObject({ message: expect.stringContaining("orders-repository") });
  await stage.podsAre("orders-0");
  expect(await deployment(stage)).toBeUndefined();
});

test("a quota that refuses the repository's Pod is told with its words", async () => {
  const stage = await DatabaseStage.open("refused-repository", client, proxy);
  await using _ = stage;
  const quotas = namespaced<KubeObject & { readonly spec: object }>("v1", "ResourceQuota", "resourcequotas");
  const metadata = { name: "no-pods", namespace: stage.namespace };
  await client.create(quotas, { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard: { pods: "0" } } });
  await stage.run();
  await stage.create(onVolume);
  await eventually("it is told", 60_000, async () => {
    const { status } = await client.get(sampledbs, stage.key("orders"));
    return status?.blockers?.some(({ reason, message }) => reason === "RepositorySilent" && /exceeded quota/.test(message));
  });
});

test("a hibernated database needs no repository's Pod, and one that wakes does", async () => {
  await using stage = await open("sleeping-repository", onVolume);
  await stage.settle("orders-0");
  await stage.change({ powerState: "Hibernated" });
  await eventually("the Pod is not wanted", 60_000, async () => (await deployment(stage))?.spec?.replicas === 0);
  await stage.change({ powerState: "Running" });
  await eventually("the Pod is wanted again", 30_000, async () => (await deployment(stage))?.spec?.replicas === 1);
});

test("without backup the repository goes when nobody archives any more; with it again, a new archive begins", async () => {
  await using stage = await open("switched-off", onVolume);
  await stage.settle("orders-0");
  await stage.change({ backup: null });
  expect(await deployment(stage)).toBeDefined(); // the trial of the change has yet to end
  await stage.endJob("orders", "trial", 0, "PostgreSQL 17 starts with these settings");
  await eventually("the repository is gone", 60_000, async () => (await deployment(stage)) === undefined);
  expect((await settings(stage)).parameters.archive_mode).toBe("off");
  await eventually("it is noted as off", 30_000, async () => (await conf(stage)) === "");
  expect(await client.find(kinds.persistentVolumeClaims, stage.key("orders-repository"))).toBeDefined();
  await stage.change(onVolume);
  await eventually("a new generation", 60_000, async () => (await conf(stage)).includes("-17-2]"));
});
