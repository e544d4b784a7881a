// Each part of a restore into a new SampleDB killed at each of its steps, and the Restore deleted: it gives every row back, or says what happened
// and leaves nothing under the name. Then the next Restore to that name works. The source notices nothing of it.
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { say } from "../../tools/progress.ts";
import { findContainer, killContainer, runningContainers } from "../database/faults.ts";
import { deployedOperator, operator } from "../suites/deployed-operator.ts";
import { backupTo, suiteStore } from "../suites/suite-store.ts";
import { isLocal, localCluster, nodeReady, schedulableNodes, suiteNamespace, withoutNetwork } from "../suites/test-cluster.ts";
import { Census } from "./census.ts";
import { RestoreSource } from "./restore-source.ts";

const minutes = 60_000;
const job = "copy-restore";
/** The words of the Job's program when it begins a step, with the container that says so; in the last step the new SampleDB starts. */
const containers = { Preparing: "recover", Copying: "recover", Recovering: "recover", Cleaning: "restore" } as const;
const steps = [...(Object.keys(containers) as (keyof typeof containers)[]), "Starting"] as const;
type Step = (typeof steps)[number];

interface Fault {
  readonly what: string;
  readonly happens: (restore: string, step: Step) => Promise<unknown>;
  /** The reasons that the Restore may give in the end, by the step at which it happens. `Gone`: it was deleted. */
  readonly ends: Partial<Readonly<Record<Step, readonly string[]>>>;
}

const succeeds = ["RestoreSucceeded"];
const isLost = {
  Preparing: ["RestoreLost"],
  Copying: ["RestoreLost"],
  Recovering: ["RestoreLost"],
  Cleaning: [...succeeds, "RestoreLost"],
};

describe.runIf(isLocal)("a restore into a new SampleDB", () => {
  deployedOperator();
  const reached = suiteStore();
  const namespace = suiteNamespace("matrix-restore");
  let source: RestoreSource;
  let census: Census;
  let node: string;

  beforeAll(async () => {
    const [first = "", second = "", third = ""] = await schedulableNodes();
    node = third;
    source = await RestoreSource.start(namespace, await backupTo(reached(), namespace), { source: [first, second], copy: third });
    census = await Census.start(namespace.kubeconfig, namespace.namespace ?? "", "copy");
    return () => census.stop();
  }, 20 * minutes);

  beforeEach(() => census.reset());
  afterEach(async () => {
    await reached().store.fault(undefined);
    await source.removeCopy();
  });

  async function jobPod(): Promise<string> {
    const [pod] = await namespace.list("pods", `--selector=batch.kubernetes.io/job-name=${job}`);
    if (!pod) throw new Error("the Job has no Pod");
    return pod["metadata"].name as string;
  }

  const isOver = async (restore: string) => (await source.runs.status("Restore", restore))?.completionTime !== undefined;

  /** Until it is told: the Restore has failed, or waits for an instance on a node that is known to be lost. */
  async function nodeIsLost(restore: string): Promise<void> {
    await withoutNetwork(node, () =>
      eventually("it is told", 5 * minutes, async () => {
        if (await isOver(restore)) return true;
        return !(await nodeReady(node)) && (await source.runs.reason("Restore", restore)) === "Starting";
      }),
    );
  }

  const faults: readonly Fault[] = [
    {
      what: "the leading operator killed",
      happens: () => operator.killLeader(),
      ends: { Preparing: succeeds, Copying: succeeds, Recovering: succeeds, Cleaning: succeeds, Starting: succeeds },
    },
    {
      what: "its Pod told to end",
      happens: async () => namespace.run("delete", "pod", await jobPod(), "--wait=false"),
      ends: isLost,
    },
    {
      what: "its Pod killed without a word",
      happens: async (_, step) => {
        if (step === "Starting") return;
        const killed = killContainer(localCluster(), await findContainer(namespace, await jobPod(), containers[step]));
        // Cleaning takes two seconds, and may be over by now. Then the Restore has to succeed.
        await killed.catch((error: Error) => (step === "Cleaning" ? say(`too late: ${error.message}`) : Promise.reject(error)));
      },
      ends: isLost,
    },
    {
      what: "the repository's Pod killed", // which a restore from a bucket does not need
      happens: async () => namespace.run("delete", "pod", await source.archive.pod(), "--wait=false"),
      ends: { Preparing: succeeds, Copying: succeeds, Recovering: succeeds, Cleaning: succeeds },
    },
    {
      what: "the store away",
      happens: () => reached().store.fault("refusing"),
      ends: {
        Preparing: ["StoreUnreachable"],
        Copying: ["StoreUnreachable"],
        Recovering: ["ArchiveCutShort"],
        Cleaning: succeeds,
        Starting: succeeds,
      },
    },
    { what: "its node lost", happens: nodeIsLost, ends: { ...isLost, Starting: succeeds } },
    {
      what: "the Restore deleted",
      happens: (restore) => namespace.run("delete", "restore", restore, "--wait=false"),
      ends: { Preparing: ["Gone"], Copying: ["Gone"], Recovering: ["Gone"], Cleaning: ["Gone"], Starting: ["Gone"] },
    },
  ];

  /** What the message has to name. */
  const named: Readonly<Record<string, RegExp>> = {
    RestoreSucceeded: /^it serves; [0-9A-F]+\/[0-9A-F]+ was reached/,
    RestoreLost: /Pod/,
    StoreUnreachable: /s3\./,
    ArchiveCutShort: /^[0-9A-F]{24} could not be read: .*s3\./,
    Gone: /^$/,
  };

  async function reaches(restore: string, step: Step): Promise<void> {
    await eventually(`the restore is ${step}`, 4 * minutes, async () => {
      if (step === "Starting") return (await source.runs.reason("Restore", restore)) === step;
      const said = await namespace.run("logs", `job/${job}`, `--container=${containers[step]}`).catch(() => "");
      return said.split("\n").includes(step);
    });
  }

  async function begin(restore: string, step: Step): Promise<void> {
    await reached().store.fault("slow");
    await source.restore(restore);
    await reaches(restore, step);
  }

  async function endOf(restore: string): Promise<{ readonly reason: string; readonly message: string }> {
    return await eventually(`Restore ${restore} is over`, 8 * minutes, async () => {
      if (!(await namespace.get("restores.sampledb.io", restore))) return { reason: "Gone", message: "" };
      return (await isOver(restore)) && (await source.runs.over("Restore", restore));
    });
  }

  /** Of a Restore that is deleted, the SampleDB stays once it is made. */
  async function isTheirs(reason: string, step: Step): Promise<boolean> {
    const mayBeMade = reason === "Gone" && (step === "Cleaning" || step === "Starting");
    return mayBeMade && (await namespace.get("sampledbs.sampledb.io", "copy")) !== undefined;
  }

  /** Every row is there, once; what was made was made once; and the first Backup is good where the store was there for it. */
  async function good(mayLackBackup = false): Promise<void> {
    await source.isCopied();
    const once = { created: 1, deleted: 1 };
    const births = { [`Job ${job}`]: once, [`Pod ${job}`]: once, "PersistentVolumeClaim data-copy-0": { created: 1, deleted: 0 } };
    await eventuallySucceeds("its Job is gone", minutes, async () => expect(census.births()).toMatchObject(births));
    const all = await namespace.list("backups.sampledb.io");
    const ofCopy = all.filter(({ spec }) => spec.sampleDBName === "copy").map(({ metadata }) => metadata.name as string);
    expect(ofCopy).toHaveLength(1);
    const { succeeded, reason, message } = await source.runs.over("Backup", ofCopy[0] ?? "");
    if (!succeeded) say(`its first Backup: ${reason}: ${message}`);
    expect(succeeded || mayLackBackup).toBe(true);
  }

  /** Nothing is left, and the next Restore to the same name gives every row back. */
  async function worksNext(restore: string): Promise<void> {
    await source.nothingIsLeft();
    census.reset();
    await source.restore(`${restore}-next`);
    await source.runs.succeeds("Restore", `${restore}-next`);
    await good();
  }

  describe.each(faults)("with $what", ({ what, happens, ends }) => {
    test.each(Object.keys(ends) as Step[])("when it is %s", { timeout: 20 * minutes }, async (step) => {
      const name = `${what.replaceAll(/\W+/g, "-")}-${step}`.toLowerCase();
      await begin(name, step);
      await happens(name, step);
      const { reason, message } = await endOf(name);
      say(`${what}, ${step}: ${reason}: ${message}`);
      await reached().store.fault(undefined);
      expect(ends[step]).toContain(reason);
      expect(message).toMatch(named[reason] ?? /^$/);
      await (reason === "RestoreSucceeded" || (await isTheirs(reason, step)) ? good(what === "the store away") : worksNext(name));
      await operator.answers();
      await source.isUntouched();
    });
  });

  test("with every PostgreSQL of its source killed", { timeout: 20 * minutes }, async () => {
    await begin("source-killed", "Copying");
    for (const container of await runningContainers(namespace, await source.database.instances()))
      await killContainer(localCluster(), container);
    await source.runs.succeeds("Restore", "source-killed");
    await reached().store.fault(undefined);
    await good();
    await source.isWhole();
  });

  test("with another Restore to the same name at each of its steps: the others are refused", { timeout: 20 * minutes }, async () => {
    await reached().store.fault("slow");
    await source.restore("rival");
    for (const step of steps) {
      await reaches("rival", step);
      const other = `rival-${step.toLowerCase()}`;
      await source.restore(other);
      const { reason, message } = await source.runs.over("Restore", other);
      expect({ reason, message }).toEqual({
        reason: "DestinationTaken",
        message: expect.stringMatching(/Restore rival makes SampleDB copy already|SampleDB copy is there already/),
      });
    }
    await reached().store.fault(undefined);
    await source.runs.succeeds("Restore", "rival");
    await good();
    await source.isUntouched();
  });
});
