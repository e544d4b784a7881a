// make bench-database: how fast a database is made, and how long its writes stand still, beside the same objects applied by hand in
// the same run; then what the operator costs at rest. BENCH_PARTS names parts of it: provisioning, outages, rest.
import { Refusal, runProgram, say, step } from "../../tools/progress.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import type { LocalCluster } from "../cluster/local-cluster.ts";
import { Operator } from "../database/operator.ts";
import { deleteNamespace, makeNamespace, withCluster } from "./bench-cluster.ts";
import { byHand } from "./by-hand.ts";
import { type Figure, median, printFigures } from "./figures.ts";
import { Contender, nodeOutages, outage } from "./outages.ts";
import { asynchronous, type Provisioned, provision, remove, synchronous } from "./provisioning.ts";
import { atRest } from "./rest.ts";

const parts = ["provisioning", "outages", "rest"];
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3);

await runProgram(async () => {
  const chosen = process.env["BENCH_PARTS"]?.split(",") ?? parts;
  const unknown = chosen.filter((part) => !parts.includes(part));
  if (unknown.length > 0) throw new Refusal(`BENCH_PARTS has no ${unknown.join(", ")}: there are ${parts.join(", ")}`);
  if (chosen.includes("provisioning") || chosen.includes("outages")) {
    await withCluster(async (kubectl, local) => {
      const operator = new Operator(kubectl);
      await step("the operator", () => operator.make("deploy").then(() => operator.ready()));
      if (chosen.includes("provisioning")) printFigures("From manifest to service", await provisioning(kubectl));
      if (chosen.includes("outages")) printFigures("Writes stand still", await outages(kubectl, local, operator));
      await operator.make("undeploy");
    });
  }
  if (chosen.includes("rest")) printFigures("At rest, on kwok's nodes", await atRest());
});

async function provisioning(kubectl: Kubectl): Promise<Figure[]> {
  return [...(await provisioningOf(kubectl, "", asynchronous)), ...(await provisioningOf(kubectl, " (Required)", synchronous))];
}

/** In turn, so that a machine that gets slower does so for both. */
async function provisioningOf(kubectl: Kubectl, kind: string, database: typeof synchronous): Promise<Figure[]> {
  const measured: { operator: Provisioned[]; hand: Provisioned[] } = { operator: [], hand: [] };
  for (let round = 0; round < rounds; round++) {
    for (const who of ["hand", "operator"] as const) {
      const provisioned = await provision(kubectl, who, database);
      measured[who].push(provisioned);
      say(`${who}${kind}: first SQL after ${provisioned.firstSql.toFixed(1)} s, three ready after ${provisioned.threeReady.toFixed(1)} s`);
    }
  }
  const figure = (what: string, of: (provisioned: Provisioned) => number): Figure => ({
    ...{ what: `${what}${kind}`, unit: "s" },
    ours: median(measured.operator.map(of)),
    peer: median(measured.hand.map(of)),
    wanted: { mostTimesPeer: 1.2 },
  });
  return [figure("apply to first SQL", ({ firstSql }) => firstSql), figure("apply to three ready", ({ threeReady }) => threeReady)];
}

async function outages(kubectl: Kubectl, local: LocalCluster | undefined, operator: Operator): Promise<Figure[]> {
  const names = { operator: "bench-outages", hand: "bench-outages-hand" };
  const { name } = synchronous.metadata;
  const [ledgerNode = ""] = await freeNodes(kubectl, (await operator.leader()).node);
  const start = async (who: "operator" | "hand") => {
    const here = await makeNamespace(kubectl, names[who]);
    await here.apply(who === "operator" ? JSON.stringify(synchronous) : await byHand(synchronous, names[who], "final"));
    return await Contender.start(who, here, name, ledgerNode);
  };
  const ours = await start("operator");
  const peer = await start("hand");
  const figures: Figure[] = [];
  const both = async (what: string, most: number, fault: (contender: Contender) => Promise<void>) => {
    const [mine, theirs] = [await outage(ours, what, fault), await outage(peer, what, fault)];
    figures.push({ what, unit: "s", ours: mine, peer: theirs, wanted: { most } });
  };

  await both("Pod of the primary deleted", 5, (contender) => contender.deletePrimary());
  if (local) {
    const victims = await Promise.all([ours, peer].map(async (contender) => [contender, await contender.database.primary()] as const));
    await both("its processes killed", 5, (contender) => contender.killPrimary(local));
    for (const [contender, victim] of victims) await contender.switchTo(victim);
    await both("its processes killed again", 5, (contender) => contender.killPrimary(local));
  }
  await both("switchover by annotation", 3, async (contender) => contender.switchTo(await contender.database.someReplica()));
  figures.push(await rollingChange(ours));
  if (local) {
    const nodes = await freeNodes(kubectl, ledgerNode);
    const led = await leadFrom(operator, nodes);
    for (const [what, node] of [
      ["node of the primary lost", nodes.find((other) => other !== led)],
      ["node of primary and operator lost", led],
    ] as const) {
      if (node === undefined) continue;
      const [mine, theirs] = await nodeOutages(local, [ours, peer], node);
      say(`${what}: ${mine?.toFixed(1)} s without writes, by hand ${theirs?.toFixed(1)} s`);
      figures.push({ what, unit: "s", ours: mine, peer: theirs, wanted: { most: 30 } });
      await operator.ready();
    }
  }
  figures.push({ what: "acknowledged rows lost", unit: "", ours: await ours.lost(), peer: await peer.lost(), wanted: { most: 0 } });
  for (const who of ["operator", "hand"] as const) {
    await remove(kubectl.inNamespace(names[who]), who);
    await deleteNamespace(kubectl, names[who]);
  }
  return figures;
}

/** Every Pod is made anew: one after the other, with a switchover. Nobody does that for the peer. */
async function rollingChange(ours: Contender): Promise<Figure> {
  const before = await ours.report();
  await ours.database.change({ podMetadata: { annotations: { "example.com/changed": "yes" } } });
  await ours.database.waitReady(600_000);
  await ours.whole();
  const longest = await ours.longestSince(before);
  say(`operator: a rolling change: ${longest.toFixed(2)} s without writes at most`);
  return { what: "switchover of a rolling change", unit: "s", ours: longest, wanted: { most: 3 } };
}

async function freeNodes(kubectl: Kubectl, taken: string): Promise<string[]> {
  const open = (await kubectl.list("nodes")).filter(
    ({ spec }) => !spec.taints?.some(({ effect }: { effect: string }) => effect !== "PreferNoSchedule"),
  );
  return open.map(({ metadata }) => metadata.name as string).filter((name) => name !== taken);
}

/** Has an operator on one of these nodes lead, and says on which. */
async function leadFrom(operator: Operator, nodes: readonly string[]): Promise<string | undefined> {
  const { name, node } = await operator.leader();
  if (nodes.includes(node)) return node;
  await operator.system.run("delete", "pod", name);
  await operator.ready();
  const next = await operator.leader();
  return nodes.includes(next.node) ? next.node : undefined;
}
