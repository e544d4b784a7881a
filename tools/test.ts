// make test: every stage in order, with its time, and one line of counts at the end. Names of stages as arguments
// choose some of them.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { Refusal, runProgram, say, seconds } from "./progress.ts";
import { clusterInputs, passedAt, rememberPassed } from "./whole-run.ts";

const root = join(import.meta.dirname, "..");

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The parts that are read of vitest's report. */
interface VitestReport {
  readonly numPassedTests?: number;
  readonly numFailedTests?: number;
  readonly numPendingTests?: number;
  readonly testResults?: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

const nothing: Counts = { passed: 0, failed: 0, skipped: 0 };

const gofmt = 'files=$(gofmt -l e2e) || exit 1; test -z "$files" || { echo "not formatted, run make fmt: $files"; exit 1; }';

const stages: Readonly<Record<string, () => Promise<Counts>>> = {
  lint: async () =>
    sum([
      await check("biome", ["check", "--log-level=warn", "--error-on-warnings", "."]),
      await check("sh", ["-c", gofmt]),
      await check(process.execPath, ["tools/generate.ts", "--check"]),
    ]),
  types: () => check("tsc", ["--noEmit"]),
  unit: () => vitest("unit"),
  integration: async () => {
    // What can't be built fails in the file that needs it, with the same words.
    await exitCode(process.execPath, ["e2e/suites/prepare.ts"]);
    // They wait more than they compute: one of them alone watches for a minute that nothing happens.
    return await vitest("integration", "--maxWorkers=5");
  },
  cluster: localKubernetes,
  e2e: () => vitest("e2e"),
  matrix: () => vitest("matrix"),
  helm: () => vitest("helm"),
  olm: () => vitest("olm"),
};

/** They take long, or need what is built for them alone: by their name alone. */
const byNameOnly = ["matrix", "helm", "olm"];

const named = process.argv.slice(2);

/** Said again at the end, in short: whoever has the end of a long log has what went wrong. */
const failures: string[] = [];

// The stage's own process is told as well, cleans up and ends; this one waits for it and starts no other.
let running: ChildProcess | undefined;
let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    interrupted = true;
    running?.kill(signal);
  });
}

await runProgram(async () => {
  const chosen = named.length > 0 ? named : Object.keys(stages).filter((name) => !byNameOnly.includes(name));
  const results: { name: string; milliseconds: number; counts: Counts }[] = [];
  for (const name of chosen) {
    const stage = stages[name];
    if (!stage) throw new Refusal(`no stage ${name}: there are ${Object.keys(stages).join(", ")}`);
    say(`== ${name}`);
    const begin = performance.now();
    results.push({ name, counts: await stage(), milliseconds: performance.now() - begin });
    if (interrupted) break;
  }
  for (const { name, milliseconds, counts } of results) say(`${name.padEnd(12)} ${seconds(milliseconds).padStart(9)}  ${inWords(counts)}`);
  for (const line of failures) process.stdout.write(`${line}\n`);
  const total = sum(results.map(({ counts }) => counts));
  process.stdout.write(`${inWords(total)}\n`);
  if (interrupted) throw new Refusal("interrupted: what comes after was not run");
  process.exitCode = total.failed > 0 ? 1 : 0;
});

/** A check counts as one test. */
async function check(program: string, args: readonly string[]): Promise<Counts> {
  const passed = (await exitCode(program, args)) === 0;
  if (!passed) failures.push(`FAILED ${[program, ...args].join(" ")}`);
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 };
}

/**
 * The tests of the local Kubernetes itself. Part of `make test` only after a change to what they depend on: otherwise the suites that run on
 * it show that it works.
 */
async function localKubernetes(): Promise<Counts> {
  if (process.env["USE_EXISTING_CLUSTER"] === "true") {
    say("cluster: not run, because USE_EXISTING_CLUSTER=true has no local Kubernetes");
    return nothing;
  }
  const inputs = await clusterInputs();
  const passed = passedAt(inputs);
  const isNamed = named.includes("cluster");
  if (passed !== undefined && !isNamed) {
    say(
      `cluster: not run, because all of it passed at ${passed} with the same inputs (${inputs}); e2e has its smoke, make test-cluster runs it`,
    );
    return nothing;
  }
  const why = isNamed ? "it was asked for" : `it never passed on this machine with its inputs as they are now (${inputs})`;
  say(`cluster: all of it is run, because ${why}`);
  const counts = await vitest("cluster");
  if (counts.failed === 0 && counts.passed > 0 && !interrupted) rememberPassed(inputs);
  return counts;
}

async function vitest(project: string, ...options: readonly string[]): Promise<Counts> {
  const report = join(root, `build/test-results/${project}.json`);
  rmSync(report, { force: true });
  const code = await exitCode("vitest", [
    "run",
    `--project=${project}`,
    "--reporter=verbose",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...options,
  ]);
  const { numPassedTests: passed = 0, numFailedTests: failed = 0, numPendingTests: skipped = 0, testResults = [] } = readReport(report);
  failures.push(...testResults.flatMap(failuresOf));
  // A suite that could not even start has no failed test, but an exit code.
  return { passed, skipped, failed: code === 0 ? failed : Math.max(failed, 1) };
}

function failuresOf({ name, status, message, assertionResults }: NonNullable<VitestReport["testResults"]>[number]): string[] {
  const failed = assertionResults.filter((test) => test.status === "failed");
  const suite = relative(root, name);
  if (status === "failed" && failed.length === 0) return [`FAILED ${suite}\n${inShort(message)}`];
  return failed.map(({ fullName, failureMessages = [] }) => [`FAILED ${suite} > ${fullName}`, ...failureMessages.map(inShort)].join("\n"));
}

/** What was expected and what was there, without the way to it. */
function inShort(message: string): string {
  const lines = stripVTControlCharacters(message).split("\n");
  const end = lines.findIndex((line) => /^\s+at /.test(line));
  return lines
    .slice(0, Math.min(end < 0 ? lines.length : end, 12))
    .map((line) => `    ${line.slice(0, 300)}`)
    .join("\n");
}

function readReport(file: string): VitestReport {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {}; // ended before it could report; the exit code tells
  }
}

async function exitCode(program: string, args: readonly string[]): Promise<number> {
  return await new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: "inherit" });
    running = child;
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

function sum(counts: readonly Counts[]): Counts {
  return counts.reduce((a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped }));
}

function inWords({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
