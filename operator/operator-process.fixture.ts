// The operator as its users run it, a process with flags, for tests.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { KubeClient } from "../runtime/kube/client.ts";
import { webhookConfigurations } from "../runtime/webhooks/ca-bundles.ts";
import { eventually } from "../tools/eventually.ts";
import { freePort } from "../tools/free-port.ts";
import { webhookNames } from "./names.ts";
import { webhookManifest } from "./webhook-manifest.ts";

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly lines: LogLine[] = [];
  errors = "";
  readonly ended: Promise<number>;

  /** The kernel ends it with the test's process, should that be killed. */
  constructor(args: readonly string[], environment: Readonly<Record<string, string>>) {
    const program = [process.execPath, "--disable-warning=ExperimentalWarning", join(import.meta.dirname, "../main.ts"), ...args];
    this.#child = spawn("setpriv", ["--pdeathsig", "KILL", "--", ...program], {
      env: { PATH: process.env["PATH"], HOME: "/nonexistent", ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { stdout, stderr } = this.#child;
    if (!stdout || !stderr) throw new Error("no output to read");
    createInterface({ input: stdout }).on("line", (text) =>
      this.lines.push(text.startsWith("{") ? JSON.parse(text) : { level: "", msg: text }),
    );
    stderr.setEncoding("utf8").on("data", (text: string) => {
      this.errors += text;
    });
    this.ended = new Promise((resolve) => this.#child.once("close", (code) => resolve(code ?? -1)));
  }

  get output(): string {
    return this.lines.map(({ msg }) => msg).join("\n");
  }

  tell(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves to the exit code. */
  async stop(): Promise<number> {
    this.tell("SIGTERM");
    return await this.ended;
  }
}

export interface Guard {
  readonly operator: OperatorProcess;
  readonly stop: () => Promise<void>;
}

/** An operator whose webhook the API server asks. Resolves when `isAsked` says that it does. */
export async function startGuard(client: KubeClient, kubeconfig: string, isAsked: () => Promise<boolean | undefined>): Promise<Guard> {
  const resource = webhookConfigurations.ValidatingWebhookConfiguration;
  const port = await freePort();
  await client.create(
    resource,
    webhookManifest((path) => ({ url: `https://127.0.0.1:${port}${path}` })),
  );
  const operator = new OperatorProcess(["--health-probe-bind-address=0", `--webhook-bind-address=127.0.0.1:${port}`], {
    KUBECONFIG: kubeconfig,
  });
  const stop = async () => {
    await operator.stop();
    await client.delete(resource, { namespace: "", name: webhookNames.validating });
  };
  await eventually("the webhook is asked and answers", 60_000, async () => {
    if (operator.errors !== "") throw new Error(operator.errors);
    return await isAsked();
  });
  return { operator, stop };
}
