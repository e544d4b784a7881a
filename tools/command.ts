// Runs other programs. Captures their output or appends it to a log; a failure names the command and its reason.
import { type SpawnOptions, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

export class CommandError extends Error {
  readonly exitCode: number | undefined;
  readonly stderr: string;

  constructor(command: string, exitCode: number | undefined, stderr: string) {
    const lastWords = stderr.trim().split("\n").slice(-5).join("\n");
    super(`${command} ${exitCode === undefined ? "was ended by a signal" : `exited with ${exitCode}`}${lastWords ? `: ${lastWords}` : ""}`);
    this.name = "CommandError";
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

/** The program is not installed; callers turn this into a sentence that says how to get it. */
export class ProgramMissing extends Error {
  readonly program: string;

  constructor(program: string) {
    super(`the program ${program} is not installed or not on PATH`);
    this.name = "ProgramMissing";
    this.program = program;
  }
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly input?: string;
  /** Read standard input from this file. */
  readonly inputFile?: string;
  /** Appends output to this file instead of capturing it. The promise then resolves to an empty string. */
  readonly logFile?: string;
  readonly signal?: AbortSignal;
}

/** Runs a program to its end and resolves to its output. */
export async function run(program: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const log = options.logFile === undefined ? undefined : openLog(options.logFile);
  const input = options.inputFile === undefined ? undefined : openSync(options.inputFile, "r");
  const spawnOptions: SpawnOptions = {
    stdio: [input ?? (options.input === undefined ? "ignore" : "pipe"), log ?? "pipe", log ?? "pipe"],
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  try {
    return await new Promise<string>((resolve, reject) => {
      const child = spawn(program, args, spawnOptions);
      let stdout = "";
      let stderr = "";
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        stdout += text;
      });
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
      });
      child.stdin?.on("error", () => {}); // a program that ends without reading its input reports by its exit code
      child.stdin?.end(options.input);
      child.on("error", (error: NodeJS.ErrnoException) => {
        reject(error.code === "ENOENT" ? new ProgramMissing(program) : error);
      });
      child.on("close", (code) => {
        if (code === 0) resolve(stdout);
        else
          reject(
            new CommandError(
              [program, ...args].join(" "),
              code ?? undefined,
              stderr || (options.logFile ? `see ${options.logFile}` : stdout),
            ),
          );
      });
    });
  } finally {
    for (const file of [log, input]) if (file !== undefined) closeSync(file);
  }
}

/** True if the program succeeds; false if it fails or is missing. */
export async function succeeds(program: string, args: readonly string[], options: CommandOptions = {}): Promise<boolean> {
  try {
    await run(program, args, options);
    return true;
  } catch (error) {
    if (error instanceof CommandError || error instanceof ProgramMissing) return false;
    throw error;
  }
}

export function openLog(file: string): number {
  mkdirSync(dirname(file), { recursive: true });
  return openSync(file, "a");
}
