// How long it takes to go back in place, to delete a database with a last Backup, and to bring it back: beside what each is made of.
import { eventually } from "../../tools/eventually.ts";
import { say } from "../../tools/progress.ts";
import { Runs } from "../database/runs.ts";
import { changeOnePercent, type Subject } from "./backup-data.ts";
import type { Figure } from "./figures.ts";
import { timedRestore } from "./timed-run.ts";

/** An hour, which is enough for 10 GB on a slow disk. */
const longestMs = 3_600_000;
/** Places in the data that no other part changes. */
const firstRound = 20;

export async function goingBack(subject: Subject): Promise<Figure[]> {
  const { namespace, database } = subject;
  const { name } = database;
  const runs = new Runs(namespace, name, longestMs);
  const to = (type: "New" | "InPlace", sampleDBName: string) => ({ destination: { type, sampleDBName } });
  const remove = async (copy: string, firstBackupName = "") => {
    await runs.succeeds("Backup", firstBackupName); // it needs the instance that is deleted next
    await namespace.run("patch", "sampledb", copy, "--type=merge", '--patch={"spec":{"deletionPolicy":"Delete"}}');
    await namespace.run("delete", "sampledb", copy, "--timeout=240s", "--request-timeout=0");
  };

  await runs.backUp("back-full", "Full");
  await changeOnePercent(subject, firstRound);
  const backup = { source: { backupName: "back-full" }, target: { type: "Immediate" } };
  const full = await timedRestore(namespace, runs, "back-new", { ...backup, ...to("New", "back-new") });
  await remove("back-new", full.status.firstBackupName);
  const delta = await timedRestore(namespace, runs, "back-in-place", { ...backup, ...to("InPlace", name) });
  await runs.succeeds("Backup", delta.status.firstBackupName ?? "");
  say(
    `into a new one: copied in ${full.copy} s, recovered in ${full.recovery} s; in place: ${delta.copy} s and ${delta.recovery} s, ${delta.whole.toFixed(0)} s in all`,
  );

  await changeOnePercent(subject, firstRound + 1);
  const incremental = await seconds(() => runs.backUp("back-incremental", "Incremental"));
  await changeOnePercent(subject, firstRound + 2);
  const { uid = "" } = (await database.get()).metadata;
  await database.change({ deletionPolicy: "Snapshot" });
  const deletion = await seconds(async () => {
    await namespace.run("delete", "sampledb", name, "--wait=false");
    await eventually("it is gone", longestMs, async () => !(await namespace.get("sampledbs.sampledb.io", name)));
  });
  const final = { source: { backupName: `${name}-final-${uid.slice(0, 8)}` } };
  const beside = await timedRestore(namespace, runs, "back-beside", { ...final, ...to("New", "back-beside") });
  await remove("back-beside", beside.status.firstBackupName);
  const back = await timedRestore(namespace, runs, "back-undeleted", { ...final, ...to("New", name) });
  await runs.succeeds("Backup", back.status.firstBackupName ?? "");
  await database.change({ deletionPolicy: "Delete" });
  return [
    {
      ...{ what: "in place after 1 %: copy and recovery, beside a new one", unit: "s" },
      ...{ ours: delta.copy + delta.recovery, peer: full.copy + full.recovery, wanted: { mostTimesPeer: 0.5 } },
    },
    {
      what: "delete with Snapshot, beside an incremental Backup",
      unit: "s",
      ours: deletion,
      peer: incremental,
      wanted: { mostAbovePeer: 20 },
    },
    { what: "undelete, beside a Restore to another name", unit: "s", ours: back.whole, peer: beside.whole, wanted: { mostTimesPeer: 1.1 } },
  ];
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return (performance.now() - begin) / 1000;
}
