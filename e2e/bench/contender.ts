// One of the two controllers that are measured, as a process that tells in JSON lines how far it is.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { eventually } from "../../tools/eventually.ts";

export interface Reconciled {
  readonly total: number;
  readonly writes: number;
  readonly errors: number;
  readonly ms: number;
  readonly firstMs: number;
}

export interface Stats {
  readonly rssBytes: number;
  readonly heapBytes: number;
}

export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

export interface Synced {
  readonly ms: number;
  /** Only ours has an event loop. */
  readonly loopLagP99?: number;
  readonly loopLagMax?: number;
}

type Line = { readonly event: string; readonly collected?: boolean };

const idleMilliseconds = 1500;

export class Contender {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #lines: Line[] = [];
  #lastLine = performance.now();

  constructor(command: readonly [string, ...string[]], kubeconfig: string) {
    // The kernel ends it with us: it would not notice by itself.
    this.#child = spawn("setpriv", ["--pdeathsig", "KILL", "--", ...command], {
      env: { ...process.env, KUBECONFIG: kubeconfig },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#ended = new Promise((resolve) => this.#child.once("exit", () => resolve()));
    if (!this.#child.stdout) throw new Error("no output to read");
    createInterface({ input: this.#child.stdout }).on("line", (text) => {
      this.#lines.push(JSON.parse(text) as Line);
      this.#lastLine = performance.now();
    });
  }

  /** Resolves when it has reconciled and written so often, and nothing has happened since for a while. */
  async idle(least: { readonly reconciles: number; readonly writes?: number }, deadline = 600_000): Promise<Reconciled> {
    return await eventually(`${least.reconciles} reconciles`, deadline, () => {
      const { exitCode, signalCode } = this.#child;
      if (exitCode !== null || signalCode !== null) throw new Error(`the controller ended with ${exitCode ?? signalCode}`);
      const last = this.#last<Reconciled>("reconciled");
      const enough = last && last.total >= least.reconciles && last.writes >= (least.writes ?? 0);
      return enough && performance.now() - this.#lastLine > idleMilliseconds ? last : undefined;
    });
  }

  get synced(): Synced | undefined {
    return this.#last<Synced>("synced");
  }

  /** As it is, and after its garbage was collected. */
  async stats(): Promise<{ asIs: Stats; collected: Stats; latency: Latency | undefined }> {
    const before = this.#lines.length;
    this.#child.kill("SIGUSR1");
    const collected = await eventually("the controller's memory", 30_000, () => this.#lines.slice(before).find((line) => line.collected));
    const asIs = this.#lines.slice(before).find((line) => line.collected === false);
    const latency = this.#lines.slice(before).find(({ event }) => event === "latency");
    return { asIs: asIs as unknown as Stats, collected: collected as unknown as Stats, latency: latency as unknown as Latency | undefined };
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#ended;
  }

  #last<T>(event: string): T | undefined {
    return this.#lines.findLast((line) => line.event === event) as T | undefined;
  }
}
