// The little that a cluster remembers on disk: whose it is, what it was made from, and whether it was made whole.
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ClusterPlan, projectDirectory } from "./plan.ts";

interface ClusterState {
  readonly checkout: string;
  /** Programs and settings that it was made with. */
  readonly madeFrom: string;
  /** Loop devices and with them the volumes are gone after the host restarts. */
  readonly boot: string;
  readonly complete: boolean;
  readonly secondsToReady?: number;
  /** The process of a test run that the cluster was made for; without it, it is of no use to anybody. */
  readonly holder?: number;
}

type Progress = Pick<ClusterState, "complete" | "secondsToReady" | "holder">;

const bootId = () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();

export function readState(plan: ClusterPlan): ClusterState | undefined {
  try {
    return JSON.parse(readFileSync(stateFile(plan), "utf8")) as ClusterState;
  } catch {
    return undefined;
  }
}

export function writeState(plan: ClusterPlan, madeFrom: string, progress: Progress): void {
  mkdirSync(plan.stateDirectory, { recursive: true, mode: 0o700 });
  writeFileSync(
    stateFile(plan),
    JSON.stringify({ checkout: projectDirectory, madeFrom, boot: bootId(), ...progress } satisfies ClusterState),
  );
}

/** True when what is on disk can be started again as it is. */
export function canBeRepaired(plan: ClusterPlan, madeFrom: string): boolean {
  const state = readState(plan);
  return state?.complete === true && state.madeFrom === madeFrom && state.boot === bootId();
}

/** The checkout that made the cluster, while that checkout exists. */
export function owner(plan: ClusterPlan): string | undefined {
  const checkout = readState(plan)?.checkout;
  return checkout !== undefined && existsSync(checkout) ? checkout : undefined;
}

export function removeState(plan: ClusterPlan): void {
  rmSync(plan.stateDirectory, { recursive: true, force: true });
  rmSync(dirname(plan.kubeconfig), { recursive: true, force: true });
  try {
    rmdirSync(dirname(plan.stateDirectory));
  } catch {
    // never made, or other clusters are in it
  }
}

function stateFile(plan: ClusterPlan): string {
  return join(plan.stateDirectory, "state.json");
}
