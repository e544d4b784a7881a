// What can't work is refused with one sentence that says what to do, and nothing is left behind.
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CommandError, run } from "../../tools/command.ts";
import { asNobody } from "./nobody.ts";
import { freePlan } from "./test-clusters.ts";

const cli = [process.execPath, join(import.meta.dirname, "cli.ts")];
const spare = await freePlan();

let folder: string;

beforeEach(() => {
  folder = mkdtempSync("/var/tmp/sampledb-refusals-"); // not /tmp, which may be a small one in memory
});

afterEach(() => rmSync(folder, { recursive: true }));

/** What `cluster-up` prints when it refuses; fails the test when it does not. */
async function refusal(command: readonly string[], env: Record<string, string>): Promise<string> {
  const [program = "", ...args] = command;
  try {
    await run(program, args, { env: { CLUSTER_INDEX: String(spare.index), ...env } });
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === 1) return error.stderr;
    throw error;
  }
  throw new Error("it was not refused");
}

/** One sentence for people, and no stack of calls. */
function expectSentence(output: string, sentence: RegExp): void {
  const errors = output.split("\n").filter((line) => line.startsWith("error: "));
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(sentence);
  expect(output).not.toMatch(/^\s+at /m);
}

describe.runIf(process.getuid?.() === 0)("cluster-up is refused", () => {
  test("without root", async () => {
    expectSentence(await refusal(["setpriv", ...asNobody, ...cli, "up"], {}), /^error: a cluster needs root, .*: run it with sudo$/);
  });

  test.each(["99", "-1", "one", "1.5"])("with CLUSTER_INDEX=%s", async (index) => {
    expectSentence(await refusal([...cli, "up"], { CLUSTER_INDEX: index }), /^error: CLUSTER_INDEX must be a whole number from 0 to 15/);
  });

  test("where less than 10 GB are free", async () => {
    await run("mount", ["-t", "tmpfs", "-o", "size=100m", "tmpfs", folder]);
    try {
      expectSentence(
        await refusal([...cli, "up"], { SAMPLEDB_CACHE: join(folder, "cache") }),
        /has 0\.1 GB free and a cluster needs 10 GB: make room, or set SAMPLEDB_CACHE/,
      );
    } finally {
      await run("umount", [folder]);
    }
  });

  test("without Go, when something must be built", async () => {
    const withoutGo = (process.env["PATH"] ?? "").split(":").filter((directory) => !existsSync(join(directory, "go")));
    const output = await refusal([...cli, "up"], { SAMPLEDB_CACHE: folder, PATH: withoutGo.join(":") });
    expectSentence(output, /^error: Go is needed once, to build Kubernetes v1\.34\.\d+: install Go 1\.24 or newer/);
    expect(existsSync(join(folder, "programs"))).toBe(false);
  });

  test("without a network for Go modules", async () => {
    const output = await refusal([...cli, "up"], { SAMPLEDB_CACHE: folder, GOPROXY: "off", GOMODCACHE: join(folder, "modules") });
    expectSentence(output, /^error: could not download the Go modules: check the network and GOPROXY/);
    expect(readdirSync(join(folder, "programs"))).toEqual([]);
  });

  afterEach(() => {
    expect(existsSync(spare.stateDirectory)).toBe(false);
    expect(existsSync(dirname(spare.kubeconfig))).toBe(false);
  });
});
