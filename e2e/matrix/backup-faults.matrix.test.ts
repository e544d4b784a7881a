// Each part of a backup killed at each of its steps: the Backup says what happened, the next one succeeds, and nothing is doubled or left over.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { say } from "../../tools/progress.ts";
import { Archive } from "../database/archive.ts";
import { findContainer, killContainer } from "../database/faults.ts";
import { type Over, Runs } from "../database/runs.ts";
import { deployedOperator, operator } from "../suites/deployed-operator.ts";
import { backupTo, suiteStore } from "../suites/suite-store.ts";
import { isLocal, localCluster, suiteNamespace } from "../suites/test-cluster.ts";
import { WatchedDatabase } from "../suites/watched-database.ts";

const minutes = 60_000;
const job = "orders-backup";
/** The words of the Job's program when it begins a step. */
const steps = ["Preparing", "Copying", "Verifying"] as const;
/** pgBackRest looks for its instances first, and goes on without a replica that is not there. A copy takes four times as long as this. */
const intoCopyMs = 5000;
type Step = (typeof steps)[number];

interface Fault {
  readonly what: string;
  readonly happens: () => Promise<unknown>;
  /** The reasons that the Backup may give in the end, by the step at which it happened. */
  readonly ends: Readonly<Record<Step, readonly string[]>>;
}

const succeeds = ["BackupSucceeded"];

describe.runIf(isLocal)("a backup", () => {
  deployedOperator();
  const reached = suiteStore();
  const namespace = suiteNamespace("matrix-backup");
  const runs = new Runs(namespace, "orders", 8 * minutes);
  let watched: WatchedDatabase;
  let archive: Archive;
  /** The Backups of all cells so far that have succeeded. */
  const labels: string[] = [];

  beforeAll(async () => {
    watched = await WatchedDatabase.start(namespace, { backup: await backupTo(reached(), namespace) });
    archive = new Archive(namespace, watched.database);
    // Through a slow store, a copy of it takes a quarter of a minute.
    await watched.database.sql("CREATE TABLE rows AS SELECT n, md5(n::text) FROM generate_series(1, 1000000) AS n");
    await archive.complete({ begin: 1, deadlineMs: 5 * minutes });
  }, 20 * minutes);

  afterEach(() => reached().store.fault(undefined));

  const killPostgres = async (pod: string) => killContainer(localCluster(), await findContainer(namespace, pod));
  const remove = (pod: string) => namespace.run("delete", "pod", pod, "--wait=false");

  async function jobPod(): Promise<string> {
    const [pod] = await namespace.list("pods", `--selector=batch.kubernetes.io/job-name=${job}`);
    if (!pod) throw new Error("the Job has no Pod");
    return pod["metadata"].name as string;
  }

  /** As the Pod's configuration has it. */
  async function copied(): Promise<string> {
    const run = JSON.parse((await namespace.get("configmap", job))?.["data"]["run.json"]);
    const { host } = run.instances.find(({ primary }: { primary: boolean }) => !primary);
    return (host as string).replace(/\..*/, "");
  }

  const faults: readonly Fault[] = [
    {
      what: "the leading operator",
      happens: () => operator.killLeader(),
      ends: { Preparing: succeeds, Copying: succeeds, Verifying: succeeds },
    },
    {
      what: "its Pod, with a word",
      happens: async () => remove(await jobPod()),
      ends: { Preparing: ["Interrupted"], Copying: ["Interrupted"], Verifying: succeeds },
    },
    {
      what: "its Pod, without a word",
      happens: async () => killContainer(localCluster(), await findContainer(namespace, await jobPod(), "backup")),
      ends: { Preparing: ["Interrupted"], Copying: ["Interrupted"], Verifying: succeeds },
    },
    {
      what: "the primary's PostgreSQL",
      happens: async () => killPostgres(await watched.database.primary()),
      // It is back, or has a successor, before the program asks for it, or after that.
      ends: { Preparing: [...succeeds, "InstanceUnreachable"], Copying: ["InstanceUnreachable"], Verifying: succeeds },
    },
    {
      what: "the replica that is copied",
      happens: async () => remove(await copied()),
      ends: { Preparing: [...succeeds, "InstanceUnreachable"], Copying: ["InstanceUnreachable"], Verifying: succeeds },
    },
    {
      what: "the repository's Pod",
      happens: async () => remove(await archive.pod()),
      ends: { Preparing: succeeds, Copying: succeeds, Verifying: succeeds },
    },
    {
      what: "the store",
      happens: () => reached().store.fault("refusing"),
      ends: { Preparing: ["StoreUnreachable"], Copying: ["StoreUnreachable"], Verifying: ["StoreUnreachable"] },
    },
  ];

  async function reaches(step: Step): Promise<void> {
    await eventually(`the backup is ${step}`, 3 * minutes, async () => {
      const said = await namespace.run("logs", `job/${job}`).catch(() => "");
      return said.split("\n").includes(step);
    });
    if (step === "Copying") await sleep(intoCopyMs);
  }

  /** The repository has the backups that say so, each once, and nothing of any run is left in Kubernetes. */
  async function tidy(): Promise<void> {
    const stanza = await archive.stanza();
    const [told] = JSON.parse(await archive.pgbackrest("info", `--stanza=${stanza}`, "--output=json"));
    const verified = told.backup.filter(({ annotation }: { annotation?: object }) => "sampledb-verified" in (annotation ?? {}));
    expect(verified.map(({ label }: { label: string }) => label).sort()).toEqual([...labels].sort());
    await eventually("nothing of the Job is left", minutes, async () => {
      const found = await Promise.all(["job", "configmap", "secret"].map((kind) => namespace.get(kind, job)));
      const pods = await namespace.list("pods", `--selector=batch.kubernetes.io/job-name=${job}`);
      return found.every((object) => object === undefined) && pods.length === 0;
    });
  }

  function note({ succeeded, label }: Over<"Backup">): void {
    if (succeeded && label) labels.push(label);
  }

  describe.each(faults)("with $what killed", ({ what, happens, ends }) => {
    test.each(steps)("when it is %s", { timeout: 20 * minutes }, async (step) => {
      const name = `${what.replaceAll(/\W+/g, "-")}-${step}`.toLowerCase();
      await reached().store.fault("slow");
      await runs.make("Backup", name, { sampleDBName: "orders", type: "Full" });
      await reaches(step);
      await happens();
      const end = await runs.over("Backup", name);
      say(`${what}, ${step}: ${end.reason}: ${end.message}`);
      await reached().store.fault(undefined);
      note(end);
      expect(ends[step]).toContain(end.reason);
      await watched.whole();
      await operator.ready();
      note(await runs.backUp(`${name}-next`, "Incremental"));
      await tidy();
    });
  });
});
