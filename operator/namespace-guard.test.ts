// Which namespaces may be deleted, and the messages for those that may not.
import { expect, test } from "vitest";
import { backup, ended } from "../controllers/backup/backup.fixture.ts";
import type { Backup, SampleDB } from "../controllers/kinds/sampledb-io.ts";
import { type AdmissionRequest, allowed } from "../runtime/webhooks/admission.ts";
import { namespaceGuard } from "./namespace-guard.ts";
import type { Known } from "./validator.ts";

const keep = { deletionPolicy: "Retain", deletionProtection: false };
const destroy = { deletionPolicy: "Delete", deletionProtection: false };
/** A SampleDB with `backup` and without a word about its deletion: Snapshot. */
const unsaid = { backup: {}, deletionProtection: false };
const guarded = { deletionPolicy: "Delete", deletionProtection: true };

function ask(specs: Readonly<Record<string, object>>, isSynced = true, left: readonly Backup[] = []) {
  const found = Object.entries(specs).map(([name, spec]) => ({ metadata: { name, namespace: "team-a" }, spec }) as unknown as SampleDB);
  const databases = { isSynced, list: (namespace?: string) => (namespace === "team-a" ? found : []) } as unknown as Known["databases"];
  const backups = { isSynced, list: () => left } as unknown as Known["backups"];
  const request = { operation: "DELETE", name: "team-a", namespace: "team-a" } as AdmissionRequest;
  return namespaceGuard.validate(request, { databases, backups } as Known);
}

test.each([
  ["without a SampleDB", {}],
  ["with SampleDBs that may go", { a: destroy, b: destroy }],
])("a namespace %s may be deleted", (_, specs) => {
  expect(ask(specs)).toEqual(allowed());
});

test.each([
  ["a SampleDB with Retain", { a: keep, z: destroy }, "a"],
  ["a SampleDB that says nothing", { a: unsaid, z: destroy }, "a"],
  ["a protected SampleDB", { a: destroy, z: guarded }, "z"],
  ["three SampleDBs", { c: keep, a: keep, b: guarded }, "a, b, c"],
  ["many SampleDBs", { a: keep, b: keep, c: keep, d: keep, e: guarded }, "a, b, c, 2 more"],
])("a namespace with %s may not be deleted, and the SampleDBs are named", (_, specs, names) => {
  const message = `namespace team-a holds SampleDBs whose data would go with it: ${names}. Delete them first; or, where the data may go, set spec.deletionPolicy to Delete and spec.deletionProtection to false`;
  expect(ask(specs)).toEqual({ kind: "denied", message });
});

test("before the cache is filled no namespace may be deleted, even if it looks empty", () => {
  expect(ask({}, false)).toMatchObject({ kind: "denied", code: 503, message: expect.stringContaining("try again") });
});

const final = { labels: { "sampledb.io/final": "true" } };
const onVolume = { repository: { stanza: "uid-17-1", volumeClaimName: "orders-repository" } };

test.each([
  ["the last Backup of a deleted SampleDB in a volume", backup("last", { metadata: final, status: ended("True", onVolume) }), false],
  ["the same in a bucket", backup("last", { metadata: final, status: ended("True", { repository: { stanza: "uid-17-1" } }) }), true],
  ["one that has failed", backup("last", { metadata: final, status: ended("False", onVolume) }), true],
  ["another Backup", backup("night", { status: ended("True", onVolume) }), true],
])("a namespace with %s", (_, left, mayGo) => {
  const verdict = ask({}, true, [left]);
  expect(verdict.kind).toBe(mayGo ? "allowed" : "denied");
  if (!mayGo) expect(verdict).toMatchObject({ message: expect.stringContaining("Backups last. Restore them elsewhere") });
});
