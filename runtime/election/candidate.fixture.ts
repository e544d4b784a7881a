// A process that stands for election and, while it leads, writes to a ConfigMap as fast as an eager controller. After it has
// lost, it keeps trying for a while, so that the guard is the only thing that stops its writes.
// Its settings are its argument. It reads commands as lines and reports events as lines of JSON.
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { KubeClient } from "../kube/client.ts";
import { Credentials } from "../kube/credentials.ts";
import { kubeConfigFromFile } from "../kube/kube-config.ts";
import { namespaced } from "../kube/resource.ts";
import { Transport } from "../kube/transport.ts";
import { Elector } from "./elector.ts";
import type { Timing } from "./timing.ts";

export interface CandidateSettings {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly identity: string;
  readonly timing: Timing;
  /** Absent: it writes on command only. */
  readonly writeEvery?: number | undefined;
  readonly writeDeadline: number;
  /** How long it keeps trying to write after it has lost. */
  readonly linger: number;
}

/** Commands that take a number of milliseconds or of writes. */
export type Command = "stop" | "exit" | `block ${number}` | `write ${number}`;

export type CandidateEvent =
  | { readonly event: "leading" }
  | { readonly event: "lost"; readonly reason: string }
  | { readonly event: "unblocked"; readonly mayWrite: boolean }
  | { readonly event: "following" };

const settings = JSON.parse(process.argv[2] ?? "") as CandidateSettings;
const { namespace, identity, timing, writeEvery, writeDeadline, linger } = settings;
const connections = () => new Transport(new Credentials(() => kubeConfigFromFile(settings.kubeconfig)));
const elector = new Elector({
  client: new KubeClient(connections(), { fieldManager: identity }),
  lease: { namespace, name: "election" },
  identity,
  timing,
  listener: { following: () => say({ event: "following" }) },
});
const client = new KubeClient(connections(), { fieldManager: identity, mayWrite: elector.mayWrite });
const configMaps = namespaced("v1", "ConfigMap", "configmaps");
let count = 0;

const commands: Readonly<Record<string, (amount: number) => void>> = {
  /** At a moment when no write is half sent: nothing protects against a process that is stopped between the guard and the kernel. */
  stop: () => void process.kill(process.pid, "SIGSTOP"),
  block: (milliseconds) => {
    for (const end = performance.now() + milliseconds; performance.now() < end; );
    say({ event: "unblocked", mayWrite: elector.mayWrite() });
    void write();
  },
  write: (times) => {
    for (let i = 0; i < times; i++) void write();
  },
  exit: () => process.exit(1),
};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const [command = "", amount] = line.split(" ");
    commands[command]?.(Number(amount));
  })
  .on("close", () => process.exit(2)); // the test is gone

elector.start();
await elector.elected;
say({ event: "leading" });
if (writeEvery !== undefined) void writeOn(writeEvery);
say({ event: "lost", reason: (await elector.lost).message });
await sleep(linger);
process.exit(1);

async function writeOn(milliseconds: number): Promise<never> {
  for (;;) {
    await write();
    await sleep(milliseconds);
  }
}

/** Without a resourceVersion: only the guard keeps it from being late. */
async function write(): Promise<void> {
  count++;
  const data = { writer: identity, count: String(count) };
  await client.mergePatch(configMaps, { namespace, name: "written" }, { data }, { deadline: writeDeadline }).catch(() => {});
}

function say(event: CandidateEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}
