import { expect, test } from "vitest";
import { apiVersion } from "../../api/version.ts";
import type { Backup, Restore } from "../kinds/sampledb-io.ts";
import { dependentsOf, readersOf, whyNeeded } from "./backups.ts";

const full = "20260501-000000F";
const of = (label: string, stanza = "uid-17-1") =>
  ({
    apiVersion,
    kind: "Backup",
    metadata: { name: label, uid: `${stanza}/${label}` },
    status: { label, repository: { stanza } },
  }) as unknown as Backup;
const [first, diff, incremental, later] = [
  `${full}`,
  `${full}_20260502-000000D`,
  `${full}_20260502-120000I`,
  `${full}_20260503-000000I`,
].map((label) => of(label));
const other = of("20260503-060000F");
const elsewhere = of(`${full}_20260502-000000D`, "uid-17-2");
const all = [first, diff, incremental, later, other, elsewhere] as Backup[];

test.each<[string, Backup | undefined, (Backup | undefined)[]]>([
  ["a full one carries all of its chain", first, [diff, incremental, later]],
  ["a differential one carries the incremental ones after it", diff, [incremental, later]],
  ["an incremental one carries those after it", incremental, [later]],
  ["the last one of a chain carries nothing", later, []],
  ["a full one alone carries nothing", other, []],
])("%s", (_, subject, dependents) => expect(dependentsOf(subject as Backup, all)).toEqual(dependents));

const good = { type: "Succeeded", status: "True", reason: "BackupSucceeded", message: "", lastTransitionTime: "2026-05-01T00:00:00Z" };
const that = (label: string, deletionPolicy: string, isGoing: boolean) => {
  const made = of(label);
  const metadata = { ...made.metadata, ...(isGoing ? { deletionTimestamp: "2026-05-04T12:00:00Z" } : {}) };
  return { ...made, metadata, spec: { sampleDBName: "orders", deletionPolicy }, status: { ...made.status, conditions: [good] } } as Backup;
};
test.each<[string, string, boolean, RegExp | undefined]>([
  ["stays", "Delete", false, /build on it/],
  ["goes too, with its artefact", "Delete", true, undefined],
  ["goes too, and leaves its artefact", "Retain", true, /build on it/],
])("a full one that goes while one that builds on it %s", (_, policy, isGoing, why) => {
  const going = that(full, "Delete", true);
  const needed = whyNeeded(
    going,
    [going, that(`${full}_20260503-000000I`, policy, isGoing), that("20260503-060000F", "Delete", false)],
    [],
  );
  if (why) expect(needed).toMatch(why);
  else expect(needed).toBeUndefined();
});

test.each<[string, string, object | undefined, boolean]>([
  ["that has not begun", "New", undefined, true],
  ["whose data is whole, and whose SampleDB is not made yet", "New", { systemIdentifier: "755" }, true],
  ["whose SampleDB is made and does not serve", "New", { systemIdentifier: "755", firstBackupName: "copy-restored" }, false],
  ["in place whose data is whole", "InPlace", { systemIdentifier: "755" }, false],
  ["that has succeeded", "New", { conditions: [good] }, false],
])("of a Restore %s it is known whether it reads", (_, type, status, reads) => {
  const restore = {
    metadata: { namespace: "shop", name: "back" },
    spec: { source: { sampleDBName: "orders" }, destination: { type, sampleDBName: "copy" } },
    status,
  } as unknown as Restore;
  const subject = { ...that(full, "Delete", false), metadata: { namespace: "shop", name: full } };
  expect(readersOf(subject, [restore])).toEqual(reads ? [restore] : []);
});
