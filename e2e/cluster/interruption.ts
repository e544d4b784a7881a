// Ctrl-C while a cluster is being made: nothing of it is left behind.
import { join } from "node:path";
import type { ClusterPlan } from "./plan.ts";
import { readState } from "./state.ts";

const cli = join(import.meta.dirname, "cli.ts");

/** An interruption takes down a cluster that was not whole before. One that was stays as it is. */
export function takeDownWhenInterrupted(plan: ClusterPlan): void {
  onInterruption(() => {
    if (!readState(plan)?.complete) becomeCommand("down-interrupted");
    process.stderr.write(`error: interrupted; ${plan.name} stays as it is: run the same command to go on, or make cluster-down\n`);
    process.exit(130);
  });
}

/** An interruption takes down every cluster that this test run holds. */
export function sweepWhenInterrupted(): void {
  onInterruption(() => becomeCommand("sweep-interrupted"));
}

/** Cleaning up is finished whatever is typed meanwhile. */
export function ignoreInterruptions(): void {
  onInterruption(() => {});
}

function onInterruption(act: () => void): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, act);
}

/** Replaces this process: whatever it was about to start is not started after all. */
function becomeCommand(command: string): never {
  const env = Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined));
  process.execve?.(process.execPath, [process.execPath, "--disable-warning=ExperimentalWarning", cli, command], env);
  throw new Error("this Node.js has no process.execve");
}
