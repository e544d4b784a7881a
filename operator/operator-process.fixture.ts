// The operator as its users run it, a process with flags, for tests.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

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
