// docs/tutorial.md as a user follows it: the commands of the page, as the page has them, with nothing set but KUBECONFIG. `make run` works
// in every namespace and holds no lease, so no other operator may run in the cluster at the same time.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { eventually } from "../../tools/eventually.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { programsDirectory } from "../cluster/programs.ts";
import { Database } from "../database/database.ts";
import { isLocal, kubectl, suiteNamespace } from "./test-cluster.ts";

const page = readFileSync(join(projectDirectory, "docs/tutorial.md"), "utf8");
const directory = mkdtempSync(join(tmpdir(), "sampledb-tutorial-"));
/** The kernel ends the operator with this process, should it be killed: in a PID namespace nothing outlives the first process. */
const endsWithUs = isLocal ? ["setpriv", "--pdeathsig", "KILL", "--", "unshare", "--pid", "--fork", "--kill-child", "--"] : [];

let operator: Command;

beforeAll(async () => {
  await succeeds("make install");
  operator = await start("make run");
});
afterAll(async () => {
  await operator.interrupt();
  rmSync(directory, { recursive: true });
});
const namespace = suiteNamespace("tutorial");

class Command {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  output = "";

  constructor(line: string, env: Readonly<Record<string, string>>) {
    const [program = "", ...args] = [...endsWithUs, "bash", "-c", line];
    // In a group of its own, to which an interruption goes as a terminal would send it.
    this.#child = spawn(program, args, { cwd: projectDirectory, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    }
    this.#ended = new Promise((resolve) => this.#child.once("close", resolve));
  }

  async exitCode(): Promise<number | null> {
    return await this.#ended;
  }

  /** Ctrl-C. */
  async interrupt(): Promise<void> {
    if (this.#child.pid !== undefined && this.#child.exitCode === null) process.kill(-this.#child.pid, "SIGINT");
    await this.#ended;
  }
}

/** A line of the page's commands; the comment behind it is the reader's. */
function documented(line: string): string {
  const lines = page.split("\n").map((text) => text.replace(/ +#.*$/, ""));
  if (!lines.includes(`    ${line}`)) throw new Error(`docs/tutorial.md has no command ${line}`);
  return line;
}

async function start(line: string): Promise<Command> {
  return new Command(documented(line), await environment());
}

/** Resolves to what the command printed. */
async function succeeds(line: string, options = ""): Promise<string> {
  const command = new Command(`${documented(line)} ${options}`, await environment());
  const code = await command.exitCode();
  if (code !== 0)
    throw new Error(`${line} ended with ${code}: ${command.output}\nmake run has printed:\n${operator?.output ?? "nothing yet"}`);
  return command.output;
}

/** That of a user whose kubeconfig names the namespace to work in. On the user's own cluster the registry that nodes pull from is set too. */
async function environment(): Promise<Record<string, string>> {
  const { PATH = "", HOME = "", IMAGE_REGISTRY } = process.env;
  const kubeconfig = parse(readFileSync(kubectl.kubeconfig, "utf8"));
  for (const { context } of kubeconfig.contexts) context.namespace = namespace.namespace;
  const file = join(directory, "kubeconfig");
  writeFileSync(file, stringify(kubeconfig), { mode: 0o600 });
  const path = isLocal ? [await programsDirectory(), PATH].join(delimiter) : PATH;
  return { PATH: path, HOME, KUBECONFIG: file, ...(IMAGE_REGISTRY ? { IMAGE_REGISTRY } : {}) };
}

test("the commands of the tutorial make a database, and psql connects to it", async () => {
  await succeeds("kubectl apply -f config/samples/sampledb_minimal.yaml");
  await succeeds("kubectl wait sampledb/minimal --for=condition=Ready --timeout=3m");
  expect(await succeeds("kubectl get sampledb")).toMatch(/^minimal +17 +True +1 +minimal-0 +AllInstancesReady/m);
  const psql = `kubectl exec -it minimal-0 -c postgres -- psql "$(kubectl get secret minimal-app -o jsonpath='{.data.uri}' | base64 -d)"`;
  expect(await succeeds(psql, "--tuples-only --command='SELECT current_user, current_database()'")).toMatch(/^ *app *\| *app *$/m);
});

test("the operator reaches Patroni from outside of the cluster", async () => {
  const database = new Database(namespace, "minimal");
  // Only the instance knows the minor version.
  await eventually("an instance was asked", 60_000, async () => /^17\.\d+$/.test((await database.get()).status?.postgresVersion ?? ""));
});
