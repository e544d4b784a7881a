// make soak: our controller under steady change and regular faults for an hour (SOAK_MINUTES), with its memory plotted. Fails
// when it does not converge, or when what it keeps after collecting its garbage grows.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Refusal, runProgram, say, seconds } from "../../tools/progress.ts";
import { failure } from "../faults/answers.ts";
import { FaultProxy } from "../faults/fault-proxy.ts";
import { Contender } from "./contender.ts";
import { plot } from "./plot.ts";
import { BenchPlane, ourController } from "./widgets.ts";

const minutes = Number(process.env["SOAK_MINUTES"] ?? 60);
const widgetCount = 1000;
const changesPerSecond = 20;
const samples = 60;
/** More than this over the least that was kept in the first third is a leak. */
const mostGrowth = 1.2;
const csv = join(import.meta.dirname, "../../build/soak.csv");

interface Sample {
  readonly second: number;
  readonly rss: number;
  readonly heap: number;
}

await runProgram(async () => {
  if (!(minutes > 0)) throw new Refusal(`SOAK_MINUTES must be a number of minutes, and is ${process.env["SOAK_MINUTES"]}`);
  const bench = await BenchPlane.start();
  const proxy = await FaultProxy.start(bench.plane);
  let controller: Contender | undefined;
  try {
    await bench.make(widgetCount);
    controller = new Contender([...(await ourController()), "--max-concurrent-reconciles", "8"], proxy.kubeconfig);
    await controller.idle({ reconciles: widgetCount, writes: 2 * widgetCount });
    const taken = await soak(bench, proxy, controller);
    await bench.converged();
    report(taken);
  } finally {
    await controller?.stop();
    await proxy.stop();
    await bench.stop();
  }
});

/** Changes all the while; a fault with every tenth sample, each in its turn. */
async function soak(bench: BenchPlane, proxy: FaultProxy, controller: Contender): Promise<Sample[]> {
  const begin = performance.now();
  const length = minutes * 60_000;
  const taken: Sample[] = [];
  const faults: [string, () => Promise<void>][] = [
    ["connections reset", async () => proxy.resetConnections()],
    ["API server killed and started", () => bench.restart("kube-apiserver")],
    ["watches too old", async () => void proxy.answer({ verb: "watch" }, failure(410), 4)],
    ["etcd killed and started", () => bench.restart("etcd")],
  ];
  let changes = 0;
  say(`${minutes} minutes of change, with a fault six times on the way`);
  while (performance.now() - begin < length) {
    const next = begin + (length / samples) * (taken.length + 1);
    while (performance.now() < next) {
      await bench.change(changes++ % widgetCount).catch(() => undefined); // a fault is under way: the next one may do
      await sleep(1000 / changesPerSecond);
    }
    const { collected } = await controller.stats();
    taken.push({ second: (performance.now() - begin) / 1000, rss: collected.rssBytes, heap: collected.heapBytes });
    const [name, fault] = faults[Math.floor(taken.length / 10) % faults.length] ?? ["", async () => {}];
    if (taken.length % 10 !== 0) continue;
    say(`${seconds(performance.now() - begin)}: ${changes} changes, ${(collected.rssBytes / 1e6).toFixed(0)} MB; ${name}`);
    await fault();
  }
  return taken;
}

function report(taken: readonly Sample[]): void {
  mkdirSync(dirname(csv), { recursive: true });
  writeFileSync(csv, `second,rss,heap\n${taken.map(({ second, rss, heap }) => `${second.toFixed(0)},${rss},${heap}\n`).join("")}`);
  const megabytes = (values: readonly number[]) => values.map((value) => value / 1e6);
  process.stdout.write(plot("resident memory, MB", megabytes(taken.map(({ rss }) => rss))));
  process.stdout.write(plot("heap after collection, MB", megabytes(taken.map(({ heap }) => heap))));
  const third = Math.floor(taken.length / 3);
  const least = (part: readonly Sample[]) => Math.min(...part.map(({ heap }) => heap));
  const growth = least(taken.slice(-third)) / least(taken.slice(0, third));
  process.stdout.write(`heap of the last third against the first: ${growth.toFixed(2)} (at most ${mostGrowth})\n`);
  if (growth > mostGrowth) throw new Refusal(`the heap grew by ${((growth - 1) * 100).toFixed(0)} %: ${csv} has the samples`);
}
