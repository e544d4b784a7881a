// Which instance may be promoted, given the logs of all. That Patroni asks and obeys is tested in e2e.
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { run } from "../../tools/command.ts";

type Cases = readonly [string, { state: object; logs: Record<string, readonly [timeline: number, position: number]> }, boolean | null][];

const cases: Cases = [
  ["a vote, of one that is as far", { state: sync(1, "a", "b"), logs: { a: [1, 100], b: [1, 100] } }, true],
  ["a vote, of one that is behind", { state: sync(1, "a", "b"), logs: { a: [1, 100], b: [1, 90] } }, true],
  ["somebody is ahead", { state: sync(1, "a", "b"), logs: { a: [1, 100], b: [1, 101] } }, false],
  ["nobody has answered yet", { state: sync(1, "a", "b"), logs: { a: [1, 100] } }, null],
  ["it does not know itself yet", { state: sync(0, "a"), logs: { b: [1, 100] } }, null],
  ["its own timeline is not known", { state: sync(0, "a"), logs: { a: [0, 100] } }, null],
  ["no vote is needed", { state: sync(0, "a"), logs: { a: [1, 100] } }, true],
  ["not among those for whom commits wait: one of them must agree", { state: sync(0, "b"), logs: { a: [1, 100] } }, null],
  ["not among those for whom commits wait, and one of them agrees", { state: sync(0, "b"), logs: { a: [1, 100], b: [1, 100] } }, true],
  ["the last primary is ahead with what was never acknowledged", { state: sync(0, "a"), logs: { a: [1, 100], p: [1, 120] } }, true],
  ["the last primary that is ahead has no vote", { state: sync(1, "a", "b"), logs: { a: [1, 100], p: [1, 120] } }, null],
  ["the last primary agrees", { state: sync(1, "a", "b"), logs: { a: [1, 100], p: [1, 100] } }, true],
  ["more log, of an older timeline", { state: sync(1, "a", "b"), logs: { a: [1, 200], b: [2, 100] } }, false],
  ["one whose server does not run has no vote", { state: sync(1, "a", "b"), logs: { a: [1, 100], b: [1, 0] } }, null],
  ["one that knows no timeline has no vote", { state: sync(1, "a", "b"), logs: { a: [1, 100], b: [0, 100] } }, null],
  ["a stranger has no vote", { state: sync(1, "a", "b"), logs: { a: [1, 100], c: [1, 100] } }, null],
];

/** Patroni's `sync` state: p was the last primary, and commits waited for these. */
function sync(quorum: number, ...standbys: readonly string[]): object {
  return { leader: "p", sync_standby: standbys.join(","), quorum: String(quorum) };
}

const waitsForNobody: readonly [string, Cases[number][1]["logs"], boolean][] = [
  ["alone", { a: [1, 100] }, true],
  ["others are of its history, also where one has more: Patroni compares that", { a: [2, 100], b: [2, 200], c: [1, 300] }, true],
  ["more log, of an older timeline", { a: [1, 200], b: [2, 100] }, false],
  ["one whose server does not run tells nothing", { a: [1, 200], b: [2, 0] }, true],
];

const named = { "sampledb.io/named": "a" };
const switchovers: readonly [string, { order: object; told: string | undefined }, boolean][] = [
  ["has all that the last primary had", { order: named, told: "100" }, false],
  ["has more than it told last", { order: named, told: "90" }, false],
  ["lacks some of it", { order: named, told: "101" }, true],
  ["nothing was told", { order: named, told: undefined }, false],
  ["another is named: Patroni compares", { order: { "sampledb.io/named": "b" }, told: "101" }, false],
  ["no switchover: it is to lead with what it has", { order: { member: "a" }, told: "101" }, false],
  ["nobody has ordered it: a failover", { order: {}, told: "101" }, false],
];

const program = `
import importlib.machinery, importlib.util, json, sys
loader = importlib.machinery.SourceFileLoader("may_promote", sys.argv[1])
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("may_promote", loader))
loader.exec_module(module)
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
  "commits wait for nobody: $name: $expected",
  ({ expected, index }) => expect(withoutVotes[index]).toBe(expected),
);

test.each(switchovers.map(([name, , expected], index) => ({ name, expected, index })))(
  "left behind by a switchover: $name: $expected",
  ({ expected, index }) => expect(leftBehind[index]).toBe(expected),
);
