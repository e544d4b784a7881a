// A deletion with `Snapshot` interrupted in each of its phases: it ends, one Restore brings the database back, and not one acknowledged row is
// missing. Whoever takes the deletion back keeps the volumes.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type SnapshotPhase, snapshotPhases } from "../../api/deletion-policy.ts";
import { finalBackupName } from "../../controllers/desired/names.ts";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { Kubectl, type KubernetesObject } from "../cluster/kubectl.ts";
import { Database, sampleDB } from "../database/database.ts";
import { findContainer, killContainer } from "../database/faults.ts";
import { Runs } from "../database/runs.ts";
import { deployedOperator, operator } from "../suites/deployed-operator.ts";
import { backupTo, suiteStore } from "../suites/suite-store.ts";
import { isLocal, localCluster, suiteNamespace, withoutNetwork } from "../suites/test-cluster.ts";
import { WatchedDatabase } from "../suites/watched-database.ts";

const minutes = 60_000;
const name = "orders";

interface Fault {
  readonly what: string;
  readonly in: readonly SnapshotPhase[];
  readonly happens: () => Promise<unknown>;
  /** Whether the volumes are there in the end: the deletion was changed to one that keeps them. */
  readonly keeps?: true;
}

describe.runIf(isLocal)("a deletion with Snapshot", () => {
  deployedOperator();
  const reached = suiteStore();
  const namespace = suiteNamespace("matrix-snapshot");
  const runs = new Runs(namespace, name, 8 * minutes);
  let watched: WatchedDatabase;
  let backup: Awaited<ReturnType<typeof backupTo>>;

  beforeAll(async () => {
    backup = await backupTo(reached(), namespace);
    watched = await WatchedDatabase.start(namespace, { backup });
    await runs.backUp("first", "Full");
  }, 20 * minutes);

  afterEach(() => reached().store.fault(undefined));

  const instance = async () => {
    const [pod] = await watched.database.instances();
    if (!pod) throw new Error("no instance is left");
    return pod;
  };

  /** Of the Job that works for the deletion. */
  async function jobPod(): Promise<string> {
    return await eventually("a Job's Pod is there", minutes, async () => {
      const all = await namespace.list("pods", "--selector=batch.kubernetes.io/job-name", "--field-selector=status.phase!=Succeeded");
      return all.find(({ metadata }) => !metadata.deletionTimestamp)?.metadata.name;
    });
  }

  async function storeDies(): Promise<void> {
    await reached().store.fault("refusing");
    await eventually("the deletion tells that it waits", 5 * minutes, async () => {
      const { blockers = [] } = (await watched.database.get()).status ?? {};
      return blockers.some(({ reason }) => reason === "SnapshotWaits");
    });
    await reached().store.fault(undefined);
  }

  /** Not the writer's: it has to know which rows were acknowledged. */
  async function nodeLost(): Promise<void> {
    const pods = await watched.database.pods();
    const node = pods.map((pod) => pod["spec"].nodeName as string).find((one) => one !== watched.ledgerNode);
    if (node === undefined) throw new Error("all instances that are left run beside the writer");
    await withoutNetwork(node, () =>
      eventually("Kubernetes knows that the node is lost", 2 * minutes, async () => {
        const told = (await namespace.get("node", node))?.["status"].conditions.find(({ type }: { type: string }) => type === "Ready");
        return told?.status === "Unknown";
      }),
    );
  }

  const faults: readonly Fault[] = [
    { what: "the leading operator killed", in: snapshotPhases.slice(1), happens: () => operator.killLeader() },
    {
      what: "the Pod of its Job deleted",
      in: ["CuttingOff", "BackingUp", "CheckingArchive"],
      happens: async () => namespace.run("delete", "pod", await jobPod(), "--wait=false"),
    },
    {
      what: "an instance killed",
      in: ["CuttingOff", "BackingUp", "Stopping"],
      happens: async () => killContainer(localCluster(), await findContainer(namespace, await instance())).catch(() => {}),
    },
    { what: "a node lost", in: ["CuttingOff", "BackingUp"], happens: nodeLost },
    { what: "the store away", in: ["BackingUp"], happens: storeDies },
    {
      what: "the last Backup deleted",
      in: ["BackingUp", "Stopping"],
      happens: async () => namespace.run("delete", "backup", finalBackupName(await watched.database.get()), "--wait=false"),
    },
    {
      what: "the policy changed to Retain",
      in: ["CuttingOff", "BackingUp", "Stopping", "CheckingArchive"],
      happens: () => watched.database.change({ deletionPolicy: "Retain" }),
      keeps: true,
    },
  ];

  /** Fails where the phase is over before it was seen: then the fault would meet another one. */
  async function reaches(phase: SnapshotPhase): Promise<void> {
    const seen = await eventuallySucceeds(`the deletion is at ${phase}`, 5 * minutes, async () => {
      const found = await namespace.get("sampledb", name);
      if (found === undefined) return "gone";
      const now: SnapshotPhase | undefined = found["status"]?.deletion?.phase;
      if (now === undefined || snapshotPhases.indexOf(now) < snapshotPhases.indexOf(phase)) throw new Error(now);
      return now;
    });
    expect(seen).toBe(phase);
  }

  const dataClaims = async () =>
    (await namespace.list("persistentvolumeclaims", `--selector=sampledb.io/name=${name}`))
      .map(({ metadata }: KubernetesObject) => metadata.name as string)
      .filter((claim) => claim.startsWith("data-"))
      .sort();

  async function gone(): Promise<void> {
    await eventuallySucceeds("the SampleDB is gone", 8 * minutes, async () => {
      const status = (await namespace.get("sampledb", name))?.["status"];
      if (status !== undefined) throw new Error(JSON.stringify([status.deletion, status.blockers]));
    });
  }

  /** As the user's manifest has it. */
  const manifest = () => sampleDB({ name, replicas: 3, synchronousReplication: "Required", backup });

  async function broughtBack(cell: string, from: string, keeps: boolean): Promise<void> {
    if (keeps) {
      expect(await dataClaims()).toEqual([0, 1, 2].map((ordinal) => `data-${name}-${ordinal}`));
      await Database.apply(namespace, manifest());
    } else {
      expect(await dataClaims()).toEqual([]);
      await runs.make("Restore", cell, { source: { backupName: from }, destination: { type: "New", sampleDBName: name } });
      await runs.succeeds("Restore", cell);
    }
    await watched.ledger.acknowledges({ rows: 10, deadlineMs: 4 * minutes });
    await watched.whole();
    // The archive that was begun anew has a first Backup of its own.
    await eventually("no Job runs", 5 * minutes, async () => (await namespace.list("jobs")).length === 0);
  }

  describe.each(faults)("with $what", ({ what, in: when, happens, keeps = false }) => {
    test.each(when)("at %s", { timeout: 25 * minutes }, async (phase) => {
      const final = finalBackupName(await watched.database.get());
      await namespace.run("delete", "sampledb", name, "--wait=false");
      await reaches(phase);
      await happens();
      await gone();
      await broughtBack(`${what.replaceAll(/\W+/g, "-")}-${phase}`.toLowerCase(), final, keeps);
      await operator.ready();
    });
  });

  test("ten databases at once are ten Backups, and each comes back", { timeout: 30 * minutes }, async () => {
    const names = Array.from({ length: 10 }, (_, index) => `many-${index}`);
    const many = await Promise.all(names.map((one) => Database.apply(namespace, sampleDB({ name: one, backup }))));
    for (const database of many) await database.waitReady(10 * minutes);
    for (const [index, database] of many.entries()) await database.sql(`CREATE TABLE mine AS SELECT ${index} AS n`);
    const finals = await Promise.all(many.map(async (database) => finalBackupName(await database.get())));
    await namespace.run("delete", "sampledb", ...names, "--wait=false");
    await eventually("all are gone", 15 * minutes, async () => {
      const left = await Promise.all(names.map((one) => namespace.get("sampledb", one)));
      return left.every((one) => one === undefined);
    });
    const ends = await Promise.all(finals.map((final) => runs.reason("Backup", final)));
    expect(ends).toEqual(finals.map(() => "BackupSucceeded"));
    const [first, last] = [0, many.length - 1];
    for (const index of [first, last]) {
      const to = names[index] ?? "";
      await runs.make("Restore", to, { source: { backupName: finals[index] }, destination: { type: "New", sampleDBName: to } });
      await runs.succeeds("Restore", to);
      expect(await many[index]?.sql("SELECT n FROM mine")).toBe(String(index));
    }
  });

  test("pruned and applied again every half a minute, no generation is lost", { timeout: 30 * minutes }, async () => {
    const pruned = sampleDB({ name: "pruned", backup });
    const finals: string[] = [];
    for (const generation of [1, 2, 3]) {
      const database = await eventuallySucceeds("it is applied as a new one", 5 * minutes, async () => {
        const made = await Database.apply(namespace, pruned);
        const { metadata } = await made.get();
        if (metadata.deletionTimestamp || finals.includes(finalBackupName({ metadata }))) throw new Error("the former one is still going");
        return made;
      });
      await database.waitReady(5 * minutes);
      await database.sql(`CREATE TABLE generation AS SELECT ${generation} AS n`);
      finals.push(finalBackupName(await database.get()));
      await namespace.run("delete", "sampledb", "pruned", "--wait=false");
      await namespace.apply(JSON.stringify(pruned)); // in the middle of the deletion: it neither ends it nor is it lost on the next round
    }
    await eventually("the last one is gone", 5 * minutes, async () => (await namespace.get("sampledb", "pruned")) === undefined);
    for (const [index, backupName] of finals.entries()) {
      const { restored } = await runs.restore(`generation-${index}`, { source: { backupName } });
      expect(await restored.sql("SELECT n FROM generation")).toBe(String(index + 1));
    }
  });

  describe("whose namespace is deleted around it", () => {
    const doomed = `doomed-${namespace.namespace}`;
    const guards = [
      "validatingadmissionpolicybinding/sampledb-namespace-deletion",
      "validatingwebhookconfiguration/sampledb-validating-webhooks",
    ];
    const volumes = async () =>
      (await namespace.list("persistentvolumes")).filter((volume) => volume["spec"].claimRef?.namespace === doomed);

    afterAll(async () => {
      await operator.make("deploy"); // it has the guards
      const left = (await volumes()).map(({ metadata }) => metadata.name as string);
      if (left.length > 0) await namespace.run("delete", "persistentvolume", ...left);
    });

    test("is refused while the guards are there, and keeps the volumes without them", { timeout: 15 * minutes }, async () => {
      await namespace.apply(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: doomed } }));
      const there = new Kubectl(namespace.kubeconfig, doomed);
      const database = await Database.apply(there, sampleDB({ name, replicas: 2, backup: await backupTo(reached(), there) }));
      await database.waitReady(5 * minutes);
      await reached().store.fault("refusing"); // so that the deletion is in its middle for as long as this takes
      await there.run("delete", "sampledb", name, "--wait=false");
      await eventually("the last Backup is due", 2 * minutes, async () => (await database.get()).status?.deletion?.phase === "BackingUp");
      await expect(there.run("delete", "namespace", doomed, "--wait=false")).rejects.toThrow(/holds SampleDBs whose data would go with it/);
      await there.run("delete", ...guards);
      await eventuallySucceeds("the namespace is being deleted", minutes, () => there.run("delete", "namespace", doomed, "--wait=false"));
      await eventually("the namespace is gone", 5 * minutes, async () => (await there.get("namespace", doomed)) === undefined);
      const kept = await volumes();
      expect(kept.map((volume) => volume["spec"].claimRef.name).sort()).toEqual([`data-${name}-0`, `data-${name}-1`]);
      expect(kept.map((volume) => volume["spec"].persistentVolumeReclaimPolicy)).toEqual(["Retain", "Retain"]);
      const told = (await operator.system.list("events")).map((event) => `${event["note"] ?? event["message"]}`).join("\n");
      for (const { metadata } of kept) expect(told).toContain(metadata.name);
    });
  });
});
