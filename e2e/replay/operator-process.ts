// The operator as it is shipped, as a process beside a replayed plane, with what it costs.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, readFileSync } from "node:fs";
import { openLog } from "../../tools/command.ts";
import { freePort } from "../../tools/free-port.ts";
import { asShipped } from "../bench/as-shipped.ts";

const ticksPerSecond = 100; // what the kernel tells user space, on every architecture

export interface Cost {
  readonly cpuSeconds: number;
  readonly reconciles: number;
  /** Of the sampledb controller; those that failed are among them. */
  readonly failures: number;
  /** Without watches that were begun anew: the API server ends each of them every few minutes. */
  readonly reads: number;
  readonly writes: number;
}

export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly #port: number;
  readonly #ended: Promise<void>;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.#port = port;
    this.#ended = new Promise((resolve) => child.once("exit", () => resolve()));
  }

  static async start(kubeconfig: string, logFile: string): Promise<OperatorProcess> {
    const port = await freePort();
    const command = await asShipped("main.ts", "build/bench/operator.js");
    const flags = [
      `--metrics-bind-address=127.0.0.1:${port}`,
      "--metrics-secure=false",
      "--health-probe-bind-address=0",
      "--database-access=direct",
    ];
    const log = openLog(logFile);
    // The kernel ends it with us: it would not notice by itself.
    const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", ...command, ...flags], {
      env: { ...process.env, KUBECONFIG: kubeconfig, ENABLE_WEBHOOKS: "false", POD_NAMESPACE: "sampledb-system" },
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    return new OperatorProcess(child, port);
  }

  get residentMegabytes(): number {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${this.#child.pid}/status`, "utf8"))?.[1] ?? 0) / 1000;
  }

  get cpuSeconds(): number {
    const [, , , , , , , , , , , user, system] = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return (Number(user) + Number(system)) / ticksPerSecond;
  }

  /** All that it has cost since its start, without what it costs to ask. */
  async cost(): Promise<Cost> {
    const { cpuSeconds } = this;
    const metrics = await (await fetch(`http://127.0.0.1:${this.#port}/metrics`)).text();
    const sum = (line: RegExp) => [...metrics.matchAll(line)].reduce((total, [, value]) => total + Number(value), 0);
    const reconciles = sum(/^controller_runtime_reconcile_total\{(?=.*controller="sampledb").*\} (\S+)$/gm);
    return {
      cpuSeconds,
      reconciles,
      failures: sum(/^controller_runtime_reconcile_total\{(?=.*controller="sampledb")(?=.*result="error").*\} (\S+)$/gm),
      reads:
        sum(/^rest_client_requests_total\{(?=.*method="GET").*\} (\S+)$/gm) - sum(/^sampledb_runtime_watch_restarts_total\{.*\} (\S+)$/gm),
      writes: sum(/^rest_client_requests_total\{(?!.*method="GET").*\} (\S+)$/gm),
    };
  }

  async kill(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    this.#child.kill(signal);
    await this.#ended;
  }
}

export function costBetween(before: Cost, after: Cost): Cost {
  return {
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    reconciles: after.reconciles - before.reconciles,
    failures: after.failures - before.failures,
    reads: after.reads - before.reads,
    writes: after.writes - before.writes,
  };
}
