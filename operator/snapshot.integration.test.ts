// Deleting a SampleDB with `Snapshot`, and bringing it back, with all controllers at work on a real API server without nodes.
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { succeeded } from "../controllers/backup/backup.fixture.ts";
import * as kinds from "../controllers/kinds/kubernetes.ts";
import { backups, restores, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import { bind } from "../controllers/sampledb/foundation/volumes.fixture.ts";
import { installKinds } from "../controllers/sampledb/stage.fixture.ts";
import { startSuite } from "../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../runtime/kube/test-connection.fixture.ts";
import { eventually } from "../tools/eventually.ts";
import { BackupStage } from "./backup-stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

const open = (namespace: string) => BackupStage.open(namespace, client, proxy);
const database = ({ databases }: BackupStage) => client.get(sampledbs, databases.key("orders"));

/** The name of the last Backup. */
async function finalOf(stage: BackupStage): Promise<string> {
  return `orders-final-${(await database(stage)).metadata.uid?.slice(0, 8)}`;
}

async function reaches(stage: BackupStage, phase: string): Promise<void> {
  await eventually(`the deletion is at ${phase}`, 60_000, async () => (await database(stage)).status?.deletion?.phase === phase);
}

const hba = async ({ databases }: BackupStage): Promise<string[]> => {
  const { annotations } = (await client.get(kinds.configMaps, databases.key("orders-config"))).metadata;
  return JSON.parse(annotations?.["config"] ?? "{}").postgresql.pg_hba;
};

/** The deletion up to the last Backup's Job. */
async function backsUp(stage: BackupStage): Promise<string> {
  const final = await finalOf(stage);
  await client.delete(sampledbs, stage.databases.key("orders"));
  await stage.end("orders", "cutoff", "1 sessions of clients were ended");
  await stage.jobOf(final, "backup");
  return final;
}

const unlock = ({ databases }: BackupStage) =>
  client.mergePatch(kinds.configMaps, databases.key("orders-leader"), { metadata: { annotations: { leader: null } } });

async function stops(stage: BackupStage): Promise<void> {
  await stage.databases.podsAre();
  await unlock(stage);
}

const claims = async ({ databases }: BackupStage) => await databases.names(kinds.persistentVolumeClaims);

test("clients are cut off, the last Backup is made, the archive is checked, and only then the volumes go; a Restore brings it back", async () => {
  await using stage = await open("snapshot");
  const { databases } = stage;
  const password = (await client.get(kinds.secrets, databases.key("orders-app"))).data?.["password"];
  const final = await finalOf(stage);
  await client.delete(sampledbs, databases.key("orders"));
  await reaches(stage, "CuttingOff");
  expect(await hba(stage)).toContain("host all all all reject");
  await databases.jobPod("orders-cutoff");
  expect(await databases.names(backups)).toEqual([]);
  await stage.end("orders", "cutoff", "1 sessions of clients were ended");
  await stage.jobOf(final, "backup");
  expect((await databases.condition("Ready"))?.message).toMatch(/^BackingUp: .* deletionPolicy may still be changed/);
  expect(await databases.podNames()).toEqual(["orders-0"]); // it runs until the Backup is good
  await stage.end("orders", "backup", succeeded);
  await stage.becomes(backups, final, "BackupSucceeded");
  await stops(stage);
  await reaches(stage, "CheckingArchive");
  const check = (await stage.job("orders-check"))?.spec?.template.spec;
  expect(check?.containers[0]?.command).toEqual(["tini", "--", "check-archive", "1", succeeded.lastWAL]);
  expect(await claims(stage)).toEqual(["data-orders-0", "orders-repository"]);
  // As the scheduler does: Kubernetes keeps a claim for as long as a Pod that has a node names it, also one that has ended.
  // The Node is there, so that Kubernetes does not collect its Pods.
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "nowhere" }, spec: { unschedulable: true } };
  await plane.request("POST", "/api/v1/nodes", node);
  onTestFinished(async () => void (await plane.request("DELETE", "/api/v1/nodes/nowhere")));
  const { name } = (await databases.jobPod("orders-check")).metadata;
  const binding = { apiVersion: "v1", kind: "Binding", metadata: { name }, target: { apiVersion: "v1", kind: "Node", name: "nowhere" } };
  const bound = await plane.request("POST", `/api/v1/namespaces/snapshot/pods/${name}/binding`, binding);
  expect(bound?.status).toBe(201);
  await stage.end("orders", "check", "the repository has everything");
  await databases.gone(sampledbs, "orders");
  expect(await claims(stage)).toEqual(["orders-repository"]);
  const left = await databases.names(kinds.configMaps);
  expect(left.filter((name) => /-(config|leader|failover|sync)$/.test(name))).toEqual([]);
  expect((await databases.names(kinds.secrets)).filter((name) => name !== "orders-repository")).toEqual(
    expect.arrayContaining(["orders-app", "orders-replication", "orders-superuser", "orders-tls"]),
  );
  const listed = await plane.kubectl("get", "sdbbackup", "--namespace=snapshot", "--selector=sampledb.io/final", "--no-headers");
  expect(listed).toMatch(new RegExp(`^${final} +orders +Incremental +True +BackupSucceeded +true`));

  await databases.gone(kinds.statefulSets, "orders");
  await stage.restore("back", { source: { backupName: final }, destination: { type: "New", sampleDBName: "orders" } });
  await eventually("its Job is made", 60_000, () => stage.job("orders-restore"));
  expect((await client.get(kinds.secrets, databases.key("orders-app"))).data?.["password"]).toBe(password);
  const end = {
    outcome: "succeeded",
    label: succeeded.label,
    reachedLSN: "0/3000000",
    timeline: 2,
    systemIdentifier: "7550000000000000001",
  };
  await stage.end("orders", "restore", end);
  await eventually("the SampleDB is back", 60_000, () => client.find(sampledbs, databases.key("orders")));
  await databases.serves("orders-0");
  await databases.initialize("orders");
  await stage.becomes(restores, "back", "RestoreSucceeded");
  expect(await hba(stage)).not.toContain("host all all all reject");
});

describe("in the middle of it", () => {
  test("Retain keeps the volumes and ends the deletion", async () => {
    await using stage = await open("snapshot-retained");
    for (const name of ["data-orders-0", "orders-repository"]) await bind(client, stage.databases.key(name)); // an empty one would go
    await backsUp(stage);
    await stage.databases.change({ deletionPolicy: "Retain" });
    await stage.databases.gone(sampledbs, "orders");
    expect(await claims(stage)).toEqual(["data-orders-0", "orders-repository"]);
    expect(await stage.databases.names(kinds.configMaps)).toEqual(expect.arrayContaining(["orders-config", "orders-leader"]));
  });

  test("a last Backup that fails is told and made anew, and so is one that is deleted; nothing is removed", async () => {
    await using stage = await open("snapshot-fails");
    const final = await backsUp(stage);
    const uid = async () => (await client.find(backups, stage.databases.key(final)))?.metadata.uid;
    const first = await uid();
    await stage.end("orders", "backup", { outcome: "failed", reason: "StoreDenied", message: "403" }, 1);
    await stage.becomes(backups, final, "StoreDenied");
    await eventually("it is told", 30_000, async () => {
      const told = (await database(stage)).status?.blockers?.find(({ reason }) => reason === "SnapshotWaits");
      return told?.message.includes("StoreDenied: 403") && told.remedy.includes("deletionPolicy");
    });
    stage.databases.advanceClock(61);
    await eventually("it is made anew", 60_000, async () => ![undefined, first].includes(await uid()));
    const second = await uid();
    await stage.jobOf(final, "backup");
    await client.delete(backups, stage.databases.key(final));
    await eventually("it is made anew once more", 60_000, async () => ![undefined, first, second].includes(await uid()));
    expect(await stage.databases.podNames()).toEqual(["orders-0"]);
    expect(await claims(stage)).toEqual(["data-orders-0", "orders-repository"]);
  });

  test("a server that did not end cleanly runs once more; after a failover another last Backup is made", async () => {
    await using stage = await open("snapshot-unclean");
    const final = await backsUp(stage);
    const uid = async () => (await client.find(backups, stage.databases.key(final)))?.metadata.uid;
    const first = await uid();
    await stage.end("orders", "backup", succeeded);
    await stops(stage);
    await reaches(stage, "CheckingArchive");
    await stage.end("orders", "check", "PostgreSQL did not end cleanly", 3);
    await reaches(stage, "Waking");
    await stage.databases.podsAre("orders-0");
    stage.databases.timeline = 2;
    await stage.databases.serves("orders-0");
    await stage.end("orders", "cutoff", "0 sessions of clients were ended").catch(() => undefined);
    await eventually("another Backup is made", 60_000, async () => ![undefined, first].includes(await uid()));
    expect(await claims(stage)).toEqual(["data-orders-0", "orders-repository"]);
  });
});

test("a database that sleeps is woken for it; one that never had data goes as with Retain", async () => {
  await using stage = await open("snapshot-asleep");
  await stage.databases.change({ powerState: "Hibernated" });
  await stops(stage);
  await stage.databases.becomes("Hibernated");
  await client.delete(sampledbs, stage.databases.key("orders"));
  await reaches(stage, "Waking");
  await stage.databases.podsAre("orders-0");
  await stage.databases.serves("orders-0");
  await reaches(stage, "CuttingOff");
  const { spec } = await client.get(kinds.deployments, stage.databases.key("orders-repository"));
  expect(spec?.replicas).toBe(1);

  await stage.databases.create({ backup: {} }, "empty");
  await eventually("its StatefulSet is made", 30_000, () => client.find(kinds.statefulSets, stage.databases.key("empty")));
  await client.delete(sampledbs, stage.databases.key("empty"));
  await stage.databases.gone(sampledbs, "empty");
});

test("a deletion in the foreground ends the same way: what the garbage collector took is made anew", async () => {
  await using stage = await open("snapshot-foreground");
  await plane.kubectl("delete", "sampledb", "orders", "--namespace=snapshot-foreground", "--cascade=foreground", "--wait=false");
  await eventually("it goes on in the background", 30_000, async () => {
    const { finalizers } = (await database(stage)).metadata;
    return !finalizers?.includes("foregroundDeletion");
  });
  await eventually("its StatefulSet is there and stays", 60_000, async () => {
    const found = await client.find(kinds.statefulSets, stage.databases.key("orders"));
    return found && !found.metadata.deletionTimestamp && (found.spec?.replicas ?? 0) > 0;
  });
  await stage.databases.podsAre("orders-0");
  await stage.databases.serves("orders-0");
  await reaches(stage, "CuttingOff");
  expect(await claims(stage)).toEqual(["data-orders-0", "orders-repository"]);
});
