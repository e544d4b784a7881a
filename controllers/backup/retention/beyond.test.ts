import { expect, test } from "vitest";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import { type Archived, toldPlaceOf } from "../../desired/store.ts";
import type { Backup } from "../../kinds/sampledb-io.ts";
import { backup, ended } from "../backup.fixture.ts";
import { made, other, type Short, uid } from "./backups.fixture.ts";
import { goingFrom, goingOf, type Policy } from "./beyond.ts";

const full = (name: string, day: number, more: Partial<Short> = {}): Short => ({ name, day, ...more });
const names = (policy: Policy, all: readonly Backup[]) =>
  goingOf(policy, uid, all).flatMap(({ head, dependents }) => [head, ...dependents].map(({ metadata }) => metadata.name));

const days = (...numbers: number[]) => numbers.map((day) => full(`f${day}`, day));

test.each<[string, Policy, readonly Short[], string[]]>([
  ["nothing while there are as many as wanted", { fullBackupCount: 2 }, days(0, 1), []],
  ["the oldest where there is one more", { fullBackupCount: 2 }, days(0, 1, 2), ["f0"]],
  ["a full one with all that build on it", { fullBackupCount: 1 }, [...days(0), full("i1", 1, { on: "f0" }), ...days(2)], ["f0", "i1"]],
  ["nothing for an incremental one: only full ones count", { fullBackupCount: 1 }, [...days(0), full("i1", 1, { on: "f0" })], []],
  ["the good one not, where a failed one came after it", { fullBackupCount: 1 }, [...days(0), full("bad", 1, { failed: true })], []],
  ["a failed one, once a later one is good", { fullBackupCount: 2 }, [...days(0), full("bad", 1, { failed: true }), ...days(2)], ["bad"]],
  ["a failed one not, if it is to be retained", { fullBackupCount: 2 }, [full("bad", 1, { failed: true, retain: true }), ...days(2)], []],
  [
    "one that is to be retained not, and it does not count",
    { fullBackupCount: 1 },
    [...days(0), full("f1", 1, { retain: true }), ...days(2)],
    ["f0"],
  ],
  [
    "a chain not, if one of it is to be retained",
    { fullBackupCount: 1 },
    [...days(0), full("i1", 1, { on: "f0", retain: true }), ...days(2)],
    [],
  ],
  ["nothing that the days need", { fullBackupCount: 1, periodDays: 7 }, days(0, 3, 6), []],
  ["what the days do not need: the newest one before them stays", { fullBackupCount: 1, periodDays: 7 }, days(0, 2, 5, 10), ["f0"]],
  ["nothing by days that the count keeps", { fullBackupCount: 3, periodDays: 1 }, days(0, 30, 60), []],
  ["the only one that covers the days not, however old it is", { fullBackupCount: 1, periodDays: 7 }, days(0, 30), []],
  [
    "the chain of the newest good one not, even where newer full ones are enough",
    { fullBackupCount: 1 },
    [...days(0, 1), full("i2", 2, { on: "f0" })],
    [],
  ],
  ["those of an earlier archive with the others", { fullBackupCount: 1 }, [...days(0, 1), full("new", 2, { generation: 2 })], ["f1", "f0"]],
  ["those of an earlier SampleDB of the name not", { fullBackupCount: 1 }, [full("former", 0, { uid: other }), ...days(1, 2)], ["f1"]],
  ["nothing where all have failed", { fullBackupCount: 1 }, [full("a", 0, { failed: true }), full("b", 1, { failed: true })], []],
  ["dependents not, whose full one has no object any more", { fullBackupCount: 1 }, [full("i1", 1, { on: "gone" }), ...days(2, 3)], ["f2"]],
])("retention removes %s", (_, policy, all, going) => expect(names(policy, made(policy, ...all)).toSorted()).toEqual(going.toSorted()));

test("one that is being deleted already is left to its deletion", () => {
  const [first, ...others] = made({ fullBackupCount: 1 }, ...days(0, 1)) as [Backup, Backup];
  const deleted = { ...first, metadata: { ...first.metadata, deletionTimestamp: "2026-01-03T00:00:00Z" } };
  expect(names({ fullBackupCount: 1 }, [deleted, ...others])).toEqual([]);
});

test("one that failed before it began goes too", () => {
  const refused = backup("refused", {
    status: ended("False", { completionTime: "2026-01-01T00:00:00Z" }),
    spec: { sampleDBName: "orders", type: "Full", deletionPolicy: "Delete" },
  });
  expect(names({ fullBackupCount: 1 }, [refused, ...made({ fullBackupCount: 1 }, ...days(1))])).toEqual(["refused"]);
});

const two = { fullBackupCount: 2 };
const one = { fullBackupCount: 1 };

test.each<[string, Policy, readonly Short[], Readonly<Record<string, boolean>>]>([
  ["a new backup is the cause", two, days(0, 1, 2), { f0: true }],
  ["the policy was changed since the last one", one, [full("f0", 0, { policy: two }), full("f1", 1, { policy: two })], { f0: false }],
  [
    "the policy was changed, and one succeeded before anybody looked",
    one,
    [full("f0", 0, { policy: two }), full("f1", 1, { policy: two }), full("f2", 2, { policy: one })],
    { f0: false, f1: false },
  ],
  [
    "the policy was changed there and back",
    one,
    [full("f0", 0, { policy: one }), full("f1", 1, { policy: one }), full("f2", 2, { policy: { fullBackupCount: 9 } })],
    { f0: false, f1: false },
  ],
  ["an operator that knew no retention made many", two, days(0, 1, 2, 3, 4), { f0: false, f1: false, f2: true }],
  ["what is told of the former policy is nonsense", one, days(0, 1).map((each) => ({ ...each, policy: {} as Policy })), { f0: false }],
])("%s: that is told apart", (_, policy, all, wanted) => {
  const found = goingOf(policy, uid, made(policy, ...all)).map(({ head, byNewBackup }) => [head.metadata.name, byNewBackup]);
  expect(Object.fromEntries(found)).toEqual(wanted);
});

test("what lies in another repository than the present one is not reached: it stays, and counts for nothing", () => {
  const s3 = { endpoint: "https://s3.example.com", bucket: "new", region: "eu", credentialsSecretName: "keys" };
  const retention = { fullBackupCount: 1 };
  const at = (repository: object) => sampleDB({ backup: { retention, repository } as object }, { uid }) as Archived;
  const [bucket, otherBucket, volume] = [at({ s3 }), at({ s3: { ...s3, bucket: "old" } }), at({ volume: {} })];
  const all = made(retention, ...days(0, 1, 2));
  const lying = (...places: readonly Archived[]) =>
    all.map((each, index): Backup => {
      const { stanza = "" } = each.status?.repository ?? {};
      return { ...each, status: { ...each.status, repository: { stanza, ...toldPlaceOf(places[index] ?? bucket) } } };
    });
  const going = (...places: readonly Archived[]) => goingFrom(bucket, lying(...places)).map(({ head }) => head.metadata.name);
  expect(going(bucket, bucket, bucket)).toEqual(["f0", "f1"]);
  expect(going(otherBucket, bucket, bucket)).toEqual(["f1"]);
  expect(going(volume, bucket, bucket)).toEqual(["f1"]);
  expect(going(otherBucket, volume, bucket)).toEqual([]);
});
