// A local cluster at work: its machines, their parts and their cables, each of which can be started, killed, paused
// and cut off. Nothing is kept in memory: every function looks at what is there.

import { DeadlineExceeded, eventually } from "../../tools/eventually.ts";
import { makeCgroup, removeCgroup } from "./cgroups.ts";
import {
  findMachine,
  findProcess,
  isListening,
  isRunning,
  isThere,
  type Process,
  runInside,
  signalInside,
  startInside,
  startMachine,
} from "./machine.ts";
import { buildSwitch, connect, cutNetwork, joinNetwork } from "./network.ts";
import { kubeletPort, type Part, type PartName, partsOf } from "./parts.ts";
import { type ClusterPlan, findHost, type HostPlan, logFile, type MachinePlan, type NodePlan } from "./plan.ts";
import { programsDirectory } from "./programs.ts";

export class LocalCluster {
  readonly plan: ClusterPlan;

  constructor(plan: ClusterPlan) {
    this.plan = plan;
  }

  async powerOnSwitch(): Promise<void> {
    const pid = findMachine(this.plan, this.plan.switch) ?? (await startMachine(this.plan, this.plan.switch, await programsDirectory()));
    await buildSwitch(this.plan, pid);
  }

  /** The machine and its cable; its programs are started by `boot`. */
  async powerOn(machineName: string): Promise<void> {
    const machine = findHost(this.plan, machineName);
    const pid = findMachine(this.plan, machine) ?? (await this.#startHost(machine));
    await connect(this.plan, this.#pid(this.plan.switch), machine, pid);
  }

  async #startHost(machine: HostPlan): Promise<number> {
    const cgroup = `${this.plan.cgroup}/${machine.name}`;
    await removeCgroup(cgroup); // groups of containers that lost power: the kubelet would look for each of them for seconds
    makeCgroup(cgroup);
    return await startMachine(this.plan, machine, await programsDirectory());
  }

  /** Starts every part of a machine that does not run yet, as its init system would, and says whether there was any. */
  async boot(machineName: string): Promise<boolean> {
    let started = false;
    for (const { name } of partsOf(this.plan, findHost(this.plan, machineName))) {
      if (await this.startPart(machineName, name)) started = true;
      if (name === "kubelet") await this.#kubeletServes(machineName);
    }
    return started;
  }

  /** The kubelet ends when containerd is not there yet, and counts on being started again. */
  async #kubeletServes(machineName: string): Promise<void> {
    await eventually(`the kubelet on ${machineName} serves`, 60_000, async () => {
      await this.startPart(machineName, "kubelet");
      return isListening(this.pid(machineName), kubeletPort);
    });
  }

  /** As pulling the plug: every process of the machine is gone at once, containers included; its disks stay. */
  async powerOff(machineName: string): Promise<void> {
    const pid = this.#pid(findHost(this.plan, machineName));
    process.kill(pid, "SIGKILL");
    await eventually(`${machineName} is off`, 30_000, () => !isRunning(pid));
  }

  /** Starts a part that does not run, wakes one that was paused, leaves one alone that works; says whether it did anything. */
  async startPart(machineName: string, partName: PartName): Promise<boolean> {
    const { machine, part, pid, process: found } = this.#find(machineName, partName);
    if (found && !found.paused) return false;
    if (found) {
      await signalInside(pid, found.pid, "CONT");
    } else {
      if (part.before) await runInside(pid, part.before);
      await startInside(pid, part.argv, logFile(machine, part.name));
      await this.#appears(machineName, partName);
    }
    return true;
  }

  /** Until it is seen, starting it again would start it twice. One that ends at once is not seen, and its log says why. */
  async #appears(machineName: string, partName: PartName): Promise<void> {
    await eventually(`${partName} is started`, 2000, () => this.isPartRunning(machineName, partName)).catch((error) => {
      if (!(error instanceof DeadlineExceeded)) throw error;
    });
  }

  async killPart(machineName: string, partName: PartName): Promise<void> {
    const killed = await this.#signal(machineName, partName, "KILL");
    // A process that is ending loses its command line before it closes its ports, so its number is asked for, not its name.
    await eventually(`${partName} on ${machineName} is gone`, 10_000, () => !isThere(this.pid(machineName), killed));
  }

  async pausePart(machineName: string, partName: PartName): Promise<void> {
    await this.#signal(machineName, partName, "STOP");
  }

  async resumePart(machineName: string, partName: PartName): Promise<void> {
    await this.#signal(machineName, partName, "CONT");
  }

  async restartPart(machineName: string, partName: PartName): Promise<void> {
    await this.killPart(machineName, partName);
    await this.startPart(machineName, partName);
  }

  isPartRunning(machineName: string, partName: PartName): boolean {
    return this.#find(machineName, partName).process !== undefined;
  }

  /** Every packet from and to the machine is lost from now on, without a sign of it on either side. */
  async cutNetwork(machineName: string): Promise<void> {
    await cutNetwork(this.#pid(this.plan.switch), findHost(this.plan, machineName));
  }

  async joinNetwork(machineName: string): Promise<void> {
    await joinNetwork(this.#pid(this.plan.switch), findHost(this.plan, machineName));
  }

  /** The machine's first process, for commands to be run inside. */
  pid(machineName: string): number {
    return this.#pid(findHost(this.plan, machineName));
  }

  async #signal(machineName: string, partName: PartName, signal: "KILL" | "STOP" | "CONT"): Promise<Process> {
    const { pid, process: found } = this.#find(machineName, partName);
    if (!found) throw new Error(`${partName} does not run on ${machineName}`);
    await signalInside(pid, found.pid, signal);
    return found;
  }

  #find(machineName: string, partName: PartName): { machine: HostPlan | NodePlan; part: Part; pid: number; process: Process | undefined } {
    const machine = findHost(this.plan, machineName);
    const part = partsOf(this.plan, machine).find(({ name }) => name === partName);
    if (!part) throw new Error(`${partName} is no part of ${machineName}`);
    const pid = this.#pid(machine);
    return { machine, part, pid, process: findProcess(pid, part.argv[0]) };
  }

  #pid(machine: MachinePlan): number {
    const pid = findMachine(this.plan, machine);
    if (pid === undefined) throw new Error(`machine ${machine.name} of ${this.plan.name} is off`);
    return pid;
  }
}
