// run-backup with real PostgreSQL and pgBackRest: what it makes can be restored, and what can't be restored fails with its name.
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { parseRunEnd } from "../../controllers/backup/run-end.ts";
import { Stage, stanza } from "./backup.fixture.ts";
import { ended } from "./image-files.fixture.ts";

describe.runIf(process.getuid?.() === 0)("run-backup", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.start();
    await stage.servePrimary();
    await stage.sql("create table rows as select i, md5(i::text) from generate_series(1, 50000) i", "checkpoint");
  }, 600_000);
  afterAll(() => stage?.containers.stop());

  const archive = () => stage.containers.path("store/archive", stanza, "17-1/0000000100000000");
  const segments = () => readdirSync(archive()).filter((name) => /^[0-9A-F]{24}-/.test(name));
  const segmentNames = () => segments().map((name) => name.slice(0, 24));
  const backup = (label: string) => stage.containers.path("store/backup", stanza, label);

  test("a backup is full where there is none to build on, and the next ones build on it", async () => {
    const first = await stage.run({ task: "backup", type: "incr", uid: "first" });
    expect(parseRunEnd(JSON.stringify(first))).toMatchObject({
      outcome: "succeeded",
      type: "full",
      source: "orders-0.orders-pods.shop.svc",
    });
    expect(first.systemIdentifier).toBe(await stage.sql("select system_identifier from pg_control_system()"));
    expect(segmentNames()).toEqual(expect.arrayContaining([first.firstWAL, first.lastWAL]));
    await stage.sql("insert into rows select 0 from generate_series(1, 1000)");
    const second = await stage.run({ task: "backup", type: "diff", uid: "second" });
    expect(second).toMatchObject({ outcome: "succeeded", type: "diff", label: expect.stringMatching(`^${first.label}_.*D$`) });
    expect(second.copiedBytes).toBeLessThan(first.copiedBytes);
    const third = await stage.run({ task: "backup", type: "incr", uid: "third" });
    expect(third).toMatchObject({ outcome: "succeeded", type: "incr", label: expect.stringMatching(`^${first.label}_.*I$`) });
    await stage.sql("insert into rows select 0 from generate_series(1, 10)", "select pg_switch_wal()");
    const last = await stage.sql("select pg_walfile_name(pg_current_wal_lsn() - 1)");
    await stage.until("the last segment is archived", async () => segmentNames().includes(last));
    expect(await stage.restore(third.label, "select count(*) from rows")).toBe("51010");
  });

  test("while it copies it tells the operator how far it is, and nobody else", async () => {
    const child = await stage.begin({ task: "backup", uid: "progress" });
    const told: { phase: string; percent?: number; bytesTotal?: number }[] = [];
    let isOver = false;
    child.once("close", () => {
      isOver = true;
    });
    while (!isOver) {
      const answer = await stage.progress("operator").catch(() => undefined);
      if (answer?.status === 200) told.push(JSON.parse(answer.body));
      if (told.length === 1) expect(await stage.progress("stranger")).toMatchObject({ status: 403 });
    }
    expect([...new Set(told.map(({ phase }) => phase))]).toEqual(["Preparing", "Copying", "Verifying"]);
    const copying = told.filter(({ bytesTotal }) => bytesTotal !== undefined);
    expect(copying[0]).toEqual({
      phase: "Copying",
      percent: expect.any(Number),
      bytesDone: expect.any(Number),
      bytesTotal: expect.any(Number),
    });
  });

  test("adopt finds the backup of a lost run by its uid, and fails for one that was never made", async () => {
    const label = await stage.label({ type: "incr", uid: "lost" });
    const adopted = await stage.run({ task: "adopt", uid: "lost" });
    expect(parseRunEnd(JSON.stringify(adopted))).toMatchObject({ outcome: "succeeded", label });
    expect(await stage.run({ task: "adopt", uid: "never" })).toMatchObject({ outcome: "failed", reason: "BackupLost" });
  });

  test("a second Pod of one run checks what the first has copied, and copies nothing again", async () => {
    stage.containers.write("held/pgbackrest", `#!/bin/bash\n[ "$1" != verify ] || sleep 600\nexec /usr/bin/pgbackrest "$@"`);
    await stage.containers.run(["chmod", "+x", "/tmp/held/pgbackrest"]);
    const env = { PATH: "/tmp/held:/usr/lib/postgresql/17/bin:/usr/local/bin:/usr/bin:/bin" };
    const first = await stage.begin({ task: "backup", type: "full", uid: "drained", env });
    const end = ended(first);
    await stage.until(
      "it is copied",
      async () => (await stage.progress("operator").catch(() => undefined))?.body === '{"phase": "Verifying"}',
    );
    first.kill("SIGKILL");
    await end;
    const second = await stage.run({ task: "backup", type: "full", uid: "drained" });
    expect(parseRunEnd(JSON.stringify(second))).toMatchObject({ outcome: "succeeded", type: "full" });
    const [{ backup }] = JSON.parse(await stage.pgBackRest("info", "--output=json"));
    const ofRun = backup.filter(({ annotation }: { annotation: Record<string, string> }) => annotation["sampledb-uid"] === "drained");
    expect(ofRun.map(({ label }: { label: string }) => label)).toEqual([second.label]);
    // Its Backup was deleted before it had a label.
    expect(await stage.run({ task: "expire", uid: "drained" })).toEqual({ outcome: "succeeded", removed: 1 });
    expect(await stage.run({ task: "expire", uid: "drained" })).toEqual({ outcome: "succeeded", removed: 0 });
    expect(await stage.pgBackRest("info", "--output=json")).not.toContain("drained");
  });

  test("a backup has the packed spec of its SampleDB, whatever its length, and keeps it", async () => {
    const spec = `${"aB3+/".repeat(19_999)}abc==`;
    const label = await stage.label({ type: "incr", uid: "packed", spec });
    const [{ backup }] = JSON.parse(await stage.pgBackRest("info", "--output=json", `--set=${label}`));
    expect(backup[0].annotation).toEqual({ "sampledb-uid": "packed", "sampledb-spec": spec, "sampledb-verified": expect.any(String) });
    expect(await stage.run({ task: "expire", label })).toMatchObject({ outcome: "succeeded" });
    expect(await stage.pgBackRest("info", "--output=json")).not.toContain("aB3+/");
  });

  /** Twice, the file is as before. */
  function flip(file: string, place: number): void {
    const content = readFileSync(file);
    content[place] = ~(content[place] ?? 0) & 0xff;
    writeFileSync(file, content);
  }

  test("a flipped byte in the repository fails the backup, and the file is named", async () => {
    const label = await stage.label({ type: "full", uid: "flipped" });
    flip(`${backup(label)}/bundle/1`, 20_000);
    onTestFinished(() => flip(`${backup(label)}/bundle/1`, 20_000));
    const bad = { outcome: "failed", reason: "RepositoryFileBad", message: expect.stringContaining(`${label}/bundle/1`) };
    expect(await stage.run({ task: "adopt", uid: "flipped" })).toMatchObject(bad);
    expect(await stage.run({ task: "backup", type: "incr", uid: "on-flipped" })).toMatchObject(bad);
  });

  test("a file that is missing in the repository fails the backup, and is named", async () => {
    const label = await stage.label({ type: "full", uid: "missing-file" });
    const file = `${backup(label)}/bundle/1`;
    renameSync(file, `${file}.away`);
    onTestFinished(() => renameSync(`${file}.away`, file));
    const message = expect.stringContaining(`file missing '${label}/bundle/1'`);
    expect(await stage.run({ task: "adopt", uid: "missing-file" })).toMatchObject({
      outcome: "failed",
      reason: "RepositoryFileBad",
      message,
    });
  });

  test("pages with a bad checksum fail the backup, file and pages are named, and nothing is built on it", async () => {
    await stage.sql("create table broken as select * from rows", "checkpoint");
    onTestFinished(async () => void (await stage.sql("drop table broken")));
    const file = await stage.sql("select pg_relation_filepath('broken')");
    const flipPages = () => [3, 7, 8].map((page) => flip(stage.containers.path("orders-0/volume/data", file), page * 8192 + 5000));
    flipPages();
    const bad = await stage.run({ task: "backup", type: "full", uid: "pages" });
    expect(bad).toMatchObject({ reason: "PageChecksumsBad", message: `bad page checksum in file ${file} at pages 3, 7-8` });
    flipPages();
    expect(await stage.run({ task: "backup", type: "incr", uid: "after-pages" })).toMatchObject({ outcome: "succeeded", type: "full" });
  });

  test.each([
    ["a backup itself needs", 0],
    ["was archived after the backup", 1],
  ])("a missing segment that %s fails the backup, and is named", async (_, distance) => {
    const uid = `missing-${distance}`;
    await stage.label({ type: "full", uid });
    for (let count = 0; count < 2; count++) await stage.sql("insert into rows values (0)", "select pg_switch_wal()");
    const last = await stage.sql("select pg_walfile_name(pg_current_wal_lsn() - 1)");
    await stage.until("the last segment is archived", async () => segmentNames().includes(last));
    const { firstWAL, lastWAL } = await stage.run({ task: "adopt", uid });
    const wanted = distance === 0 ? firstWAL : segmentNames()[segmentNames().indexOf(lastWAL) + distance];
    const file = segments().find((name) => name.startsWith(wanted)) ?? "";
    renameSync(`${archive()}/${file}`, stage.containers.path("away"));
    onTestFinished(() => renameSync(stage.containers.path("away"), `${archive()}/${file}`));
    const message = `the segment ${wanted} is missing in the archive`;
    expect(await stage.run({ task: "adopt", uid })).toEqual({ outcome: "failed", reason: "WALIncomplete", message });
  });

  test("expire removes a backup with those that build on it and the log that only they need", async () => {
    const labels = async () => {
      const [{ backup }] = JSON.parse(await stage.pgBackRest("info", "--output=json"));
      return backup.map(({ label }: { label: string }) => label) as string[];
    };
    const [oldest, ...fulls] = (await labels()).filter((label) => label.endsWith("F"));
    const first = await stage.run({ task: "adopt", uid: "first" });
    const second = await stage.run({ task: "adopt", uid: "progress" });
    expect(fulls[0]).toBe(second.label);
    const kept = (await labels()).filter((label) => !label.startsWith(oldest as string));
    const middle = await stage.label({ type: "incr", uid: "to-remove" });

    const before = segmentNames();
    expect(await stage.run({ task: "expire", label: middle })).toEqual({ outcome: "succeeded", removed: 1 });
    expect(segmentNames()).toEqual(before.filter((name) => name >= first.firstWAL)); // the one before it, no backup needs
    const dependents = (await labels()).filter((label) => label.startsWith(`${oldest}_`));
    expect(await stage.run({ task: "expire", label: oldest as string, dependents: dependents.slice(1) })).toEqual({
      ...{ outcome: "failed", reason: "BackupNeeded" },
      message: `these build on ${oldest} and are not to go: ${dependents[0]}`,
    });
    expect(await stage.run({ task: "expire", label: oldest as string, dependents })).toMatchObject({ outcome: "succeeded", removed: 3 });
    expect(await labels()).toEqual(kept);
    expect(segmentNames()).toEqual(before.filter((name) => name >= second.firstWAL));
    expect(await stage.run({ task: "expire", label: oldest as string })).toEqual({ outcome: "succeeded", removed: 0 });
    expect(await stage.run({ task: "adopt", uid: "progress" })).toMatchObject({ outcome: "succeeded" });
    expect(await stage.restore(second.label, "select count(*) > 51000 from rows")).toBe("t");
  });
});
