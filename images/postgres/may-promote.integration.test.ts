// Which instance may be promoted, given the logs of all. That Patroni asks and obeys is tested in e2e.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { run } from "../../tools/command.ts";

type Cases = readonly [string, { state: object; logs: Record<string, readonly [timeline: number, position: number]> }, boolean | null][];

const cases: Cases = [
  ["another synchronous instance has as much log", { state: sync(1, "a", "b"), logs: { a: [1, 100], b: [1, 100] } }, true],
  ["another synchronous instance has less log", { state: sync(1, "a", "b"), logs: { a: [1, 100], b: [1, 90] } }, true],
  ["another synchronous instance has more log", { state: sync(1, "a", "b"), logs: { a: [1, 100], b: [1, 101] } }, false],
  ["no other instance has answered yet", { state: sync(1, "a", "b"), logs: { a: [1, 100] } }, null],
  ["its own log is not known yet", { state: sync(0, "a"), logs: { b: [1, 100] } }, null],
  ["its own timeline is not known", { state: sync(0, "a"), logs: { a: [0, 100] } }, null],
  ["no vote is needed", { state: sync(0, "a"), logs: { a: [1, 100] } }, true],
  ["not a synchronous instance: a synchronous one must agree", { state: sync(0, "b"), logs: { a: [1, 100] } }, null],
  ["not a synchronous instance, and a synchronous one agrees", { state: sync(0, "b"), logs: { a: [1, 100], b: [1, 100] } }, true],
  [
    "the last primary is ahead with commits that were never acknowledged",
    { state: sync(0, "a"), logs: { a: [1, 100], p: [1, 120] } },
    true,
  ],
  ["the last primary that is ahead has no vote", { state: sync(1, "a", "b"), logs: { a: [1, 100], p: [1, 120] } }, null],
  ["the last primary agrees", { state: sync(1, "a", "b"), logs: { a: [1, 100], p: [1, 100] } }, true],
  ["more log than another instance, on an older timeline", { state: sync(1, "a", "b"), logs: { a: [1, 200], b: [2, 100] } }, false],
  ["an instance whose server does not run has no vote", { state: sync(1, "a", "b"), logs: { a: [1, 100], b: [1, 0] } }, null],
  ["an instance without a known timeline has no vote", { state: sync(1, "a", "b"), logs: { a: [1, 100], b: [0, 100] } }, null],
  ["an instance that is not synchronous has no vote", { state: sync(1, "a", "b"), logs: { a: [1, 100], c: [1, 100] } }, null],
];

/** Patroni's `sync` state: p was the last primary, and commits waited for these. */
function sync(quorum: number, ...standbys: readonly string[]): object {
  return { leader: "p", sync_standby: standbys.join(","), quorum: String(quorum) };
}

const waitsForNobody: readonly [string, Cases[number][1]["logs"], boolean][] = [
  ["no other instance", { a: [1, 100] }, true],
  ["others share its history, and one has more log: Patroni compares that", { a: [2, 100], b: [2, 200], c: [1, 300] }, true],
  ["more log than another instance, on an older timeline", { a: [1, 200], b: [2, 100] }, false],
  ["an instance whose server does not run does not count", { a: [1, 200], b: [2, 0] }, true],
];

const named = { "sampledb.io/named": "a" };
const switchovers: readonly [string, { order: object; told: string | undefined }, boolean][] = [
  ["it has the last primary's whole log", { order: named, told: "100" }, false],
  ["it has more log than the last primary reported", { order: named, told: "90" }, false],
  ["it lacks a part of the last primary's log", { order: named, told: "101" }, true],
  ["the last primary's position is not known", { order: named, told: undefined }, false],
  ["a switchover names another instance: Patroni compares", { order: { "sampledb.io/named": "b" }, told: "101" }, false],
  ["an order without a switchover: it leads with the log that it has", { order: { member: "a" }, told: "101" }, false],
  ["no order: a failover", { order: {}, told: "101" }, false],
];

const load = `
import importlib.machinery, importlib.util, json, sys
loader = importlib.machinery.SourceFileLoader("may_promote", sys.argv[1])
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("may_promote", loader))
loader.exec_module(module)
`;
const program = `${load}
module.me = "a"
logs = lambda told: {name: module.Log(*log) for name, log in told.items()}
asked, alone, named = json.loads(sys.argv[2])
verdicts = [module.verdict(one["state"], logs(one["logs"])) for one in asked]
without_votes = [not module.hears_of_newer(logs(told), logs(told)["a"]) for told in alone]
left_behind = [module.left_behind(one["order"], {"optime": one.get("told")}, module.Log(1, 100)) for one in named]
print(json.dumps([verdicts, without_votes, left_behind]))
`;

let verdicts: (boolean | null)[];
let withoutVotes: boolean[];
let leftBehind: boolean[];

beforeAll(async () => {
  const asked = [cases.map(([, one]) => one), waitsForNobody.map(([, logs]) => logs), switchovers.map(([, one]) => one)];
  const env = { HOSTNAME: "orders-0", PYTHONDONTWRITEBYTECODE: "1" };
  const answer = await run("python3", ["-Sc", program, join(import.meta.dirname, "may-promote"), JSON.stringify(asked)], { env });
  [verdicts, withoutVotes, leftBehind] = JSON.parse(answer);
});

test.each(cases.map(([name, , expected], index) => ({ name, expected, index })))(
  "may promote, synchronous: $name: $expected",
  ({ expected, index }) => {
    expect(verdicts[index]).toBe(expected);
  },
);

test.each(waitsForNobody.map(([name, , expected], index) => ({ name, expected, index })))(
  "may promote, asynchronous: $name: $expected",
  ({ expected, index }) => expect(withoutVotes[index]).toBe(expected),
);

test.each(switchovers.map(([name, , expected], index) => ({ name, expected, index })))(
  "left behind by a switchover: $name: $expected",
  ({ expected, index }) => expect(leftBehind[index]).toBe(expected),
);

test("a segment that was received in part, until its timeline was left, is not archived; every other one is PostgreSQL's", async () => {
  const wal = mkdtempSync(join(tmpdir(), "wal-"));
  onTestFinished(() => rmSync(wal, { recursive: true }));
  mkdirSync(join(wal, "archive_status"));
  const history = (name: string, ...lines: string[]) => writeFileSync(join(wal, `${name}.history`), `${lines.join("\n\n")}\n`);
  const why = "no recovery target specified";
  history("0000000B", `9\t0/270000A0\t${why}`, `10\t0/27038460\t${why}`);
  history("0000000C", `9\t0/270000A0\t${why}`, `10\t0/27038460\t${why}`, `11\t1/FF0030B8\t${why}`);
  const [cutShort, waiting, archived] = ["0000000A0000000000000027", "0000000B00000001000000FF", "000000090000000000000027"];
  const others = ["0000000A0000000000000026", "0000000B0000000000000027", "0000000C00000001000000FF"];
  const marks = [`${waiting}.ready`, `${archived}.done`];
  for (const name of [cutShort, waiting, archived, ...others]) writeFileSync(join(wal, name), "");
  for (const name of marks) writeFileSync(join(wal, "archive_status", name), "");
  const settle = `${load}\nmodule.settle_received(sys.argv[2])`;
  for (let times = 0; times < 2; times++)
    await run("python3", ["-Sc", settle, join(import.meta.dirname, "may-promote"), wal], {
      env: { HOSTNAME: "orders-0", PYTHONDONTWRITEBYTECODE: "1" },
    });
  expect(readdirSync(join(wal, "archive_status")).sort()).toEqual([`${cutShort}.done`, ...marks].sort());
});
