// The programs that Patroni calls to stop and start a server, with processes that answer like a server or not at all.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { type CommandError, run } from "../../tools/command.ts";

/** A process whose name is that of its program. */
const postgres = join(mkdtempSync(join(tmpdir(), "postgres-")), "postgres");
symlinkSync("/bin/bash", postgres);
afterAll(() => rmSync(dirname(postgres), { recursive: true }));

const programs = join(import.meta.dirname, "for-patroni");

/** A data directory as PostgreSQL leaves it while this process is its server. */
function dataOf(server: ChildProcess | undefined): string {
  const data = mkdtempSync(join(tmpdir(), "before-stop-"));
  onTestFinished(() => rmSync(data, { recursive: true }));
  if (server) writeFileSync(join(data, "postmaster.pid"), `${server.pid}\n${data}\n`);
  return data;
}

/** Resolves when the process is ready for a signal. */
async function serverThat(answer: string): Promise<ChildProcess> {
  const server = spawn(postgres, ["-c", `trap '${answer}' INT; echo up; while true; do sleep 0.02; done`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void server.kill("SIGKILL"));
  await new Promise((resolve) => server.stdout?.once("data", resolve));
  return server;
}

/** Runs before-stop with a pg_control that says this; resolves to its duration in seconds, and how often it looked. */
const beforeStop = async (server: ChildProcess | undefined, state = "in production") => {
  const data = dataOf(server);
  const controlData = `#!/bin/sh\necho >> ${data}/looks; echo "Database cluster state:               ${state}"\n`;
  writeFileSync(join(data, "pg_controldata"), controlData, { mode: 0o755 });
  const begin = performance.now();
  await run(join(programs, "before-stop"), [], {
    env: { PGDATA: data, STOP_MARK: join(data, "stopping"), PATH: `${data}:${process.env["PATH"]}` },
  });
  const seconds = (performance.now() - begin) / 1000;
  const looks = existsSync(join(data, "looks")) ? readFileSync(join(data, "looks")).length : 0;
  return { seconds, looks, marked: existsSync(join(data, "stopping")) };
};

test("before-stop returns after a server that stops quickly has ended", async () => {
  const server = await serverThat("exit 0");
  await beforeStop(server);
  expect(() => process.kill(server.pid as number, 0)).toThrow("ESRCH");
});

test("before-stop leaves a server that stops slowly to Patroni", async () => {
  const server = await serverThat(":");
  expect((await beforeStop(server)).seconds).toBeLessThan(10);
  expect(server.exitCode).toBeNull();
});

test("before-stop does not wait for a server that has written all and still archives", async () => {
  const server = await serverThat(":");
  expect(await beforeStop(server, "shut down")).toMatchObject({ marked: true, looks: 1 });
  expect(server.exitCode).toBeNull();
});

test("before-stop ignores a pid that belongs to another process", async () => {
  const other = spawn("sleep", ["60"]);
  onTestFinished(() => void other.kill("SIGKILL"));
  await beforeStop(other);
  expect(other.exitCode ?? other.signalCode).toBeNull();
});

test("before-stop does nothing without a server", async () => {
  expect(await beforeStop(undefined)).toMatchObject({ marked: false });
});

/** Runs our pg_isready with a real one of these lines, which may count in a file; resolves to exit code and duration in seconds. */
async function isReady(...lines: readonly string[]) {
  const directory = dataOf(undefined);
  writeFileSync(join(directory, "pg_isready"), ["#!/bin/bash", `cd ${directory}`, ...lines].join("\n"), { mode: 0o755 });
  const begin = performance.now();
  const env = { PATH: `${directory}:${process.env["PATH"]}` };
  const code = await run(join(programs, "pg_isready"), ["-p", "5432"], { env }).then(
    () => 0,
    (error: CommandError) => error.exitCode,
  );
  return { code, seconds: (performance.now() - begin) / 1000 };
}

test("pg_isready finds a server that starts within the second at the first call", async () => {
  expect(await isReady("echo >> asked", "[ $(wc -l < asked) -gt 3 ] || exit 2")).toMatchObject({ code: 0 });
});

test("pg_isready takes no longer than one call for a server that does not answer", async () => {
  const { code, seconds } = await isReady("sleep 3", "exit 2");
  expect(code).toBe(2);
  expect(seconds).toBeLessThan(15);
});
