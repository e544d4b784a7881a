// What the operator costs with a thousand databases (DATABASES, REPLICAS) once all of them are as they should be.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type SampleDB, sampledbs } from "../../controllers/kinds/sampledb-io.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { eventually } from "../../tools/eventually.ts";
import { say, step } from "../../tools/progress.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { sampleDB, whyNotReady } from "../database/database.ts";
import { costBetween, OperatorProcess } from "../replay/operator-process.ts";
import { ReplayedPlane } from "../replay/replayed-plane.ts";
import { type Figure, median } from "./figures.ts";

const count = Number(process.env["DATABASES"] ?? 1000);
const replicas = Number(process.env["REPLICAS"] ?? 1);
const workers = 8;
const watchedSeconds = 60;
const loopSeconds = 5;
const touches = Math.min(500, count); // each once: two at the same moment are one reconcile
const rounds = 5; // the first has code that was never run before, and any may have a great collection of garbage

export async function atRest(): Promise<Figure[]> {
  const replayed = await ReplayedPlane.start();
  let operator: OperatorProcess | undefined;
  try {
    const { plane, client } = replayed;
    await plane.kubectl("apply", "--server-side", "--kustomize", join(projectDirectory, "config/crd"));
    await plane.kubectl("create", "namespace", "sampledb-system");
    operator = await OperatorProcess.start(plane.kubeconfig, join(projectDirectory, "build/logs/bench-operator.log"));
    const begin = performance.now();
    await step(`${count} databases of ${replicas}`, () => make(client));
    await step("all of them Ready", () => converged(client));
    const seconds = (performance.now() - begin) / 1000;
    await step("the operator at rest", () => resting(operator as OperatorProcess));
    return [
      { what: `${count} databases Ready`, unit: "s", ours: seconds },
      ...(await noise(replayed, operator)),
      ...(await noOp(client, operator)),
    ];
  } finally {
    await operator?.kill("SIGTERM");
    await replayed.stop();
  }
}

async function make(client: KubeClient): Promise<void> {
  await forEach(count, async (index) => {
    const manifest = sampleDB({ name: nameOf(index), replicas });
    const metadata = { ...manifest.metadata, namespace: "default" };
    await client.create(sampledbs, { ...manifest, metadata } as SampleDB);
  });
}

/** Some at once. */
async function forEach(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

async function converged(client: KubeClient): Promise<void> {
  await eventually(`${count} databases are Ready`, 1_800_000, async () => {
    await sleep(5000); // a list of all is work for the API server that is measured here
    let ready = 0;
    for await (const { items } of client.pages(sampledbs)) ready += items.filter((db) => whyNotReady(db) === undefined).length;
    if (ready < count) say(`${ready} of ${count} are Ready`);
    return ready === count;
  });
}

/** Nothing was asked and nothing written for 15 s. */
async function resting(operator: OperatorProcess): Promise<void> {
  let last = await operator.cost();
  await eventually("the operator has nothing to do", 300_000, async () => {
    await sleep(15_000);
    const now = await operator.cost();
    const { writes, reads, reconciles } = costBetween(last, now);
    last = now;
    return writes + reads + reconciles === 0;
  });
}

/** Patroni's loops go on: what they write concerns nobody. */
async function noise(replayed: ReplayedPlane, operator: OperatorProcess): Promise<Figure[]> {
  const end = new AbortController();
  const looping = replayed.loop(loopSeconds, end.signal);
  const before = await operator.cost();
  await step(`${watchedSeconds} s of Patroni's loops`, () => sleep(watchedSeconds * 1000));
  const { writes, reads, reconciles, cpuSeconds } = costBetween(before, await operator.cost());
  end.abort();
  const written = await looping;
  return [
    { what: "memory of the operator", unit: "MB", ours: operator.residentMegabytes, wanted: { most: 200 } },
    {
      what: `writes in ${watchedSeconds} s, with ${Math.round(written / watchedSeconds)} a second of Patroni's`,
      unit: "",
      ours: writes,
      wanted: { most: 0 },
    },
    { what: "reads meanwhile", unit: "", ours: reads },
    { what: "reconciles meanwhile", unit: "", ours: reconciles },
    { what: "CPU meanwhile", unit: "% of a core", ours: (cpuSeconds / watchedSeconds) * 100 },
  ];
}

/** Uses next to nothing for a second. It is not asked for its figures meanwhile: telling those of a thousand databases is work too. */
async function idle(operator: OperatorProcess): Promise<void> {
  await eventually("the operator is idle", 60_000, async () => {
    const before = operator.cpuSeconds;
    await sleep(1000);
    return operator.cpuSeconds - before <= 0.05;
  });
}

/** Of CPU in a second, with nothing to do: its lease, its clocks. */
async function atIdle(operator: OperatorProcess): Promise<number> {
  const before = operator.cpuSeconds;
  await sleep(10_000);
  return (operator.cpuSeconds - before) / 10;
}

/** A reconcile that finds everything as it should be: each database is touched once, and what it costs to notice counts as well. */
async function noOp(client: KubeClient, operator: OperatorProcess): Promise<Figure[]> {
  await idle(operator);
  const ofItself = await atIdle(operator);
  const before = await operator.cost();
  const milliseconds: number[] = [];
  for (let round = 0; round < rounds; round++) milliseconds.push(await touchAll(client, operator, `${round}`, ofItself));
  const { reconciles, reads, writes } = costBetween(before, await operator.cost());
  if (reconciles < rounds * touches) throw new Error(`${rounds * touches} databases were touched, and ${reconciles} were looked at`);
  say(`a reconcile took ${milliseconds.map((one) => one.toFixed(2)).join(", ")} ms of CPU`);
  return [
    { what: "CPU of a no-op reconcile", unit: "ms", ours: median(milliseconds), wanted: { most: 1 } },
    { what: `requests of ${reconciles} no-op reconciles`, unit: "", ours: reads + writes, wanted: { most: 0 } },
  ];
}

/** CPU for each, in milliseconds, without what the operator uses of itself. */
async function touchAll(client: KubeClient, operator: OperatorProcess, value: string, ofItself: number): Promise<number> {
  await idle(operator);
  const [begin, began] = [operator.cpuSeconds, performance.now()];
  const metadata = { annotations: { "bench.example.com/touched": value } };
  await forEach(touches, async (index) => {
    await client.mergePatch(sampledbs, { namespace: "default", name: nameOf(index) }, { metadata });
  });
  await idle(operator);
  return ((operator.cpuSeconds - begin) * 1000 - ofItself * (performance.now() - began)) / touches;
}

function nameOf(index: number): string {
  return `db-${index}`;
}
