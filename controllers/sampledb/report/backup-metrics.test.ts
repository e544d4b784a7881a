// Given a SampleDB and its Backups, these metrics.
import { expect, test } from "vitest";
import { apiVersion } from "../../../api/version.ts";
import type { Family } from "../../../runtime/observability/observed-metrics.ts";
import { sampleDB } from "../../desired/sampledb.fixture.ts";
import type { Backup } from "../../kinds/sampledb-io.ts";
import { type BackedUp, backupFamilies, byState, byType, typeFamilies } from "./backup-metrics.ts";

function backup(name: string, more: Partial<Pick<Backup, "status">> & { readonly metadata?: object } = {}): Backup {
  const metadata = { name, namespace: "shop", uid: `uid-of-${name}`, creationTimestamp: "2026-05-04T12:00:00Z", ...more.metadata };
  const spec = { sampleDBName: "orders", type: "Full", deletionPolicy: "Delete" } as const;
  return { apiVersion, kind: "Backup", metadata, spec, ...(more.status ? { status: more.status } : {}) };
}

function ended(status: "True" | "False", more: object): NonNullable<Backup["status"]> {
  const condition = { type: "Succeeded", status, reason: "Reason", message: "", lastTransitionTime: "2026-05-04T12:00:00Z" };
  return { conditions: [condition], ...more };
}

const nightly = { name: "nightly", schedule: "0 3 * * *" };
const workdays = { name: "workdays", schedule: "0 9 * * 1-5" };
const db = (...schedules: readonly (typeof nightly)[]) => sampleDB({ backup: { schedules: [...schedules] } });
const good = (name: string, completionTime: string, more: object = {}) =>
  backup(name, { status: ended("True", { completionTime, durationSeconds: 60, repositoryBytes: 1000, ...more }) });
const bad = (name: string) => backup(name, { status: ended("False", { completionTime: "2026-05-05T03:00:00Z" }) });
const open = backup("open", { metadata: { creationTimestamp: "2026-05-04T03:00:00Z" } });

function told<T>(families: readonly Family<T>[], thing: T): Record<string, number> {
  return Object.fromEntries(
    families.flatMap(({ name, read }) => {
      const value = read(thing);
      return value === undefined ? [] : [[name.replace("sampledb_backup_", ""), value]];
    }),
  );
}

const of = (backups: readonly Backup[], ...schedules: readonly (typeof nightly)[]): BackedUp => ({ db: db(...schedules), backups });
const at = (time: string) => Date.parse(time) / 1000;

test("a SampleDB without schedules and Backups tells only that nothing has failed", () => {
  expect(told(backupFamilies, of([]))).toEqual({ failures: 0 });
});

test.each<[string, BackedUp, string | undefined]>([
  ["the second slot after the last good one", of([good("a", "2026-05-04T03:10:00Z")], nightly), "2026-05-06T03:00:00Z"],
  ["failures do not move it", of([good("a", "2026-05-04T03:10:00Z"), bad("b")], nightly), "2026-05-06T03:00:00Z"],
  ["a weekend without slots is none", of([good("a", "2026-05-08T09:10:00Z")], workdays), "2026-05-12T09:00:00Z"],
  ["of all schedules together", of([good("a", "2026-05-04T03:10:00Z")], nightly, workdays), "2026-05-05T03:00:00Z"],
  ["without a good one since the first was made", of([open, bad("b")], nightly), "2026-05-06T03:00:00Z"],
  ["nothing before the first", of([], nightly), undefined],
])("a Backup is too old at the right moment: %s", (_, backedUp, due) => {
  expect(told(backupFamilies, backedUp)["due_timestamp_seconds"]).toBe(due && at(due));
});

test("a hibernated database is due for nothing", () => {
  const sleeping = sampleDB({ powerState: "Hibernated", backup: { schedules: [nightly] } });
  expect(told(backupFamilies, { db: sleeping, backups: [good("a", "2026-05-04T03:10:00Z")] })).toEqual({ failures: 0 });
});

test("failures count since the last good one", () => {
  const backups = [bad("a"), good("b", "2026-05-04T03:10:00Z"), bad("c"), bad("d"), open];
  expect(told(backupFamilies, of(backups))["failures"]).toBe(2);
});

test("the last good one of each type has its time, duration and size", () => {
  const incremental = { sampleDBName: "orders", type: "Incremental", deletionPolicy: "Delete" } as const;
  const backups = [
    good("a", "2026-05-04T03:10:00Z"),
    { ...good("b", "2026-05-05T03:10:00Z", { repositoryBytes: 7 }), spec: incremental },
    bad("c"),
  ];
  const [full, differential, incr] = byType(of(backups)).map((one) => told(typeFamilies, one));
  expect(full).toEqual({ last_success_timestamp_seconds: at("2026-05-04T03:10:00Z"), last_duration_seconds: 60, last_size_bytes: 1000 });
  expect(differential).toEqual({});
  expect(incr).toMatchObject({ last_success_timestamp_seconds: at("2026-05-05T03:10:00Z"), last_size_bytes: 7 });
});

test("Backups are counted by type and state", () => {
  const counts = byState(of([good("a", "2026-05-04T03:10:00Z"), bad("b"), bad("c"), open]));
  expect(counts).toHaveLength(9);
  expect(counts.flatMap(({ type, state, count }) => (count > 0 ? `${type} ${state} ${count}` : []))).toEqual([
    "Full succeeded 1",
    "Full failed 2",
    "Full open 1",
  ]);
});
