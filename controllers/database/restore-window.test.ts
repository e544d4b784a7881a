// Bad input of a Restore that the known Backups prove wrong: each with its sentence. And what must not be refused, because it may be right.
import { expect, test } from "vitest";
import { type RestoreSpec, restoreSpec } from "../../api/restore.ts";
import type { Backup } from "../kinds/sampledb-io.ts";
import { chosenBackup, objectionTo } from "./restore-window.ts";

const now = new Date("2026-05-04T12:00:00Z");
const facts = { databaseBytes: 30_000_000, stopLSN: "0/2000100", timeline: 2, repository: { stanza: "uid-17-1" } };

function backup(name: string, status: "True" | "False" | undefined, told: object = {}): Backup {
  const conditions = status === undefined ? [] : [{ type: "Succeeded", status, reason: "Because", message: "", lastTransitionTime: "" }];
  return { metadata: { name, namespace: "shop" }, status: { conditions, ...told } } as unknown as Backup;
}
const morning = backup("morning", "True", { ...facts, consistentTime: "2026-05-04T06:00:00Z" });
const noon = backup("noon", "True", {
  ...facts,
  stopLSN: "1/10",
  timeline: 3,
  consistentTime: "2026-05-04T11:00:00Z",
  databaseBytes: 50_000_000,
});
const anew = backup("anew", "True", {
  ...facts,
  stopLSN: "2/0",
  consistentTime: "2026-05-04T11:30:00Z",
  repository: { stanza: "uid-17-2" },
});
const known = [morning, noon, backup("bad", "False"), backup("running", undefined)];

function ask(source: RestoreSpec["source"], target: object = { type: "Latest" }, overrides: object = {}, backups = known) {
  const spec = restoreSpec.parse({ source, target, destination: { type: "New", sampleDBName: "copy", overrides } });
  const named = backups.find(({ metadata }) => metadata.name === source.backupName);
  return objectionTo(spec, { backup: named, backups: source.sampleDBName === "orders" ? backups : [] }, now);
}
const ofNoon = { backupName: "noon" };
const ofOrders = { sampleDBName: "orders" };
const at = (time: string) => ({ type: "Time", time });
const place = (lsn: string) => ({ type: "LSN", lsn });
const bare = (stanza: string) => ({
  repository: { volumeClaimName: "orders-repository", stanza, sampleDBSpec: "FromRepository" as const },
});
const withSize = (size: string) => ({ storage: { size } });

test.each<[string, ReturnType<typeof ask>, string, string, string]>([
  [
    "an unknown Backup",
    ask({ backupName: "other" }),
    "SourceMissing",
    "spec.source.backupName",
    "there is no Backup other in this namespace",
  ],
  ["a Backup that runs", ask({ backupName: "running" }), "SourceNotReady", "spec.source.backupName", "Backup running is still being made"],
  ["a Backup that failed", ask({ backupName: "bad" }), "SourceBad", "spec.source.backupName", "Backup bad has failed"],
  [
    "a SampleDB without a good Backup",
    ask({ sampleDBName: "other" }),
    ...(["SourceMissing", "spec.source.sampleDBName", "SampleDB other has no good Backup in this namespace"] as const),
  ],
  [
    "a time before the named Backup's end",
    ask(ofNoon, at("2026-05-04T10:00:00Z")),
    "TargetOutsideWindow",
    "spec.target.time",
    "2026-05-04T10:00:00Z can't be restored: from 2026-05-04T11:00:01Z, when Backup noon had ended, to the end of the archive can",
  ],
  [
    "a time before the first Backup's end, in another zone",
    ask(ofOrders, at("2026-05-04T08:00:00+02:00")),
    ...(["TargetOutsideWindow", "spec.target.time", "from 2026-05-04T06:00:01Z, when Backup morning had ended"] as const),
  ],
  [
    "a future time",
    ask(ofOrders, at("2027-05-04T12:00:00Z")),
    ...(["TargetOutsideWindow", "spec.target.time", "2027-05-04T12:00:00Z is in the future: it is 2026-05-04T12:00:00Z now"] as const),
  ],
  [
    "a future time of a bare repository",
    ask(bare("uid-17-1"), at("2027-05-04T12:00:00Z"), withSize("1Gi")),
    ...(["TargetOutsideWindow", "spec.target.time", "is in the future"] as const),
  ],
  [
    "an LSN before the named Backup's end, also with a shorter first part",
    ask(ofNoon, place("0/FFFFFFFF")),
    ...(["TargetOutsideWindow", "spec.target.lsn", "0/FFFFFFFF can't be restored: from 1/10, where Backup noon ended"] as const),
  ],
  ["an LSN before the first Backup's end", ask(ofOrders, place("0/20000FF")), "TargetOutsideWindow", "spec.target.lsn", "from 0/2000100"],
  [
    "a timeline before the Backup's",
    ask(ofNoon, { type: "Latest", timeline: 2 }),
    ...(["TargetOutsideWindow", "spec.target.timeline", "timeline 2 can't be restored: Backup noon is on timeline 3"] as const),
  ],
  [
    "too small a volume",
    ask(ofNoon, undefined, withSize("40M")),
    ...([
      "VolumeTooSmall",
      "spec.destination.overrides.storage.size",
      "40M is too small: the data in Backup noon has 50000000 bytes",
    ] as const),
  ],
  [
    "a repository of a wrong major",
    ask(bare("uid-14-1"), undefined, withSize("1Gi")),
    ...(["SourceBad", "spec.source.repository.stanza", "uid-14-1 is of PostgreSQL 14, and this operator runs 15 and 17"] as const),
  ],
  [
    "a folder that is no archive",
    ask(bare("other"), undefined, withSize("1Gi")),
    ...(["SourceMissing", "spec.source.repository.stanza", "other is no archive of this operator"] as const),
  ],
])("refused: %s", (_, objection, reason, field, message) => {
  expect(objection).toEqual({ reason, field, message: expect.stringContaining(message) });
});

test.each<[string, ReturnType<typeof ask>]>([
  ["Latest from a good Backup", ask(ofNoon)],
  ["a time right after the Backup's end", ask(ofNoon, at("2026-05-04T11:00:01Z"))],
  ["a time between two Backups of the SampleDB", ask(ofOrders, at("2026-05-04T07:00:00Z"))],
  ["a time later than anything that is known", ask(ofOrders, at("2026-05-04T11:59:59Z"))],
  ["a moment ahead, by another clock", ask(ofOrders, at("2026-05-04T12:00:30Z"))],
  ["an LSN far behind the last known", ask(ofOrders, place("FFFFFFFF/0"))],
  ["a timeline that nobody has seen", ask(ofOrders, { type: "Latest", timeline: 9 })],
  ["an older Backup that fits the size", ask(ofOrders, undefined, withSize("40M"))],
  ["a Backup that tells nothing of its place", ask({ backupName: "bare" }, place("0/1"), {}, [backup("bare", "True")])],
  ["the archive before the one that began anew", ask(ofOrders, at("2026-05-04T11:10:00Z"), {}, [...known, anew])],
  ["a bare repository", ask(bare("uid-15-3"), at("2020-01-01T00:00:00Z"), withSize("1Gi"))],
])("not refused, for it may be right: %s", (_, objection) => expect(objection).toBeUndefined());

test("the Backup that is chosen is the newest before the target, and so is its archive", () => {
  const target = (time: string) => ({ type: "Time", time }) as const;
  const good = [morning, noon, anew];
  expect(chosenBackup(target("2026-05-04T11:10:00Z"), good)).toBe(noon);
  expect(chosenBackup(target("2026-05-04T11:45:00Z"), good)).toBe(anew);
  expect(chosenBackup({ type: "Latest" }, good)).toBe(anew);
});
