// A machine of the cluster: a process that holds network, mount, process and host name namespaces of its own. What
// runs is read off the process list, never from a file, so a machine is found again whatever happened meanwhile, and
// killing its first process takes everything in it along.
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type CommandOptions, openLog, run } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";
import { Refusal } from "../../tools/progress.ts";
import { type ClusterPlan, logFile, type MachinePlan } from "./plan.ts";

/** Where a machine sees the programs and its own settings. */
export const programsInside = "/run/sampledb/bin";
export const settingsInside = "/run/sampledb/etc";
export const volumesInside = "/run/sampledb/volumes";

const machineScript = join(import.meta.dirname, "machine.sh");

export interface Process {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly paused: boolean;
}

function volumesDirectory(plan: ClusterPlan): string {
  return join(plan.stateDirectory, "volumes");
}

/** The machine's first process, by its number on the host; undefined when the machine is off. */
export function findMachine(plan: ClusterPlan, machine: MachinePlan): number | undefined {
  return findMachines(plan).get(machine.name);
}

export function findMachines(plan: ClusterPlan): Map<string, number> {
  const found = new Map<string, number>();
  for (const { pid, argv } of processes("/proc")) {
    const isUp = argv[0] === `${programsInside}/pause` && argv[1] === "machine" && argv[2] === plan.name;
    if (isUp) found.set(argv[3] ?? "", pid);
  }
  return found;
}

/** Every process that is a machine or is about to become one, for taking them down. */
export function machineProcesses(plan: ClusterPlan): number[] {
  return processes("/proc")
    .filter(({ argv }) => argv.includes(plan.name) && (argv[0] === `${programsInside}/pause` || argv.includes(machineScript)))
    .map(({ pid }) => pid);
}

export async function startMachine(plan: ClusterPlan, machine: MachinePlan, programs: string): Promise<number> {
  mkdirSync(volumesDirectory(plan), { recursive: true });
  const log = openLog(logFile(machine, "machine"));
  const namespaces = ["--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--propagation", "slave"];
  const child = spawn(
    "unshare",
    [...namespaces, machineScript, plan.name, machine.name, machine.directory, programs, volumesDirectory(plan)],
    {
      detached: true,
      stdio: ["ignore", log, log],
    },
  );
  closeSync(log);
  let ended = false;
  child.on("exit", () => {
    ended = true;
  });
  child.unref();
  return await eventually(`machine ${machine.name} is up`, 15_000, () => {
    if (ended) throw new Refusal(`machine ${machine.name} of ${plan.name} did not start: ${lastLine(logFile(machine, "machine"))}`);
    return findMachine(plan, machine);
  });
}

export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Everything that runs in the machine, containers included, numbered as the machine numbers it. */
function processesOf(machinePid: number): Process[] {
  return processes(`/proc/${machinePid}/root/proc`);
}

/** The process of a program that was started by its full path. */
export function findProcess(machinePid: number, program: string): Process | undefined {
  return processesOf(machinePid).find(({ argv }) => argv[0] === program);
}

/** Whether the machine still knows the process, also one that is ending. */
export function isThere(machinePid: number, { pid }: Process): boolean {
  return existsSync(`/proc/${machinePid}/root/proc/${pid}`);
}

/** The container that a process of the machine runs in, as the kubelet names it; undefined when it runs in none. */
export function containerOf(machinePid: number, { pid }: Process): string | undefined {
  return /kubepods.*\/([0-9a-f]{64})$/m.exec(readFileSync(`/proc/${machinePid}/root/proc/${pid}/cgroup`, "utf8"))?.[1];
}

function processes(proc: string): Process[] {
  return readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const argv = readFileSync(`${proc}/${name}/cmdline`, "utf8").split("\0").slice(0, -1);
        const paused = /^State:\s+T/m.test(readFileSync(`${proc}/${name}/status`, "utf8"));
        return argv.length > 0 ? [{ pid: Number(name), argv, paused }] : [];
      } catch {
        return []; // it ended while we looked
      }
    });
}

function enter(machinePid: number, argv: readonly string[]): string[] {
  return ["--target", String(machinePid), "--net", "--mount", "--pid", "--uts", "--ipc", "--", ...argv];
}

/** Runs a command in the machine to its end. */
export async function runInside(machinePid: number, argv: readonly string[], options: CommandOptions = {}): Promise<string> {
  return run("nsenter", enter(machinePid, argv), options);
}

/** Starts a program in the machine, where it stays when we are gone. */
export async function startInside(machinePid: number, argv: readonly string[], log: string): Promise<void> {
  // A clean environment: a proxy that the host needs for its downloads is nothing that a node could reach.
  const environment = ["env", "-i", "HOME=/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"];
  // The shell leaves at once, and the machine's first process takes the program over.
  await run("nsenter", enter(machinePid, [...environment, "setsid", "sh", "-c", '"$@" &', "sh", ...argv]), { logFile: log });
}

export async function signalInside(machinePid: number, pid: number, signal: "KILL" | "TERM" | "STOP" | "CONT"): Promise<void> {
  await runInside(machinePid, ["kill", `-${signal}`, String(pid)]);
}

/** Whether anything in the machine listens on this TCP port. */
export function isListening(machinePid: number, port: number): boolean {
  const listening = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, "0")} \\S+ 0A`);
  return ["tcp", "tcp6"].some((table) => listening.test(readFileSync(`/proc/${machinePid}/net/${table}`, "utf8")));
}

/** Memory in use by everything in the machine, with shared pages counted once over all. */
export function memoryOf(machinePid: number): number {
  return processesOf(machinePid).reduce((sum, { pid }) => {
    try {
      const rollup = readFileSync(`/proc/${machinePid}/root/proc/${pid}/smaps_rollup`, "utf8");
      return sum + Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024;
    } catch {
      return sum;
    }
  }, 0);
}

function lastLine(file: string): string {
  return readFileSync(file, "utf8").trim().split("\n").at(-1) ?? "";
}
