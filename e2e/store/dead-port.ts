// A port of a machine that does not answer at all: whoever connects to it waits until their own patience ends.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { eventuallySucceeds } from "../../tools/eventually.ts";

/**
 * The kernel drops packets that open a connection, without a sign, while the queue of those that wait to be accepted is full. So a process
 * listens with the shortest queue, is stopped before it accepts anything, and we fill its queue. No firewall is needed, and no root.
 */
export class DeadPort {
  readonly #listener: ChildProcess;
  readonly #queued: readonly Socket[];

  private constructor(listener: ChildProcess, queued: readonly Socket[]) {
    this.#listener = listener;
    this.#queued = queued;
  }

  static async occupy(host: string, port: number): Promise<DeadPort> {
    // Somebody's outgoing connection may have the port for a moment.
    const listener = await eventuallySucceeds(`port ${port} of ${host} is free`, 10_000, () => listenStopped(host, port));
    // A queue of 1 takes two. A client may be faster than we are: then ours wait as everybody does.
    const queued = [1, 2].map(() => connect(port, host).on("error", () => {}));
    await Promise.race([Promise.all(queued.map((socket) => once(socket, "connect"))), sleep(500)]);
    return new DeadPort(listener, queued);
  }

  /** The port is free when it resolves. */
  async release(): Promise<void> {
    for (const socket of this.#queued) socket.destroy();
    const gone = once(this.#listener, "exit");
    this.#listener.kill("SIGKILL");
    await gone;
  }
}

async function listenStopped(host: string, port: number): Promise<ChildProcess> {
  const listen = `require("node:net").createServer().listen(${JSON.stringify({ host, port, backlog: 1 })}, () => {
    require("node:fs").writeSync(1, "listening");
    process.kill(process.pid, "SIGSTOP");
  })`;
  // The kernel ends it with us, also while it is stopped.
  const command = ["--pdeathsig", "KILL", "--", process.execPath, "-e", listen];
  const listener = spawn("setpriv", command, { stdio: ["ignore", "pipe", "ignore"] });
  const [said] = await Promise.race([once(listener.stdout, "data"), once(listener, "exit")]);
  if (!Buffer.isBuffer(said)) throw new Error(`nothing can listen on port ${port} of ${host}`);
  return listener;
}
