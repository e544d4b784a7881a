// Retention with real PostgreSQL and pgBackRest: what the operator decides, run-backup carries out, and what is kept can be restored.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ended } from "../../controllers/backup/backup.fixture.ts";
import { type Going, goingOf } from "../../controllers/backup/retention/beyond.ts";
import type { Backup } from "../../controllers/kinds/sampledb-io.ts";
import { Stage, stanza } from "./backup.fixture.ts";
import type { Outcome } from "./job-run.fixture.ts";

const uid = "uid";
const policy = { fullBackupCount: 1 };

describe.runIf(process.getuid?.() === 0)("retention", () => {
  let stage: Stage;
  /** The objects, as the operator would have made them. */
  let objects: Backup[] = [];
  let minutes = 0;

  beforeAll(async () => {
    stage = await Stage.start();
    await stage.servePrimary();
    await stage.sql("create table rows as select i, md5(i::text) from generate_series(1, 5000) i", "checkpoint");
  }, 600_000);
  afterAll(() => stage?.containers.stop());

  async function backUp(name: string, type: "full" | "incr"): Promise<Outcome> {
    await stage.sql(`insert into rows select 0 from generate_series(1, 100)`);
    const made = await stage.run({ task: "backup", type, uid: name });
    const good = made.outcome === "succeeded";
    const at = new Date(Date.parse("2026-05-04T12:00:00Z") + ++minutes * 60_000).toISOString();
    const status = ended(good ? "True" : "False", {
      ...{ startTime: at, completionTime: at, repository: { stanza }, sampleDBSpec: { backup: { retention: policy } } },
      ...(good ? { label: made.label, consistentTime: at } : {}),
    });
    const spec = { sampleDBName: "orders", type: "Full", deletionPolicy: "Delete" };
    objects.push({ apiVersion: "", kind: "Backup", metadata: { name, uid: name }, spec, status } as unknown as Backup);
    return made;
  }

  const labels = async (): Promise<string[]> => {
    const [{ backup }] = JSON.parse(await stage.pgBackRest("info", "--output=json"));
    return backup.map(({ label }: { label: string }) => label);
  };
  const archive = () => stage.containers.path("store/archive", stanza, "17-1/0000000100000000");
  const segments = () =>
    readdirSync(archive())
      .filter((name) => /^[0-9A-F]{24}-/.test(name))
      .map((name) => name.slice(0, 24));
  const rows = () => stage.sql("select count(*) from rows");
  const going = () => goingOf(policy, stanza.replace(/-\d+-\d+$/, ""), objects);

  async function expire({ head, dependents }: Pick<Going, "head" | "dependents">, currentStanza = stanza): Promise<Outcome> {
    const known = dependents.flatMap(({ status }) => status?.label ?? []);
    const label = head.status?.label;
    const asked = { task: "expire", uid: head.metadata.uid ?? "", dependents: known, currentStanza } as const;
    const outcome = await stage.run({ ...asked, ...(label === undefined ? {} : { label }) });
    if (outcome.outcome === "succeeded") objects = objects.filter((each) => each !== head && !dependents.includes(each));
    return outcome;
  }

  /** Everything that was written until now is in the archive. */
  async function archived(): Promise<void> {
    await stage.sql("select pg_switch_wal()");
    const last = await stage.sql("select pg_walfile_name(pg_current_wal_lsn() - 1)");
    await stage.until("the last segment is archived", async () => segments().includes(last));
  }

  test("a full backup with bad pages counts for nothing: the good one before it stays, and the program refuses to remove it", async () => {
    expect(uid).toBe(stanza.split("-")[0]);
    const first = await backUp("first", "full");
    const second = await backUp("second", "incr");
    await stage.sql("create table broken as select * from rows", "checkpoint");
    const file = await stage.sql("select pg_relation_filepath('broken')");
    const path = stage.containers.path("orders-0/volume/data", file);
    const content = readFileSync(path);
    content[5000] = (content[5000] ?? 0) ^ 0xff;
    writeFileSync(path, content);
    expect(await backUp("bad", "full")).toMatchObject({ reason: "PageChecksumsBad" });
    expect(going()).toEqual([]);
    const [head, dependent] = objects as [Backup, Backup];
    const message = `${first.label} is the last good backup in the repository`;
    expect(await expire({ head, dependents: [dependent] })).toEqual({ outcome: "failed", reason: "BackupNeeded", message });
    await stage.sql("drop table broken");
    await archived();
    expect(await stage.restore(second.label, "select count(*) from rows")).toBe(await rows());
  });

  test("the next good one lets both go, with their log; objects and repository are equal, and what is kept can be restored", async () => {
    const good = await backUp("good", "full");
    expect(going().map(({ head, dependents }) => [head, ...dependents].map(({ metadata }) => metadata.name))).toEqual([
      ["first", "second"],
      ["bad"],
    ]);
    for (const chain of going()) expect(await expire(chain)).toMatchObject({ outcome: "succeeded" });
    expect(await labels()).toEqual([good.label]);
    expect(objects.map(({ status }) => status?.label)).toEqual([good.label]);
    expect(segments()[0]).toBe(good.firstWAL);
    await archived();
    expect(await stage.restore(good.label, "select count(*) from rows")).toBe(await rows());
  });

  test("an artefact without an object stays, and so does the log from it on: no hole is cut", async () => {
    const forgotten = await backUp("forgotten", "full");
    objects = objects.filter(({ metadata }) => metadata.name !== "forgotten"); // deleted with the policy Retain
    const newest = await backUp("newest", "full");
    const [chain, ...others] = going();
    expect([chain?.head.metadata.name, others]).toEqual(["good", []]);
    expect(await expire(chain as Going)).toEqual({ outcome: "succeeded", removed: 1 });
    expect(await labels()).toEqual([forgotten.label, newest.label]);
    expect(segments()[0]).toBe(forgotten.firstWAL);
    await archived();
    for (const { label } of [forgotten, newest]) expect(await stage.restore(label, "select count(*) from rows")).toBe(await rows());
    // An artefact that somebody has removed: its object goes without a word.
    expect(await expire({ head: chain?.head as Backup, dependents: [] })).toEqual({ outcome: "succeeded", removed: 0 });
  });

  test("what an interrupted removal has left of an earlier archive goes, and of the present one nothing does", async () => {
    const [label = ""] = await labels();
    const folders = ["archive", "backup"].map((each) => stage.containers.path("store", each, stanza));
    const shell = (script: string) => stage.containers.run(["bash", "-euc", script]);
    // pgBackRest removes these files first, and the log last.
    await shell(`cp -a /tmp/store /tmp/kept; rm /tmp/store/{archive/${stanza}/archive,backup/${stanza}/backup}.info{,.copy}`);
    expect(await stage.run({ task: "expire", label })).toEqual({ outcome: "succeeded", removed: 0 });
    expect(folders.map(existsSync)).toEqual([true, true]);
    expect(await stage.run({ task: "expire", label, currentStanza: "uid-17-2" })).toEqual({ outcome: "succeeded", removed: 0 });
    expect(folders.map(existsSync)).toEqual([false, false]);
    await shell("cp -a /tmp/kept/archive /tmp/kept/backup /tmp/store");
  });

  test("the last backup of an earlier archive goes with that archive; the present one's never does", async () => {
    const [forgotten, newest] = (await labels()) as [string, string];
    expect(await stage.run({ task: "expire", label: forgotten })).toMatchObject({ outcome: "succeeded" });
    expect(await stage.run({ task: "expire", label: newest })).toMatchObject({ reason: "BackupNeeded" });
    expect(segments().length).toBeGreaterThan(0);
    expect(await stage.run({ task: "expire", label: newest, currentStanza: "uid-17-2" })).toEqual({ outcome: "succeeded", removed: 1 });
    expect(existsSync(stage.containers.path("store/archive", stanza))).toBe(false);
    expect(await stage.run({ task: "expire", label: newest, currentStanza: "uid-17-2" })).toEqual({ outcome: "succeeded", removed: 0 });
  });
});
