// A Restore into a new SampleDB, with the operator killed after each single write of it; and deleted in the middle of the hand-over.
import { beforeAll, expect, test } from "vitest";
import { hasEnded } from "../controllers/jobs/outcome.ts";
import * as kinds from "../controllers/kinds/kubernetes.ts";
import { backups, type Restore, restores, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import { installKinds } from "../controllers/sampledb/stage.fixture.ts";
import type { ApiRequest } from "../e2e/faults/request.ts";
import { startSuite } from "../e2e/faults/suite.fixture.ts";
import { TestConnection } from "../runtime/kube/test-connection.fixture.ts";
import { BackupStage } from "./backup-stage.fixture.ts";
import { KilledOperator } from "./killed-operator.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

const filled = {
  outcome: "succeeded",
  label: "20260504-120000F",
  reachedLSN: "0/5000000",
  timeline: 2,
  systemIdentifier: "7550000000000000001",
};
const toCopy = { source: { backupName: "night" }, destination: { type: "New", sampleDBName: "copy", overrides: { replicas: 1 } } };
/** The writes that make something for the new database, and the Job. Status and Events say what was done, and a repeated one does no harm. */
const isWrite = ({ method, resource = "", name, query }: ApiRequest) =>
  (method === "POST" && !query.has("dryRun") && makes.includes(resource)) ||
  (method === "PATCH" && resource === "jobs" && name === "copy-restore");
const makes = ["persistentvolumeclaims", "secrets", "configmaps", "sampledbs", "backups"];
const isNew = ({ status }: { readonly status?: number | undefined }) => status === 201;

/** Ends the Job that fills the volume, in place of the kubelet, where its Pod runs. */
async function endJob(stage: BackupStage): Promise<void> {
  const labelSelector = "batch.kubernetes.io/job-name=copy-restore";
  const { items } = await client.list(kinds.pods, { namespace: stage.databases.namespace, labelSelector });
  if (items.some((pod) => !hasEnded(pod) && !pod.metadata.deletionTimestamp)) await stage.end("copy", "restore", filled);
}

const firstBackups = async (stage: BackupStage) =>
  (await stage.databases.names(backups)).filter((name) => name.startsWith("copy-restored-"));

const killed = (stage: BackupStage, isWrite: (request: ApiRequest) => boolean) =>
  new KilledOperator(proxy, {
    namespace: stage.databases.namespace,
    isWrite,
    play: () => endJob(stage),
    isDone: async () => (await firstBackups(stage)).length > 0,
  });

test("an operator that is killed after each of its writes restores all the same, and does nothing twice", {
  timeout: 400_000,
}, async () => {
  await using stage = await BackupStage.open("killed-in-restore", client, proxy);
  await stage.backedUp("night");
  await stage.databases.stop();
  await stage.restore("back", toCopy);
  proxy.resetCounts();
  const operator = killed(stage, isWrite);
  const made = () => operator.writes.filter(isNew);
  let kills = 0;
  let most = 1;
  for (let before = 0; await operator.killedAfter(most); kills++) {
    // What was made before is written again, so after one that made nothing new the next one gets one write further.
    most = made().length > before ? 1 : most + 1;
    before = made().length;
  }
  expect(kills).toBeGreaterThanOrEqual(8);

  await stage.run();
  await stage.databases.serves("copy-0");
  await stage.databases.initialize("copy");
  const { status } = await stage.becomes<Restore>(restores, "back", "RestoreSucceeded");
  expect(await firstBackups(stage)).toEqual([status?.firstBackupName]);
  const times = (what: string) => made().filter(({ resource }) => resource === what).length;
  // The other claim is that of the new database's repository.
  const all = { claims: times("persistentvolumeclaims"), jobs: times("jobs"), databases: times("sampledbs"), backups: times("backups") };
  expect(all).toEqual({ claims: 2, jobs: 1, databases: 1, backups: 1 });
  await stage.released("copy-restore");
});

test.each(["copy-config", "copy-leader"])(
  "one that is deleted when %s is not made yet leaves nothing, and the next one works",
  async (missing) => {
    await using stage = await BackupStage.open(`withdrawn-${missing}`, client, proxy);
    await stage.backedUp("night");
    await stage.databases.stop();
    await stage.restore("back", toCopy);
    const isState = ({ method, resource }: ApiRequest) => method === "POST" && resource === "configmaps";
    proxy.resetCounts();
    expect(await killed(stage, isState).killedAfter(missing === "copy-config" ? 0 : 1)).toBe(true);
    await client.delete(restores, stage.databases.key("back"));
    await stage.run();
    await stage.databases.gone(restores, "back");
    await stage.released("copy-restore");
    const { databases } = stage;
    const names = [
      ...(await databases.names(kinds.configMaps)),
      ...(await databases.names(kinds.secrets)),
      ...(await databases.names(kinds.persistentVolumeClaims)),
      ...(await databases.names(sampledbs)),
    ];
    expect(names.filter((name) => name.includes("copy"))).toEqual([]);
    await stage.restore("again", toCopy);
    await stage.jobOf("again", "restore", "copy-restore");
    await stage.end("copy", "restore", filled);
    await stage.databases.serves("copy-0");
    await stage.databases.initialize("copy");
    await stage.becomes(restores, "again", "RestoreSucceeded");
  },
);
