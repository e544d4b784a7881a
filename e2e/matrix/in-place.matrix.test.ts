// Each part of a restore in place killed in each of its phases, and the Restore deleted. It restores to the end of the archive, so that not one
// acknowledged row may be missing afterwards, whether it has succeeded or not.
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { restorePhases } from "../../api/restore-phase.ts";
import { eventually } from "../../tools/eventually.ts";
import { say } from "../../tools/progress.ts";
import { findContainer, killContainer } from "../database/faults.ts";
import { Runs } from "../database/runs.ts";
import { deployedOperator, operator } from "../suites/deployed-operator.ts";
import { backupTo, suiteStore } from "../suites/suite-store.ts";
import { isLocal, localCluster, suiteNamespace } from "../suites/test-cluster.ts";
import { WatchedDatabase } from "../suites/watched-database.ts";

const minutes = 60_000;
const phases = ["CuttingOff", "BackingUp", "Restoring", "Starting"] as const;
type Phase = (typeof phases)[number];

interface Fault {
  readonly what: string;
  readonly in: readonly Phase[];
  readonly happens: (restore: string) => Promise<unknown>;
  /** The reasons that the Restore may give in the end. `Gone`: it was deleted. */
  readonly ends: readonly string[];
}

const succeeds = ["RestoreSucceeded"];

describe.runIf(isLocal)("a restore in place", () => {
  deployedOperator();
  const reached = suiteStore();
  const namespace = suiteNamespace("matrix-in-place");
  const runs = new Runs(namespace, "orders", 10 * minutes);
  let watched: WatchedDatabase;

  beforeAll(async () => {
    watched = await WatchedDatabase.start(namespace, { backup: await backupTo(reached(), namespace) });
    await watched.database.sql("CREATE TABLE rows AS SELECT n, md5(n::text) FROM generate_series(1, 300000) AS n");
    await runs.backUp("first", "Full");
  }, 20 * minutes);

  afterEach(() => reached().store.fault(undefined));

  /** Of the Job that runs now. */
  async function jobPod(): Promise<string> {
    return await eventually("a Job's Pod runs", minutes, async () => {
      const all = await namespace.list("pods", "--selector=batch.kubernetes.io/job-name", "--field-selector=status.phase!=Succeeded");
      return all.find(({ metadata }) => !metadata.deletionTimestamp)?.metadata.name as string | undefined;
    });
  }

  const killAnInstance = async () => {
    const [pod] = await watched.database.instances();
    await killContainer(localCluster(), await findContainer(namespace, pod ?? ""));
  };

  /** Until it is told: in the SampleDB, which waits, or in the Restore, which has failed. */
  async function storeDies(restore: string): Promise<void> {
    await reached().store.fault("refusing");
    await eventually("it is told", 5 * minutes, async () => {
      const { blockers = [] } = (await watched.database.get()).status ?? {};
      const { completionTime } = (await runs.status("Restore", restore)) ?? {};
      return blockers.some(({ reason }) => reason === "RestoreWaits") || completionTime !== undefined;
    });
    await reached().store.fault(undefined);
  }

  const faults: readonly Fault[] = [
    { what: "the leading operator", in: phases, happens: () => operator.killLeader(), ends: succeeds },
    {
      what: "the Pod of its Job",
      in: ["CuttingOff", "BackingUp", "Restoring"],
      happens: async () => namespace.run("delete", "pod", await jobPod(), "--wait=false"),
      ends: [...succeeds, "RestoreLost", "RecoveryFailed"],
    },
    { what: "an instance", in: ["CuttingOff", "BackingUp", "Starting"], happens: killAnInstance, ends: succeeds },
    {
      what: "the store",
      in: ["BackingUp", "Restoring", "Starting"],
      happens: storeDies,
      ends: [...succeeds, "StoreUnreachable", "ArchiveCutShort"],
    },
    {
      what: "the Restore itself",
      in: phases,
      happens: (restore) => namespace.run("delete", "restore", restore, "--wait=false"),
      ends: ["Gone"],
    },
  ];

  /** Fails where the phase is over before it was seen: then the fault would meet another one. */
  async function reaches(phase: Phase): Promise<void> {
    const seen = await eventually(`the restore is at ${phase}`, 5 * minutes, async () => {
      const now = (await watched.database.get()).status?.restore?.phase;
      return now !== undefined && restorePhases.indexOf(now) >= restorePhases.indexOf(phase) && now;
    });
    expect(seen).toBe(phase);
  }

  async function end(name: string): Promise<string> {
    return await eventually(`Restore ${name} is over`, 10 * minutes, async () => {
      if (!(await namespace.get("restores.sampledb.io", name))) return "Gone";
      return (await runs.status("Restore", name))?.completionTime !== undefined && (await runs.reason("Restore", name));
    });
  }

  describe.each(faults)("with $what killed", ({ what, in: when, happens, ends }) => {
    test.each(when)("when it is at %s", { timeout: 25 * minutes }, async (phase) => {
      const name = `${what.replaceAll(/\W+/g, "-")}-${phase}`.toLowerCase();
      await runs.make("Restore", name, {
        source: { sampleDBName: "orders" },
        destination: { type: "InPlace", sampleDBName: "orders" },
      });
      await reaches(phase);
      await happens(name);
      const reason = await end(name);
      say(`${what}, ${phase}: ${reason}`);
      expect(ends).toContain(reason);
      await eventually("the database goes on", 5 * minutes, async () => (await watched.database.get()).status?.restore === undefined);
      await watched.whole();
      await operator.ready();
      await eventually("nothing of the Job is left", minutes, async () => {
        const found = await Promise.all(["job", "configmap", "secret"].map((kind) => namespace.get(kind, "orders-restore")));
        return found.every((object) => object === undefined);
      });
      // What is made for a restored database is over before the next cell begins.
      await eventually("no Backup runs", 5 * minutes, async () => (await namespace.list("jobs")).length === 0);
    });
  });
});
