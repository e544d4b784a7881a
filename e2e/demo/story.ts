// The story of the demo: a highly available database, rows written to it all the while, and what happens to it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { Refusal, say } from "../../tools/progress.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import type { LocalCluster } from "../cluster/local-cluster.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { Database } from "../database/database.ts";
import { Ledger, lastServer, type Verdict } from "../database/ledger.ts";
import { Operator } from "../database/operator.ts";
import type { Chronicle } from "./chronicle.ts";
import { goBack } from "./going-back.ts";
import { namespaceName } from "./preparation.ts";
import { deleteAndBringBack } from "./undeleting.ts";

interface Stage {
  readonly kubectl: Kubectl;
  /** Absent on the user's own cluster, where no machine is broken. */
  readonly cluster: LocalCluster | undefined;
  readonly chronicle: Chronicle;
}

/** Who plays in it. */
interface Scene {
  readonly kubectl: Kubectl;
  readonly namespace: Kubectl;
  readonly operator: Operator;
  readonly chronicle: Chronicle;
  readonly database: Database;
  readonly ledger: Ledger;
}

export async function tellTheStory({ kubectl, cluster, chronicle }: Stage): Promise<Verdict> {
  const namespace = kubectl.inNamespace(namespaceName);
  const operator = new Operator(kubectl);
  const database = new Database(namespace, "ha");
  const ledger = await chronicle.step("config/samples/sampledb_ha.yaml applied; the first row acknowledged", async () => {
    await namespace.apply(readFileSync(join(projectDirectory, "config/samples/sampledb_ha.yaml"), "utf8"));
    const node = cluster && (await nodeWithoutOperator(operator, cluster));
    return await Ledger.start(namespace, { database: database.name, deadlineMs: 240_000, ...(node ? { node } : {}) });
  });
  chronicle.follow(ledger);
  const scene: Scene = { kubectl, namespace, operator, chronicle, database, ledger };

  await chronicle.step("all three instances Ready", () => database.waitReady());
  if (cluster) await loseNode(scene, cluster);
  else await losePrimary(scene);
  await changeParameter(scene);
  await scale(scene);
  if (cluster) await drainNode(scene);
  else say("left out, because the cluster is yours: a node cut off with operator and primary, a node drained");

  await goBack(scene);
  await deleteAndBringBack(scene);
  const verdict = await ledger.verify();
  await ledger.stop();
  return verdict;
}

/** Rows are written from there: the node that is lost is one with the operator on it. */
async function nodeWithoutOperator({ system }: Operator, { plan }: LocalCluster): Promise<string | undefined> {
  const taken = (await system.list("pods")).map((pod) => pod["spec"].nodeName);
  return plan.nodes.map(({ name }) => name).find((name) => !taken.includes(name));
}

/** The worst place to lose: the primary, and the operator that would look after it. */
async function loseNode(scene: Scene, cluster: LocalCluster): Promise<void> {
  const { operator, chronicle, database, ledger } = scene;
  const { node } = await operator.leader();
  const here = (await database.pods()).find((pod) => pod["spec"].nodeName === node)?.["metadata"].name as string | undefined;
  if (here === undefined) throw new Refusal(`no instance runs on ${node}, where the operator leads`);
  if ((await database.primary()) !== here) {
    await chronicle.step(`switchover to ${here}, beside the leading operator`, async () => {
      await database.switchOver(here);
      await database.waitReady();
      await database.waitHeirs();
    });
  }
  const before = lastServer(await ledger.report());
  try {
    await chronicle.step(`${node} cut off with operator and primary; another instance takes writes`, async () => {
      await cluster.cutNetwork(node);
      await ledger.acknowledges({ rows: 1, deadlineMs: 120_000, otherThan: before });
    });
  } finally {
    await cluster.joinNetwork(node);
  }
  await chronicle.step(`${node} back; operator and database whole again`, () => wholeAgain(scene));
}

/** By asking those whom it is about. What Kubernetes knows of a node that was lost is from before for up to 50 s, and looks well. */
async function wholeAgain({ namespace, operator, database }: Scene): Promise<void> {
  const followers = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'";
  const { replicas } = (await database.get()).spec;
  await eventually("every replica follows the primary", 120_000, async () => {
    const count = await database.sql(followers, { superuser: true }).catch(() => undefined);
    return count === String(replicas - 1);
  });
  await operator.answers();
  await database.waitReady();
  const change = JSON.stringify({ spec: { postgresql: { parameters: { work_mem: "9MB" } } } });
  await eventuallySucceeds("a change is let through by the webhooks", 60_000, () =>
    namespace.run("patch", "sampledb", database.name, "--type=merge", `--patch=${change}`, "--dry-run=server"),
  );
}

async function losePrimary({ namespace, chronicle, database, ledger }: Scene): Promise<void> {
  const primary = await database.primary();
  await chronicle.step(`${primary}, the primary, killed without a warning; whole again`, async () => {
    const before = lastServer(await ledger.report());
    await namespace.run("delete", "pod", primary, "--grace-period=0", "--force");
    await ledger.acknowledges({ rows: 1, deadlineMs: 120_000, otherThan: before });
    await database.waitReady();
  });
}

async function changeParameter({ chronicle, database, ledger }: Scene): Promise<void> {
  const before = lastServer(await ledger.report());
  await chronicle.step("work_mem raised to 8MB: tried first, then reloaded by all", async () => {
    await database.change({ postgresql: { parameters: { work_mem: "8MB" } } });
    await database.waitReady();
    for (const pod of await database.instances()) {
      const value = await database.sql("SHOW work_mem", { pod });
      if (value !== "8MB") throw new Refusal(`work_mem of ${pod} is ${value}`);
    }
  });
  const { address, started } = lastServer(await ledger.report());
  if (address !== before.address || started !== before.started)
    throw new Refusal("the primary was restarted for a parameter that is reloaded");
}

async function scale({ namespace, chronicle, database }: Scene): Promise<void> {
  for (const replicas of [2, 3]) {
    await chronicle.step(`scaled to ${replicas}`, async () => {
      await namespace.run("scale", "sampledb", database.name, `--replicas=${replicas}`);
      await database.waitReady();
    });
  }
}

/** The primary's, so that there is something to see. The ledger has no controller that would start it elsewhere, and stays. */
async function drainNode(scene: Scene): Promise<void> {
  const { kubectl, chronicle, database } = scene;
  const node = await database.nodeOf(await database.primary());
  await chronicle.step(`${node} drained, with the primary on it`, async () => {
    const options = ["--ignore-daemonsets", "--delete-emptydir-data", "--pod-selector=app!=ledger", "--timeout=170s"];
    await kubectl.run("drain", node, ...options, "--request-timeout=0");
  });
  await chronicle.step(`${node} uncordoned; operator and database whole again`, async () => {
    await kubectl.run("uncordon", node);
    await wholeAgain(scene);
  });
}
