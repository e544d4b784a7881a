// The programs of an instance that archive its write-ahead log, against the intake; and what serve-metrics tells of it.
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { run } from "../../tools/command.ts";
import { freePort } from "../../tools/free-port.ts";
import { Repository } from "./repository.fixture.ts";

const name = "000000010000000000000003";
let repository: Repository;

beforeAll(async () => {
  repository = await Repository.make();
  await repository.serve();
});
afterAll(() => repository?.stop());

beforeEach(() => {
  for (const each of [
    "volume/leftovers",
    "volume/data/pg_wal",
    "volume/archive-failure.json",
    "volume/rewinding",
    "stopping",
    "pushed",
    "stanza",
    "let-go",
  ])
    rmSync(repository.path(each), { recursive: true, force: true });
  mkdirSync(repository.path("volume/data/pg_wal/archive_status"), { recursive: true });
  mkdirSync(repository.path("pushed"));
  repository.pgBackRest('[ "$1" != archive-push ] || cp "$2" pushed/');
});

const writeSegment = (file: string) => repository.writeSegment(file);
const note = () => JSON.parse(readFileSync(repository.path("volume/archive-failure.json"), "utf8"));
const pushed = () => readdirSync(repository.path("pushed"));

test("pgbackrest-push sends pg_control where there is no stanza, and then the segment", async () => {
  repository.pgBackRest(`case $1 in
stanza-create) touch stanza ;;
archive-push) [ -e stanza ] || { echo "ERROR: [103]: [FileMissingError] unable to load info file 'archive.info'" >&2; exit 103; } ;;
esac`);
  expect(await repository.program("pgbackrest-push", writeSegment(`volume/data/pg_wal/${name}`))).toEqual({ code: 0, text: "" });
  expect(repository.calls.map((call) => call.split(" ")[0])).toEqual(["archive-push", "stanza-create", "archive-push"]);
  expect(existsSync(repository.path("volume/archive-failure.json"))).toBe(false);
});

test("pgbackrest-push gives a new archive the histories that lead to its timeline", async () => {
  repository.begin("third");
  repository.pgBackRest(`case $1 in
stanza-create) touch stanza ;;
archive-push) [ -e stanza ] || { echo "ERROR: [103]: [FileMissingError] unable to load info file 'archive.info'" >&2; exit 103; }; cp "$2" pushed/ ;;
esac`);
  for (const timeline of [2, 3, 4, 5])
    writeFileSync(repository.path(`volume/data/pg_wal/0000000${timeline}.history`), "1\t0/3000000\twhy\n");
  const segment = "000000030000000000000003";
  expect((await repository.program("pgbackrest-push", writeSegment(`volume/data/pg_wal/${segment}`))).code).toBe(0);
  expect(pushed().sort()).toEqual(["00000003.history", "00000005.history", segment].sort());
});

test("pgbackrest-push keeps the reason on the volume since the first failure, until the next success", async () => {
  const file = repository.path("00000002.history");
  writeFileSync(file, "1\t0/3000000\tno recovery target specified\n");
  repository.pgBackRest("echo 'ERROR: [039]: HTTP request failed with 403 (Forbidden):' >&2; exit 39");
  expect((await repository.program("pgbackrest-push", file)).code).toBe(1);
  const message = "StoreDenied: HTTP request failed with 403 (Forbidden)";
  expect(note()).toEqual({ since: expect.any(String), at: note().since, segment: "00000002.history", message });
  writeFileSync(repository.path("volume/archive-failure.json"), JSON.stringify({ ...note(), since: "2026-01-01T00:00:00Z" }));
  expect((await repository.program("pgbackrest-push", file)).text).toContain("00000002.history is not in the archive: StoreDenied");
  expect(note().since).toBe("2026-01-01T00:00:00Z");
  repository.pgBackRest("");
  expect((await repository.program("pgbackrest-push", file)).code).toBe(0);
  expect(existsSync(repository.path("volume/archive-failure.json"))).toBe(false);
});

test("pgbackrest-push gives up after two seconds while the server stops, and says so", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await new Promise((resolve) => silent.once("listening", resolve));
  const address = silent.address();
  const env = { ...repository.environment, INTAKE_PORT: String(typeof address === "object" && address?.port) };
  writeFileSync(repository.path("stopping"), "");
  const began = performance.now();
  const program = ["-ISB", join(import.meta.dirname, "pgbackrest-push"), writeSegment(`volume/data/pg_wal/${name}`)];
  await expect(run("python3", program, { env })).rejects.toThrow(/has not answered within 2 s/);
  expect(performance.now() - began).toBeLessThan(15_000);
  expect(note()).toMatchObject({ segment: name, message: "the repository has not answered within 2 s" });
});

test.each([
  ["of another authority", (other: Repository) => ({ CERTIFICATES: other.path("certificates") })],
  ["of another name", () => ({ HOSTNAME: "others-0" })],
])("pgbackrest-push gives nothing to a repository with a certificate %s", async (_, changed) => {
  const other = await Repository.make();
  onTestFinished(() => other.stop());
  const env = { ...repository.environment, ...changed(other) };
  const program = ["-ISB", join(import.meta.dirname, "pgbackrest-push"), writeSegment(`volume/data/pg_wal/${name}`)];
  await expect(run("python3", program, { env })).rejects.toThrow(/can't be reached: .*certificate verify failed/);
  expect(note().message).toMatch(/certificate verify failed/);
  expect(pushed()).toEqual([]);
});

test("fetch-history fetches a history, and has no code above 1 for what is not there", async () => {
  repository.pgBackRest(
    'case "$*" in "repo-ls archive/other") echo 17-1 ;; repo-ls*) echo 00000002.history ;; repo-get*) echo history ;; esac',
  );
  repository.begin("other");
  const got = repository.path("got");
  expect(await repository.program("fetch-history", "00000002.history", got)).toEqual({ code: 0, text: "" });
  expect(readFileSync(got, "utf8")).toBe("history\n");
  expect((await repository.program("fetch-history", "00000003.history", got)).code).toBe(1);
  const calls = repository.calls.length;
  expect((await repository.program("fetch-history", name, got)).code).toBe(1);
  expect(repository.calls.length).toBe(calls);
  const nobody = { ...repository.environment, INTAKE_PORT: String(await freePort()) };
  await expect(run("sh", [join(import.meta.dirname, "fetch-history"), "00000002.history", got], { env: nobody })).rejects.toMatchObject({
    exitCode: 1,
  });
});

const keepLeftovers = () => repository.program("for-patroni/keep-leftovers");
const markReady = (file: string) => writeFileSync(repository.path(`volume/data/pg_wal/archive_status/${file}.ready`), "");

const pushLeftovers = () =>
  spawn(repository.leftoversProgram(), { env: { ...repository.environment, SECONDS_BETWEEN_ROUNDS: "0.1" }, stdio: "ignore" });

test("keep-leftovers links what waits for the archive, and nothing else", async () => {
  const file = writeSegment(`volume/data/pg_wal/${name}`);
  writeSegment("volume/data/pg_wal/000000010000000000000004");
  for (const each of [name, "000000010000000000000002"]) markReady(each);
  expect(await keepLeftovers()).toEqual({ code: 0, text: "" });
  expect(await keepLeftovers()).toEqual({ code: 0, text: "" });
  expect(readdirSync(repository.path("volume/leftovers"))).toEqual([name]);
  expect(statSync(repository.path("volume/leftovers", name)).ino).toBe(statSync(file).ino);
});

test("keep-leftovers makes nothing where nothing waits", async () => {
  expect(await keepLeftovers()).toEqual({ code: 0, text: "" });
  expect(existsSync(repository.path("volume/leftovers"))).toBe(false);
});

test("push-leftovers pushes them, and keeps apart what PostgreSQL has overwritten meanwhile", async () => {
  mkdirSync(repository.path("volume/leftovers"));
  writeSegment("volume/leftovers/000000010000000000000002");
  writeSegment(`volume/leftovers/${name}`);
  const program = pushLeftovers();
  onTestFinished(() => void program.kill("SIGKILL"));
  const left = () => readdirSync(repository.path("volume/leftovers"));
  while (left().some((each) => !each.endsWith(".refused"))) await sleep(50);
  expect(left()).toEqual(["000000010000000000000002.refused"]);
  expect(pushed()).toEqual([name]);
});

const mark = (present: boolean) => {
  const file = repository.path("volume/rewinding");
  if (present) writeFileSync(file, "");
  else rmSync(file);
};

test("copy-leftovers keeps leftovers from what pg_rewind writes, the newest first, and leaves room", async () => {
  const files = [3n, 4n].map((number) => repository.writeSegment(`volume/data/pg_wal/00000001000000000000000${number}`, number));
  const copies = files.map((file) => repository.path("volume/leftovers", basename(file)));
  for (const file of files) markReady(basename(file));
  await keepLeftovers();
  const copy = (partOfRoomLeft: string) => repository.programWith({ PART_OF_ROOM_LEFT: partOfRoomLeft }, "for-patroni/copy-leftovers");
  const isLinked = () => files.map((file, index) => statSync(file).ino === statSync(copies[index] ?? "").ino);
  expect(await copy("1")).toEqual({ code: 0, text: "" }); // all of the volume is to be left free
  expect(isLinked()).toEqual([true, true]);
  expect(await copy("1000000")).toEqual({ code: 0, text: "" });
  expect(isLinked()).toEqual([false, false]);
  for (const file of files) truncateSync(file);
  for (const each of copies) expect(statSync(each).size).toBe(16 * 1024 * 1024);
  expect(readdirSync(repository.path("volume")).sort()).toEqual(["data", "leftovers"]);
});

test("push-leftovers leaves a leftover alone that pg_rewind may be writing, and pushes one that is a file of its own", async () => {
  const written = repository.writeSegment("volume/data/pg_wal/000000010000000000000003", 3n);
  markReady("000000010000000000000003");
  await keepLeftovers();
  const whole = readFileSync(written);
  truncateSync(written); // as pg_rewind begins
  repository.writeSegment("volume/leftovers/000000010000000000000004", 4n);
  mark(true);
  const program = pushLeftovers();
  onTestFinished(() => void program.kill("SIGKILL"));
  const left = () => readdirSync(repository.path("volume/leftovers"));
  while (left().includes("000000010000000000000004")) await sleep(50);
  expect(left()).toEqual(["000000010000000000000003"]);
  writeFileSync(written, whole);
  mark(false);
  while (left().length > 0 && !left().some((each) => each.endsWith(".refused"))) await sleep(50);
  expect(left()).toEqual([]);
  expect(pushed().sort()).toEqual(["000000010000000000000003", "000000010000000000000004"]);
});

test("serve-metrics tells what waits for the archive, since when, and why", async () => {
  const port = await freePort();
  for (const each of ["psql", "prometheus-postgres-exporter"]) symlinkSync("/bin/false", repository.path("bin", each));
  const script = join(import.meta.dirname, "serve-metrics");
  const env = { ...repository.environment, PORT: String(port) };
  const program = spawn("python3", ["-ISB", script, repository.path("volume")], { env, stdio: "ignore" });
  onTestFinished(() => void program.kill("SIGKILL"));
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
  while (!(await ask("/archive"))) await sleep(20);

  const quiet = {
    waiting: 0,
    newest: null,
    oldestSeconds: 0,
    failure: null,
    sizeBytes: expect.any(Number),
    availableBytes: expect.any(Number),
  };
  expect(await (await ask("/archive"))?.json()).toEqual(quiet);
  for (const each of [name, "00000002.history"]) markReady(each);
  const status = repository.path("volume/data/pg_wal/archive_status");
  writeFileSync(join(status, "000000010000000000000002.done"), "");
  utimesSync(join(status, `${name}.ready`), Date.now() / 1000 - 100, Date.now() / 1000 - 100);
  mkdirSync(repository.path("volume/leftovers"));
  for (const each of ["000000010000000000000001", "000000020000000000000009.refused", "some other file"])
    writeFileSync(repository.path("volume/leftovers", each), "");
  const failure = { since: "2026-01-01T00:00:00Z", at: "2026-01-01T00:00:00Z", segment: name, message: "StoreDenied" };
  writeFileSync(repository.path("volume/archive-failure.json"), JSON.stringify(failure));
  const told = (await (await ask("/archive"))?.json()) as { oldestSeconds: number };
  // The history of a timeline comes after all segments of the one before it.
  expect(told).toMatchObject({ waiting: 4, newest: "00000002.history", failure });
  expect(told.oldestSeconds).toBeGreaterThanOrEqual(100);
  const metrics = await (await ask("/metrics"))?.text();
  expect(metrics).toContain("\nsampledb_instance_segments_waiting 4\n");
  expect(metrics).toContain("\nsampledb_instance_archive_failing 1\n");
  expect(metrics).toMatch(/\nsampledb_volume_available_bytes \d+\n/);
});
