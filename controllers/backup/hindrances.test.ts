import { expect, test } from "vitest";
import { primary } from "../database/instance.fixture.ts";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import type { ConfigMap, Job } from "../kinds/kubernetes.ts";
import { backup, created, ended } from "./backup.fixture.ts";
import { hindrance, type Inputs, mostWaiting } from "./hindrances.ts";

const at = (seconds: number) => new Date(Date.parse(created) + seconds * 1000);
const own = backup("nightly", { metadata: { creationTimestamp: "2026-05-04T12:00:00Z" } });
const earlier = (name: string, more: Parameters<typeof backup>[1] = {}) =>
  backup(name, { ...more, metadata: { creationTimestamp: "2026-05-04T11:00:00Z", ...more.metadata } });
const repository = {
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "orders-repository" } },
  data: { "pgbackrest.conf": "[global]\n\n[uid-17-1]\n" },
} as ConfigMap;
const off = { ...repository, metadata: { ...repository.metadata, annotations: { "sampledb.io/archive-off": "true" } } };
const job = {
  metadata: { name: "orders-backup", ownerReferences: [{ kind: "Backup", name: "gone", controller: true }] },
} as unknown as Job;

const inputs = (more: Partial<Inputs> = {}): Inputs => ({
  backup: own,
  db: sampleDB({ backup: {} }),
  observed: { primary: primary(0) } as Inputs["observed"],
  repository,
  siblings: [own],
  lock: undefined,
  now: at(10),
  ...more,
});

test("a Backup of a database that serves, with nobody before it, can begin", () => expect(hindrance(inputs())).toBeUndefined());

test.each<[string, Partial<Inputs>, "waiting" | "failed", string, RegExp]>([
  ["no SampleDB", { db: undefined }, "waiting", "DatabaseMissing", /no SampleDB orders/],
  ["no SampleDB after six minutes", { db: undefined, now: at(360) }, "failed", "DatabaseMissing", /no SampleDB orders/],
  ["a SampleDB without spec.backup", { db: sampleDB() }, "waiting", "NoRepository", /no spec.backup/],
  ["a SampleDB without spec.backup after six minutes", { db: sampleDB(), now: at(360) }, "failed", "NoRepository", /no spec.backup/],
  ["a repository that is not made yet", { repository: undefined }, "waiting", "NoRepository", /not made yet/],
  ["a repository that was switched off", { repository: off }, "waiting", "NoRepository", /not made yet/],
  ["an earlier one", { siblings: [earlier("first"), own] }, "waiting", "BackupWaits", /^it waits for Backup first$/],
  ["three earlier ones", { siblings: [earlier("a"), earlier("b"), earlier("c"), own] }, "waiting", "BackupWaits", /Backup a, and 2 more/],
  ["the Job of one that is gone", { lock: job }, "waiting", "BackupWaits", /Job orders-backup of Backup gone/],
  ["no primary", { observed: { primary: undefined } as Inputs["observed"] }, "waiting", "DatabaseDown", /no primary/],
  [
    "a database that sleeps",
    { db: sampleDB({ backup: {}, powerState: "Hibernated" }), observed: { primary: undefined } as Inputs["observed"] },
    "waiting",
    "DatabaseDown",
    /sleeps/,
  ],
  [
    "too many earlier ones",
    { siblings: [...Array.from({ length: mostWaiting }, (_, index) => earlier(`b${index}`)), own] },
    "failed",
    "TooManyBackups",
    /no more than 20/,
  ],
])("with %s it does not begin", (_, more, kind, reason, message) => {
  expect(hindrance(inputs(more))).toMatchObject({ kind, reason, message: expect.stringMatching(message) });
});

const annotations = { "sampledb.io/restore-in-place": "back/1b2c3d4e-0000-0000-0000-000000000000" };
const claimed = sampleDB({ backup: {} }, { annotations });
const safety = backup("orders-before-1b2c3d4e", { metadata: { creationTimestamp: "2026-05-04T12:00:00Z" } });
const many = Array.from({ length: mostWaiting }, (_, index) => earlier(`b${index}`));

test("the Backup that a Restore in place waits for begins before those that only wait, however many", () => {
  expect(hindrance(inputs({ db: claimed, backup: safety, siblings: [...many, safety] }))).toBeUndefined();
  const runs = earlier("nightly", { status: { startTime: created } });
  const held = hindrance(inputs({ db: claimed, backup: safety, siblings: [runs, ...many, safety] }));
  expect(held).toMatchObject({ kind: "waiting", message: "it waits for Backup nightly" });
});

test("no other one begins meanwhile, unless the SampleDB is deleted for good", () => {
  const held = hindrance(inputs({ db: claimed, siblings: [...many, own] }));
  expect(held).toMatchObject({ kind: "waiting", reason: "BackupWaits", message: expect.stringMatching(/^it waits for Restore back,/) });
  const going = sampleDB({ backup: {} }, { annotations, deletionTimestamp: created });
  expect(hindrance(inputs({ db: going }))).toBeUndefined(); // its last one: no other gets a SampleDB
});

test.each([
  ["succeeded", earlier("first", { status: ended("True") })],
  ["failed", earlier("first", { status: ended("False") })],
  ["is being deleted", earlier("first", { metadata: { deletionTimestamp: created } })],
])("one before it that %s holds it up no longer", (_, first) => expect(hindrance(inputs({ siblings: [first, own] }))).toBeUndefined());
