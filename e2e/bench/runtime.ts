// make bench-runtime: our runtime beside controller-runtime, doing the same work on a real API server in the same run.
import { setTimeout as sleep } from "node:timers/promises";
import { benchQueue } from "../../runtime/queue/queue-bench.ts";
import { runProgram, say, step } from "../../tools/progress.ts";
import { Contender, type Latency } from "./contender.ts";
import { peerProgram, peerVersion } from "./peer.ts";
import { BenchPlane, ourController } from "./widgets.ts";

const count = Number(process.env["WIDGETS"] ?? 10_000);
const concurrency = Number(process.env["CONCURRENCY"] ?? 16);
const changes = 500;
const pauseMilliseconds = 20;

interface Measured {
  readonly applied: number;
  readonly writes: number;
  readonly restart: number;
  readonly restartWrites: number;
  readonly rss: number;
  readonly rssCollected: number;
  readonly latency: Latency;
  readonly lagP99: number;
  readonly lagMax: number;
}

await runProgram(async () => {
  const ours = await measured("ours", await ourController());
  const peer = await measured(`controller-runtime ${peerVersion}`, [await peerProgram()]);
  report(ours, peer, await benchQueue());
});

/** Each has a control plane of its own, fresh, so that neither meets what the other left in it. */
async function measured(name: string, command: readonly [string, ...string[]]): Promise<Measured> {
  const bench = await BenchPlane.start();
  const start = (...flags: string[]) =>
    new Contender([...command, "--max-concurrent-reconciles", String(concurrency), ...flags], bench.plane.kubeconfig);
  let contender: Contender | undefined;
  try {
    await step(`making ${count} widgets for ${name}`, () => bench.make(count));
    contender = start();
    const applied = await contender.idle({ reconciles: count, writes: 2 * count });
    const first = contender.synced;
    const { asIs, collected } = await contender.stats();
    await contender.stop();
    say(`${name}: ${count} applied in ${applied.ms.toFixed(0)} ms with ${applied.writes} writes`);

    contender = start("--latency");
    const restart = await contender.idle({ reconciles: count });
    const second = contender.synced;
    say(`${name}: restart over the converged set in ${restart.ms.toFixed(0)} ms with ${restart.writes} writes`);
    for (let index = 0; index < changes; index++) {
      await bench.change(index % count);
      await sleep(pauseMilliseconds); // as fast as possible, the API server's queue would be measured
    }
    await contender.idle({ reconciles: restart.total + changes });
    const { latency } = await contender.stats();
    if (!latency) throw new Error(`${name} measured no latency`);
    return {
      applied: applied.ms,
      writes: applied.writes,
      restart: restart.ms,
      restartWrites: restart.writes,
      rss: asIs.rssBytes,
      rssCollected: collected.rssBytes,
      latency,
      lagP99: Math.max(first?.loopLagP99 ?? 0, second?.loopLagP99 ?? 0),
      lagMax: Math.max(first?.loopLagMax ?? 0, second?.loopLagMax ?? 0),
    };
  } finally {
    await contender?.stop();
    await bench.stop();
  }
}

type QueueRate = Awaited<ReturnType<typeof benchQueue>>;

function report(ours: Measured, peer: Measured, queue: QueueRate): void {
  const mega = (bytes: number) => bytes / 1e6;
  const rows: [string, number, number, string, string][] = [
    ["start to all applied", ours.applied, peer.applied, "ms", "at most 1.5 times"],
    ["writes for it", ours.writes, peer.writes, "", `${2 * count} are needed`],
    ["restart, converged", ours.restart, peer.restart, "ms", "at most 1.5 times"],
    ["writes at restart", ours.restartWrites, peer.restartWrites, "", "none"],
    ["memory at rest", mega(ours.rss), mega(peer.rss), "MB", "at most 2 times, and 160 MB"],
    ["memory, collected", mega(ours.rssCollected), mega(peer.rssCollected), "MB", ""],
    ["change to reconcile p50", ours.latency.p50, peer.latency.p50, "ms", ""],
    ["change to reconcile p99", ours.latency.p99, peer.latency.p99, "ms", "at most 10 ms"],
  ];
  const out = (text: string) => process.stdout.write(`${text}\n`);
  out(`${count} widgets, ${concurrency} at a time`);
  out(`${"".padEnd(26)}${"ours".padStart(10)}${"peer".padStart(10)}${"ratio".padStart(8)}   wanted`);
  for (const [what, mine, theirs, unit, wanted] of rows) {
    const ratio = theirs > 0 ? (mine / theirs).toFixed(2) : "";
    const label = unit === "" ? what : `${what}, ${unit}`;
    out(`${label.padEnd(26)}${round(mine).padStart(10)}${round(theirs).padStart(10)}${ratio.padStart(8)}   ${wanted}`);
  }
  out(`event loop lag p99 until synced: ${round(ours.lagP99)} ms (at most 20), longest ${round(ours.lagMax)} ms`);
  const rate = (perSecond: number) => Math.round(perSecond).toLocaleString("en");
  out(`queue: ${rate(queue.keysPerSecond)} keys/s (500,000 or more); ${rate(queue.keysPerSecondInOneBurst)} when a million come at once`);
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
