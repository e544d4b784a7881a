// What a person has given up is let go: by the archiver, by what a former primary has left, and before a server starts on a full volume. It
// needs neither store nor repository, and nothing that was written since goes.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { freePort } from "../../tools/free-port.ts";
import { Repository, systemIdentifier } from "./repository.fixture.ts";

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
    "volume/data/pg_replslot",
    "volume/archive-failure.json",
    "pushed",
    "let-go",
  ])
    rmSync(repository.path(each), { recursive: true, force: true });
  for (const each of ["volume/leftovers", "volume/data/pg_wal/archive_status", "pushed"])
    mkdirSync(repository.path(each), { recursive: true });
  repository.pgBackRest('[ "$1" != archive-push ] || cp "$2" pushed/');
});

/** Seconds: a machine with much to do is slow, and right. */
const slowMachine = "20";
/** As the operator writes it. */
const letGo = (last: string) => writeFileSync(repository.path("let-go"), `${systemIdentifier} ${last}\n`);
/** Nobody listens there. */
const noRepository = async () => ({ INTAKE_PORT: String(await freePort()) });
const segment = (number: number) => `00000001000000000000000${number}`;
const listed = (...path: readonly string[]) => readdirSync(repository.path("volume", ...path));

test.each([
  ["the last file that waited", name, name, true],
  ["one before it", name, segment(2), true],
  ["one of an earlier timeline", "000000020000000000000001", name, true],
  ["one that was written since", name, segment(4), false],
  ["one of a later timeline", name, "000000020000000000000003", false],
  ["one that was half written then", name, `${name}.partial`, false],
  ["the history of a timeline whose segments waited", "000000020000000000000001", "00000002.history", true],
  ["the history of a timeline that began since", name, "00000002.history", false],
])("pgbackrest-push and %s: order %s, file %s, let go %s", async (_, last, file, isLetGo) => {
  letGo(last);
  const path = repository.writeSegment(`volume/data/pg_wal/${file}`);
  writeFileSync(repository.path("volume/archive-failure.json"), JSON.stringify({ since: "2026-01-01T00:00:00Z" }));
  const told = await repository.programWith(await noRepository(), "pgbackrest-push", path);
  expect(told).toEqual({ code: isLetGo ? 0 : 1, text: expect.stringContaining(isLetGo ? `${file} is let go` : "can't be reached") });
  expect(existsSync(repository.path("volume/archive-failure.json"))).toBe(!isLetGo);
});

test.each([
  ["of a database that was made anew", `${systemIdentifier + 1n} ${name}\n`],
  ["by an order that can't be read", "all of them, please\n"],
  ["by an empty order", ""],
])("pgbackrest-push lets go no segment %s: it is archived", async (_, text) => {
  writeFileSync(repository.path("let-go"), text);
  const path = repository.writeSegment(`volume/data/pg_wal/${name}`);
  expect(await repository.program("pgbackrest-push", path)).toEqual({ code: 0, text: "" });
  expect(readdirSync(repository.path("pushed"))).toEqual([name]);
});

test("pgbackrest-push tells the repository of a history that is let go: no instance begins that timeline again", async () => {
  letGo("000000020000000000000001");
  repository.begin("told");
  repository.pgBackRest('[ "$1" != archive-push ] || exit 1');
  const file = repository.path("volume/data/pg_wal/00000002.history");
  writeFileSync(file, "1\t0/3000000\tno recovery target specified\n");
  expect((await repository.programWith({ SECONDS_TO_TRY_AT_THE_END: slowMachine }, "pgbackrest-push", file)).code).toBe(0);
  expect((await repository.program("fetch-history", "00000002.history", repository.path("got"))).code).toBe(0);
});

test("push-leftovers lets go what a former primary has left, and keeps what is not let go for the archive", async () => {
  for (const number of [2, 3, 4]) repository.writeSegment(`volume/leftovers/${segment(number)}`, BigInt(number));
  letGo(name);
  const env = { ...repository.environment, ...(await noRepository()), SECONDS_BETWEEN_ROUNDS: "0.1" };
  const program = spawn(repository.leftoversProgram(), { env, stdio: "ignore" });
  onTestFinished(() => void program.kill("SIGKILL"));
  while (listed("leftovers").length > 1) await sleep(50);
  expect(listed("leftovers")).toEqual([segment(4)]);
});

/** A volume with the segments 1 to 6. A recovery reads from the fifth on, and a slot from this place on. */
function fillVolume(slot: bigint): void {
  for (const number of [1, 2, 3, 4, 5, 6]) {
    repository.writeSegment(`volume/data/pg_wal/${segment(number)}`, BigInt(number));
    if (number < 6) writeFileSync(repository.path(`volume/data/pg_wal/archive_status/${segment(number)}.ready`), "");
  }
  mkdirSync(repository.path("volume/data/pg_replslot/orders_1"), { recursive: true });
  const state = Buffer.alloc(200);
  state.writeBigUInt64LE(slot, 96);
  writeFileSync(repository.path("volume/data/pg_replslot/orders_1/state"), state);
  const control = `#!/bin/sh\necho "Latest checkpoint's REDO location:    0/5000028"\necho "Latest checkpoint's REDO WAL file:    ${segment(5)}"\n`;
  writeFileSync(repository.path("bin/pg_controldata"), control, { mode: 0o755 });
}

const none = 0n;
const thirdSegment = (3n << 24n) + 40n;
const nothing = "0";
const moreThanThereIs = String(2 ** 60);

test.each<[string, string | undefined, bigint, string, number[]]>([
  ["where there is room", segment(6), none, nothing, [1, 2, 3, 4, 5, 6]],
  ["where nothing is let go", undefined, none, moreThanThereIs, [1, 2, 3, 4, 5, 6]],
  ["where all is let go, but for what a recovery reads", segment(6), none, moreThanThereIs, [5, 6]],
  ["where two segments are let go", segment(2), none, moreThanThereIs, [3, 4, 5, 6]],
  ["where a slot needs some of what is let go", segment(6), thirdSegment, moreThanThereIs, [3, 4, 5, 6]],
])("make-room %s", async (_, last, slot, least, left) => {
  fillVolume(slot);
  if (last !== undefined) letGo(last);
  const push = join(repository.leftoversProgram(), "../pgbackrest-push");
  const environment = { ...(await noRepository()), LEAST_ROOM: least, PUSH: push, SECONDS_FOR_A_SEGMENT: slowMachine };
  expect((await repository.programWith(environment, "for-patroni/make-room")).code).toBe(0);
  expect(listed("data/pg_wal").filter((each) => each !== "archive_status")).toEqual(left.map(segment));
  expect(listed("data/pg_wal/archive_status")).toEqual(left.filter((number) => number < 6).map((number) => `${segment(number)}.ready`));
});

test("make-room gives the oldest segments to a repository that is back, and removes none that it does not take", async () => {
  fillVolume(none);
  repository.pgBackRest('[ "$1" != archive-push ] || { [ "${2##*/}" != 000000010000000000000003 ] && cp "$2" pushed/; }');
  const push = join(repository.leftoversProgram(), "../pgbackrest-push");
  const environment = { LEAST_ROOM: moreThanThereIs, PUSH: push, SECONDS_FOR_A_SEGMENT: slowMachine };
  expect((await repository.programWith(environment, "for-patroni/make-room")).code).toBe(0);
  expect(readdirSync(repository.path("pushed"))).toEqual([segment(1), segment(2)]);
  expect(listed("data/pg_wal")).toEqual([3, 4, 5, 6].map(segment).concat("archive_status"));
});
