// A thousand databases (DATABASES, REPLICAS) on kwok's nodes with an operator, and what that costs once all of them are as they should be.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type SampleDB, sampledbs } from "../../controllers/kinds/sampledb-io.ts";
import { eventually } from "../../tools/eventually.ts";
import { say, step } from "../../tools/progress.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { sampleDB, whyNotReady } from "../database/database.ts";
import { costBetween, OperatorProcess } from "../replay/operator-process.ts";
import { ReplayedPlane } from "../replay/replayed-plane.ts";
import { type Figure, median } from "./figures.ts";

export const count = Number(process.env["DATABASES"] ?? 1000);
const replicas = Number(process.env["REPLICAS"] ?? 1);
const workers = 8;
const watchedSeconds = 60;
const loopSeconds = 5;
const touches = Math.min(500, count); // each once: two at the same moment are one reconcile
const rounds = 5; // the first has code that was never run before, and any may have a great collection of garbage

export class ManyDatabases implements AsyncDisposable {
  readonly #replayed: ReplayedPlane;
  #operator: OperatorProcess;

  private constructor(replayed: ReplayedPlane, operator: OperatorProcess) {
    this.#replayed = replayed;
    this.#operator = operator;
  }

  /** With an operator, and no database yet. */
  static async start(): Promise<ManyDatabases> {
    const replayed = await ReplayedPlane.start();
    try {
      const { plane } = replayed;
      await plane.kubectl("apply", "--server-side", "--kustomize", join(projectDirectory, "config/crd"));
      await plane.kubectl("create", "namespace", "sampledb-system");
      return new ManyDatabases(replayed, await startOperator(replayed));
    } catch (error) {
      await replayed.stop();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#operator.kill("SIGTERM");
    await this.#replayed.stop();
  }

  get residentMegabytes(): number {
    return this.#operator.residentMegabytes;
  }

  /** Makes all of them, each with these parts of a spec; resolves when all are Ready and the operator rests. */
  async make(spec: Partial<Parameters<typeof sampleDB>[0]> = {}): Promise<void> {
    const { client } = this.#replayed;
    await step(`${count} databases of ${replicas}`, () =>
      forEach(count, async (index) => {
        const manifest = sampleDB({ name: nameOf(index), replicas, ...spec });
        const metadata = { ...manifest.metadata, namespace: "default" };
        await client.create(sampledbs, { ...manifest, metadata } as SampleDB);
      }),
    );
    await step("all of them Ready", () => this.#converged());
    await this.rest();
  }

  async change(spec: (index: number) => object): Promise<void> {
    const { client } = this.#replayed;
    await forEach(count, async (index) => {
      await client.mergePatch(sampledbs, { namespace: "default", name: nameOf(index) }, { spec: spec(index) });
    });
    await this.rest();
  }

  /** By a new process: one that has just worked has garbage of that. */
  async restartOperator(): Promise<void> {
    await this.#operator.kill("SIGTERM");
    this.#operator = await startOperator(this.#replayed);
    await eventually("the operator answers", 60_000, () =>
      this.#operator.cost().then(
        () => true,
        () => undefined,
      ),
    );
    await this.rest();
  }

  async #converged(): Promise<void> {
    await eventually(`${count} databases are Ready`, 1_800_000, async () => {
      await sleep(5000); // a list of all is work for the API server that is measured here
      let ready = 0;
      for await (const { items } of this.#replayed.client.pages(sampledbs)) {
        ready += items.filter((db) => whyNotReady(db) === undefined).length;
      }
      if (ready < count) say(`${ready} of ${count} are Ready`);
      return ready === count;
    });
  }

  /** Resolves when nothing was asked of the API and nothing written for 15 s. */
  async rest(): Promise<void> {
    let last = await this.#operator.cost();
    await step("the operator at rest", () =>
      eventually("the operator has nothing to do", 300_000, async () => {
        await sleep(15_000);
        const now = await this.#operator.cost();
        const { writes, reads } = costBetween(last, now);
        last = now;
        return writes + reads === 0;
      }),
    );
  }

  /** Patroni's loops go on: what they write concerns nobody. */
  async noise(): Promise<Figure[]> {
    const end = new AbortController();
    const looping = this.#replayed.loop(loopSeconds, end.signal);
    const before = await this.#operator.cost();
    await step(`${watchedSeconds} s of Patroni's loops`, () => sleep(watchedSeconds * 1000));
    const { writes, reads, reconciles, cpuSeconds } = costBetween(before, await this.#operator.cost());
    end.abort();
    const written = await looping;
    return [
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

  /** A reconcile that finds everything as it should be: each database is touched once, and what it costs to notice counts as well. */
  async noOp(): Promise<Figure[]> {
    await this.rest();
    const ofItself = await this.#atIdle();
    const before = await this.#operator.cost();
    const milliseconds: number[] = [];
    for (let round = 0; round < rounds; round++) milliseconds.push(await this.#touchAll(`${round}`, ofItself));
    const { reconciles, reads, writes } = costBetween(before, await this.#operator.cost());
    if (reconciles < rounds * touches) throw new Error(`${rounds * touches} databases were touched, and ${reconciles} were looked at`);
    say(`a reconcile took ${milliseconds.map((one) => one.toFixed(2)).join(", ")} ms of CPU`);
    return [
      { what: "CPU of a no-op reconcile", unit: "ms", ours: median(milliseconds), wanted: { most: 1 } },
      { what: `requests of ${reconciles} no-op reconciles`, unit: "", ours: reads + writes, wanted: { most: 0 } },
    ];
  }

  /**
   * Uses next to nothing more than of itself for a second. It is not asked for its figures meanwhile: telling those of a thousand databases
   * is work too.
   */
  async #idle(ofItself: number): Promise<void> {
    await eventually("the operator is idle", 60_000, async () => {
      const before = this.#operator.cpuSeconds;
      await sleep(1000);
      return this.#operator.cpuSeconds - before <= 0.05 + 1.5 * ofItself;
    });
  }

  /** Of CPU in a second, with nothing to do: its lease, its clocks, its questions to repositories, each of which it asks once a minute. */
  async #atIdle(): Promise<number> {
    const before = this.#operator.cpuSeconds;
    await sleep(60_000);
    return (this.#operator.cpuSeconds - before) / 60;
  }

  /** CPU for each, in milliseconds, without what the operator uses of itself. */
  async #touchAll(value: string, ofItself: number): Promise<number> {
    await this.#idle(ofItself);
    const [begin, began] = [this.#operator.cpuSeconds, performance.now()];
    const metadata = { annotations: { "bench.example.com/touched": value } };
    await forEach(touches, async (index) => {
      await this.#replayed.client.mergePatch(sampledbs, { namespace: "default", name: nameOf(index) }, { metadata });
    });
    await this.#idle(ofItself);
    return ((this.#operator.cpuSeconds - begin) * 1000 - ofItself * (performance.now() - began)) / touches;
  }
}

async function startOperator({ plane }: ReplayedPlane): Promise<OperatorProcess> {
  return await OperatorProcess.start(plane.kubeconfig, join(projectDirectory, "build/logs/bench-operator.log"));
}

/** Some at once. */
async function forEach(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

function nameOf(index: number): string {
  return `db-${index}`;
}
