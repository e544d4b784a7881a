// run-restore: every target gives the rows that it says and no others; what can't be restored fails with a name, never with fewer rows.
import { existsSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ended } from "./image-files.fixture.ts";
import { type History, RestoreStage, stanza, type Target } from "./restore.fixture.ts";

describe.runIf(process.getuid?.() === 0)("run-restore", () => {
  let stage: RestoreStage;
  beforeAll(async () => {
    stage = await RestoreStage.start();
  }, 900_000); // where the image or the store has to be built
  afterAll(() => stage?.stop());

  const rows = "SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), 'none') FROM rows";
  const hasOrders = "SELECT to_regclass('orders') IS NOT NULL";
  const all = "1 2 3 4 5 6 7 8 9 10";
  const latest: Target = { type: "Latest" };

  /** A moment, moved by seconds. */
  const moved = (time: string, seconds: number) => new Date(Date.parse(time) + seconds * 1000).toISOString();

  describe("a look into the repository before a restore", () => {
    test("tells the spec that lies with the backup that the target allows", async () => {
      const label = stage.history.labels[1];
      const spec = Buffer.from("packed\n").toString("base64");
      expect(await stage.look({ target: latest })).toEqual({ outcome: "succeeded", label, spec });
    });

    test("tells of a backup without a spec that there is none", async () => {
      const outcome = await stage.look({ target: { type: "Time", value: stage.history.time } });
      expect(outcome).toEqual({ outcome: "succeeded", label: stage.history.labels[0] });
    });

    test("refuses a target that can't be reached, and names a store that fails", async () => {
      const never = { type: "Time", value: "2020-01-01T00:00:00Z" } as const;
      expect(await stage.look({ target: never })).toMatchObject({ outcome: "failed", reason: "TargetOutsideWindow" });
      const place = ["repo1-path=/tmp/encrypted"];
      expect(await stage.look({ target: latest, place, readOnly: "encrypted" })).toMatchObject({ outcome: "failed" });
    });
  });

  describe("Latest, in the two containers of its Job", () => {
    beforeAll(async () => {
      const recovered = await stage.recover({ target: latest, volume: "latest" });
      expect(recovered).toMatchObject({ outcome: "succeeded" });
    });

    test("recovered data that is not clean yet starts in no Pod", async () => {
      const script =
        "sed s#/var/lib/postgresql#/tmp/volumes/latest# /usr/local/bin/entrypoint > /tmp/entrypoint; sh /tmp/entrypoint patroni";
      const { code, text } = await stage.containers.run(["sh", "-c", script]);
      expect({ code, text }).toEqual({ code: 1, text: expect.stringContaining("no server is started") });
    });

    test("the second container needs neither keys nor the repository, tells how far it is, and in the end the facts", async () => {
      // It waits for one of the passwords, which comes later.
      await stage.shell("cd /tmp/clean/passwords/superuser; mv password later; mkfifo password");
      const end = ended(stage.container("clean", { volume: "latest" }));
      await stage.until("it is cleaned", async () => {
        const told = await stage.progress("operator").catch(() => undefined);
        return told?.body === JSON.stringify({ phase: "Cleaning" }).replace(":", ": ");
      });
      await stage.shell("cd /tmp/clean/passwords/superuser; cat later > password; mv later password");
      const outcome = stage.outcome(await end);
      expect(outcome).toEqual({
        outcome: "succeeded",
        label: stage.history.labels[1],
        reachedTime: stage.history.lastCommit,
        reachedLSN: expect.stringMatching(/^0\/[0-9A-F]+$/),
        timeline: 2,
        systemIdentifier: stage.history.system,
        postgresVersion: "17",
        databaseBytes: expect.any(Number),
        copySeconds: expect.any(Number),
        recoverySeconds: expect.any(Number),
      });
      expect(stage.files("latest")).toEqual(["data", "restored.json", "server.lock", "tablespaces"]);
    });

    test("once more, it tells the same and changes nothing; for another Restore the data is foreign", async () => {
      const before = await stage.shell("stat -c %y /tmp/volumes/latest/data/global/pg_control");
      expect(await stage.restore({ target: latest, volume: "latest" })).toMatchObject({
        outcome: "succeeded",
        reachedTime: stage.history.lastCommit,
      });
      const other = await stage.restore({ target: latest, volume: "latest", uid: "another" });
      expect(other).toMatchObject({ outcome: "failed", reason: "DataForeign", message: expect.stringContaining("restored.json") });
      expect(await stage.shell("stat -c %y /tmp/volumes/latest/data/global/pg_control")).toBe(before);
    });

    test("it is a data directory that Patroni takes for one that was stopped", async () => {
      const told = await stage.shell("cd /tmp/volumes/latest; pg_controldata data | grep state; stat -c %a data; ls data");
      const [state, mode, ...files] = told.split("\n");
      expect([state, mode]).toEqual([expect.stringMatching(/: +shut down$/), "700"]);
      for (const gone of [
        "patroni.dynamic.json",
        "postgresql.base.conf",
        "conf.d",
        "recovery.signal",
        "backup_label.old",
        "postmaster.opts",
      ])
        expect(files).not.toContain(gone);
    });

    test("every row is there, a prepared transaction, and the times of commits", async () => {
      const more = ["SELECT gid FROM pg_prepared_xacts", "SELECT count(pg_xact_commit_timestamp(xmin)) FROM rows", hasOrders];
      expect(await stage.ask("latest", rows, ...more)).toEqual([all, "prepared", String(stage.history.rows), "f"]);
    });

    test("a tablespace is on the volume, wherever it was before", async () => {
      const location = "SELECT pg_tablespace_location(oid) FROM pg_tablespace WHERE spcname LIKE '%outside'";
      const place = expect.stringMatching(/^\/tmp\/volumes\/latest\/tablespaces\/\d+$/);
      expect(await stage.ask("latest", "SELECT id FROM spaced", location)).toEqual(["1", place]);
    });

    test("nothing that a superuser left behind has had an effect, or is left", async () => {
      const questions = {
        "SELECT count(*) FROM pg_file_settings WHERE name NOT LIKE 'lc%' AND name NOT IN ('default_text_search_config', 'datestyle', 'timezone')":
          "0",
        "SHOW work_mem": "4MB",
        "SHOW shared_preload_libraries": "",
        "SHOW default_text_search_config": "pg_catalog.german",
        "SELECT count(*) FROM pg_replication_slots": "0",
        "SELECT subenabled, subslotname IS NULL FROM pg_subscription": "f|t",
      };
      expect(await stage.ask("latest", ...Object.keys(questions))).toEqual(Object.values(questions));
      expect(existsSync(stage.containers.path("hacked"))).toBe(false);
    });

    test("the operator's roles have the new passwords, and no others", async () => {
      const script = `echo 'local all all scram-sha-256' > /tmp/hba
pg_ctl -D /tmp/volumes/latest/data -w -s -l /tmp/plain.log -o "-c listen_addresses= -c unix_socket_directories=/tmp -c max_prepared_transactions=5 -c hba_file=/tmp/hba" start
trap 'pg_ctl -D /tmp/volumes/latest/data -s -m fast stop' EXIT
for role in superuser:postgres replication:replication application:app; do
  export PGPASSFILE=/dev/null PGPASSWORD="$(cat /tmp/clean/passwords/\${role%:*}/password)"
  psql -h /tmp -U \${role#*:} -d app -XAtqc "SELECT rolsuper, rolreplication, rolvaliduntil > now() FROM pg_roles WHERE rolname = current_user"
done
if PGPASSWORD='of the source' psql -h /tmp -U app -d app -c SELECT 2>/dev/null; then exit 1; fi`;
      expect((await stage.shell(script)).split("\n")).toEqual(["t|t|t", "f|t|t", "f|f|t"]);
    });

    test("while it was restored, nothing of the database was executed", async () => {
      // The event triggers of the source write down where they run: by now only in the plain servers of this test.
      const spied = await stage.shell("cat /tmp/spied");
      expect(new Set(spied.split("\n"))).toEqual(new Set(["/tmp/volumes/latest/data"]));
    });
  });

  test("before the restored data is started as a plain server, its event triggers have never fired", async () => {
    await stage.shell("rm -f /tmp/spied");
    expect(await stage.restore({ target: latest, volume: "quiet" })).toMatchObject({ outcome: "succeeded" });
    expect(existsSync(stage.containers.path("spied"))).toBe(false);
  });

  interface Case {
    readonly title: string;
    readonly target: (history: History) => Target;
    readonly label?: (history: History) => string;
    readonly rows: string;
    readonly orders: boolean;
    readonly more?: (history: History) => object;
  }

  const targets: readonly Case[] = [
    {
      title: "a time just before a table was dropped, in a zone of its own",
      target: ({ time }) => ({ type: "Time", value: time }),
      rows: "1 2 3",
      orders: true,
      more: ({ labels }) => ({ label: labels[0] }),
    },
    { title: "a place in the log", target: ({ lsn }) => ({ type: "LSN", value: lsn }), rows: "1 2 3", orders: true },
    {
      title: "a transaction, of which only the low 32 bits are in the log",
      target: ({ transaction }) => ({ type: "TransactionID", value: String(BigInt(transaction) + (7n << 32n)) }),
      rows: "1 2 3",
      orders: true,
    },
    { title: "a restore point", target: () => ({ type: "RestorePoint", value: "before it's gone" }), rows: "1 2 3", orders: true },
    {
      title: "Immediate, of the first backup",
      target: () => ({ type: "Immediate" }),
      label: ({ labels }) => labels[0],
      rows: "none",
      orders: true,
      more: ({ labels }) => ({ label: labels[0] }),
    },
    { title: "Immediate, of the newest backup", target: () => ({ type: "Immediate" }), rows: "1 2 3 4", orders: false },
    { title: "Latest, of the first backup", target: () => latest, label: ({ labels }) => labels[0], rows: all, orders: false },
    { title: "Latest, of the only timeline", target: () => ({ type: "Latest", timeline: 1 }), rows: all, orders: false },
    {
      title: "a time after the last commit, while the archive goes on",
      target: ({ lastCommit }) => ({ type: "Time", value: moved(lastCommit, 1) }),
      rows: all,
      orders: false,
      more: ({ lastCommit }) => ({ note: expect.stringContaining("no commit after the asked time"), reachedTime: lastCommit }),
    },
  ];

  test.each(targets)("the rows of $title", async ({ title, target, label, rows: expected, orders, more }) => {
    const volume = title.replaceAll(/[^a-z]/gi, "-");
    const outcome = await stage.restore({ target: target(stage.history), volume, ...(label ? { label: label(stage.history) } : {}) });
    expect(outcome).toMatchObject({ outcome: "succeeded", ...more?.(stage.history) });
    expect("note" in outcome).toBe("note" in (more?.(stage.history) ?? {}));
    expect(await stage.ask(volume, rows, hasOrders)).toEqual([expected, orders ? "t" : "f"]);
  });

  const window = expect.stringMatching(/from 20\S+Z to 20\S+Z can$/);
  const refusals: readonly {
    title: string;
    asked: (history: History) => { target: Target; label?: string };
    reason: string;
    message?: unknown;
  }[] = [
    {
      title: "a time before the first backup's end",
      asked: ({ time }) => ({ target: { type: "Time", value: moved(time, -3600) } }),
      reason: "TargetOutsideWindow",
      message: window,
    },
    {
      title: "a time after the end of the archive",
      asked: ({ lastCommit }) => ({ target: { type: "Time", value: moved(lastCommit, 3600) } }),
      reason: "TargetOutsideWindow",
      message: window,
    },
    {
      title: "a time before the end of the named backup",
      asked: ({ time, labels }) => ({ target: { type: "Time", value: time }, label: labels[1] }),
      reason: "TargetOutsideWindow",
      message: window,
    },
    {
      title: "a time without a zone",
      asked: () => ({ target: { type: "Time", value: "2026-11-18T02:00:00" } }),
      reason: "TargetOutsideWindow",
    },
    {
      title: "a place before the first backup's end",
      asked: () => ({ target: { type: "LSN", value: "0/1000028" } }),
      reason: "TargetOutsideWindow",
      message: expect.stringMatching(/from 0\/[0-9A-F]+ to 0\/[0-9A-F]+ can$/),
    },
    {
      title: "a place after the end of the archive",
      asked: () => ({ target: { type: "LSN", value: "1/0" } }),
      reason: "TargetOutsideWindow",
    },
    { title: "a timeline that never was", asked: () => ({ target: { type: "Latest", timeline: 7 } }), reason: "TargetNotFound" },
    { title: "a backup that is not there", asked: () => ({ target: latest, label: "20200101-000000F" }), reason: "BackupMissing" },
  ];

  test.each(refusals)("$title is refused, and nothing is written", async ({ title, asked, reason, message = expect.any(String) }) => {
    const volume = title.replaceAll(/[^a-z]/gi, "-");
    expect(await stage.restore({ ...asked(stage.history), volume })).toEqual({ outcome: "failed", reason, message });
    expect(stage.files(volume)).toEqual(["server.lock"]);
  });

  describe("in place", () => {
    const inPlace = { volume: "replaced", uid: "in-place", inPlace: true } as const;
    const secret = "/tmp/volumes/key-of-the-store";
    beforeAll(async () => {
      expect(await stage.restore({ target: latest, volume: inPlace.volume, uid: "before" })).toMatchObject({ outcome: "succeeded" });
    });

    test("what can't be restored leaves the data as it was, and says so", async () => {
      const early: Target = { type: "Time", value: "2020-01-01T00:00:00Z" };
      expect(await stage.restore({ ...inPlace, target: early })).toMatchObject({ reason: "TargetOutsideWindow", untouched: true });
      expect(await stage.ask(inPlace.volume, rows)).toEqual([all]);
    });

    test("the rows of the target replace the others; links and files of others go, and what is equal is not copied", async () => {
      await stage.shell(`cd /tmp/volumes/replaced; echo secret > ${secret}; ln -s ${secret} data/link; ln -s ${secret} link; ln -s ${secret} restoring.new
        mkdir leftover; echo 1 > data/postmaster.pid`);
      const inode = () => stage.shell("stat -c %i /tmp/volumes/replaced/data/PG_VERSION");
      const before = await inode();
      const target: Target = { type: "LSN", value: stage.history.lsn };
      expect(await stage.restore({ ...inPlace, uid: "second", target })).toMatchObject({ outcome: "succeeded" });
      expect(await stage.ask(inPlace.volume, rows, hasOrders)).toEqual(["1 2 3", "t"]);
      expect(await inode()).toBe(before);
      expect(stage.files(inPlace.volume)).toEqual(["data", "restored.json", "server.lock", "tablespaces"]);
      expect(await stage.shell(`cat ${secret}; test ! -e /tmp/volumes/replaced/data/link`)).toBe("secret");
    });

    test("one that is cut short in the middle starts in no Pod, tells that it has begun, and goes on", async () => {
      const { place, readOnly } = await stage.damaged("half", `rm ${[...stage.segments()].at(-1)?.[1]}`);
      const target: Target = { type: "RestorePoint", value: "never made" };
      const cut = await stage.restore({ ...inPlace, uid: "third", target, place, readOnly });
      expect(cut).toMatchObject({ outcome: "failed" });
      expect(cut).not.toHaveProperty("untouched");
      expect(stage.files(inPlace.volume)).toContain("restoring");
      expect(await stage.restore({ ...inPlace, uid: "fourth", target: latest })).toMatchObject({ outcome: "succeeded" });
      expect(await stage.ask(inPlace.volume, rows)).toEqual([all]);
    });
  });

  test.each([
    { type: "RestorePoint", value: "never made" },
    { type: "TransactionID", value: "4000000000" },
  ] as const)("$type $value, which is nowhere in the archive, is not found", async (target) => {
    const outcome = await stage.restore({ target, volume: target.type });
    expect(outcome).toEqual({ outcome: "failed", reason: "TargetNotFound", message: expect.stringContaining(target.value) });
  });

  describe("with a segment missing after the first backup", () => {
    let missing: string;
    let gone: { place: string[]; readOnly: string };
    beforeAll(async () => {
      const [[name, path] = ["", ""]] = [...stage.segments()].slice(-4);
      missing = name;
      gone = await stage.damaged("gap", `rm ${path}`);
    });

    test("Latest fails and names it", async () => {
      const outcome = await stage.restore({ target: latest, volume: "gap", ...gone });
      expect(outcome).toEqual({
        outcome: "failed",
        reason: "TargetAcrossGap",
        message: expect.stringMatching(new RegExp(`^segment ${missing} is missing.*Z can`)),
      });
      expect(stage.files("gap")).toEqual(["server.lock"]);
    });

    test("a time behind it fails, and one before it does not", async () => {
      const behind: Target = { type: "Time", value: stage.history.lastCommit };
      expect(await stage.restore({ target: behind, volume: "behind", ...gone })).toMatchObject({ reason: "TargetAcrossGap" });
      const before: Target = { type: "Time", value: stage.history.time };
      expect(await stage.restore({ target: before, volume: "before", ...gone })).toMatchObject({ outcome: "succeeded" });
      expect(await stage.ask("before", rows)).toEqual(["1 2 3"]);
    });

    test("a restore point that was not found before it may be behind it", async () => {
      const outcome = await stage.restore({ target: { type: "RestorePoint", value: "never made" }, volume: "perhaps", ...gone });
      expect(outcome).toMatchObject({ reason: "TargetAcrossGap", message: expect.stringContaining(missing) });
    });
  });

  test("with an archive whose end came late, a time after its last commit is refused with that commit's time, which is restored", async () => {
    // The rest is still on its way. The last segment that has come arrived an hour after it was closed.
    const paths = [...stage.segments().values()];
    const late = await stage.damaged("late", `rm ${paths.slice(-3).join(" ")}; touch --date='+1 hour' ${paths.at(-4)}`);
    const tenMinutes: Target = { type: "Time", value: moved(stage.history.lastCommit, 600) };
    const refused = await stage.restore({ target: tenMinutes, volume: "late", ...late });
    expect(refused).toEqual({
      outcome: "failed",
      reason: "TargetOutsideWindow",
      message: expect.stringContaining("later commits may be missing"),
    });
    const [, value = ""] = /is of (\S+Z),/.exec(refused.message) ?? [];
    const restored = await stage.restore({ target: { type: "Time", value }, volume: "early", ...late });
    expect(restored).toMatchObject({ outcome: "succeeded", reachedTime: value });
    expect(await stage.ask("early", rows)).toEqual(["1 2 3 4 5 6 7"]);
  });

  describe("with a second timeline, which has left the first in the middle of a segment", () => {
    const both = { place: ["repo1-path=/tmp/both"], readOnly: "both" };
    beforeAll(async () => {
      await stage.damaged("both", "");
      expect(await stage.restore({ target: { type: "LSN", value: stage.history.lsn }, volume: "second" })).toMatchObject({ timeline: 2 });
      const settings = "--repo1-path=/tmp/both --lock-path=/tmp/both-locks --log-level-file=off --pg1-path=/tmp/volumes/second/data";
      const push = `pgbackrest ${settings} --stanza=${stanza} archive-push`;
      stage.containers.write("push.conf", `archive_mode = on\narchive_command = '${push} %p'\n`);
      // As a primary that goes on after a failover.
      await stage.shell(`data=/tmp/volumes/second/data; cat /tmp/push.conf >> $data/postgresql.conf
pg_ctl -D $data -w -s -l /tmp/second.log -o "-c listen_addresses= -c unix_socket_directories=/tmp -c max_prepared_transactions=5" start
trap 'pg_ctl -D $data -s -m immediate stop' EXIT
psql -h /tmp -U postgres -d app -XAtqc 'INSERT INTO rows VALUES (99)' -c 'SELECT pg_switch_wal()'
timeout 60 bash -c "while ls $data/pg_wal/archive_status/*.ready >/dev/null 2>&1; do sleep 0.1; done" || { cat /tmp/second.log; exit 1; }
${push} $data/pg_wal/00000002.history`);
    });

    test("Latest follows the second one", async () => {
      expect(await stage.restore({ target: latest, volume: "followed", ...both })).toMatchObject({ outcome: "succeeded", timeline: 3 });
      expect(await stage.ask("followed", rows)).toEqual(["1 2 3 99"]);
    });

    test("the first one is followed where it is named", async () => {
      const target: Target = { type: "Latest", timeline: 1 };
      expect(await stage.restore({ target, volume: "first", ...both })).toMatchObject({ outcome: "succeeded", timeline: 3 });
      expect(await stage.ask("first", rows)).toEqual([all]);
    });

    describe("and has no segment yet", () => {
      let begun: { place: string[]; readOnly: string };
      beforeAll(async () => {
        begun = await stage.damaged("begun", "cp -a /tmp/both/archive/uid-17-1/17-1/*.history .");
      });

      test.each([
        { of: "Latest", target: () => latest },
        { of: "a place in the segment that both share", target: ({ lsn }) => ({ type: "LSN", value: lsn }) },
      ] satisfies { of: string; target: (history: History) => Target }[])(
        "$of gives every row that it has, and no other",
        async ({ of, target }) => {
          const volume = `begun-${of.length}`;
          expect(await stage.restore({ target: target(stage.history), volume, ...begun })).toMatchObject({
            outcome: "succeeded",
            timeline: 3,
          });
          expect(await stage.ask(volume, rows)).toEqual(["1 2 3"]);
        },
      );

      test("a time that may be in the segment that both share is refused, and nothing is written", async () => {
        const target: Target = { type: "Time", value: stage.history.time };
        const outcome = await stage.restore({ target, volume: "begun-time", ...begun });
        expect(outcome).toMatchObject({ reason: "TargetOutsideWindow", message: expect.stringContaining("no segment in the archive yet") });
        expect(stage.files("begun-time")).toEqual(["server.lock"]);
      });
    });
  });

  test("a segment with another content, which pgBackRest gives without an error, ends the restore", async () => {
    const [[name, path] = ["", ""]] = [...stage.segments()].slice(-3);
    // Uncompressed, one byte of a record's data changed, under the name with the checksum of what was archived.
    const script = `export PGBACKREST_LOG_LEVEL_FILE=off
pgbackrest --config=/tmp/source.conf --stanza=${stanza} --pg1-path=/tmp/control --repo=1 archive-get ${name} /tmp/segment
rm ${path}; printf X | dd of=/tmp/segment bs=1 seek=100 conv=notrunc status=none; cp /tmp/segment ${path.replace(/\.zst$/, "")}`;
    const outcome = await stage.restore({ target: latest, volume: "flipped", ...(await stage.damaged("flipped", script)) });
    expect(outcome).toEqual({
      outcome: "failed",
      reason: "ArchiveCutShort",
      message: `${name} could not be read: its content is not what was archived`,
    });
  });

  test("a damaged file of the backup ends the restore, and is named", async () => {
    const script = `cd ../../../backup/${stanza}/${stage.history.labels[0]}; file=$(find bundle -type f -size +100k | head -1); chmod u+w $file
head -c 1000 /dev/urandom | dd of=$file bs=1 seek=50000 conv=notrunc status=none`;
    const damaged = await stage.damaged("damaged", script);
    const outcome = await stage.restore({ target: latest, label: stage.history.labels[0], volume: "damaged", ...damaged });
    expect(outcome).toEqual({ outcome: "failed", reason: "RepositoryFileBad", message: expect.stringMatching(/base|global|bundle/) });
  });

  describe("with a segment that can't be read for a while", () => {
    let name: string;
    let place: { place: string[]; readOnly: string };
    beforeAll(async () => {
      const [[third, path] = ["", ""]] = [...stage.segments()].slice(-3);
      name = third;
      place = await stage.damaged("unreadable", `chmod 000 ${path}; echo $PWD/${path} > /tmp/unreadable-path`);
    });

    test("the restore fails, and leaves data that starts nowhere", async () => {
      const outcome = await stage.restore({ target: latest, volume: "again", ...place });
      expect(outcome).toEqual({
        outcome: "failed",
        reason: "ArchiveCutShort",
        message: expect.stringMatching(new RegExp(`^${name} .*Permission denied`)),
      });
      expect(stage.files("again")).toContain("restoring");
    });

    test("to another Restore that data is foreign", async () => {
      const outcome = await stage.restore({ target: latest, volume: "again", uid: "another" });
      expect(outcome).toMatchObject({ outcome: "failed", reason: "DataForeign" });
    });

    test("the same Restore begins anew", async () => {
      await stage.shell('chmod 600 "$(cat /tmp/unreadable-path)"; touch /tmp/volumes/again/data/base/left-over');
      expect(await stage.restore({ target: latest, volume: "again", ...place })).toMatchObject({ outcome: "succeeded" });
      expect(await stage.ask("again", rows)).toEqual([all]);
      expect(existsSync(stage.containers.path("volumes/again/data/base/left-over"))).toBe(false);
    });
  });

  test("an encrypted repository", async () => {
    const place = ["repo1-path=/tmp/encrypted", "repo1-cipher-type=aes-256-cbc"];
    expect(await stage.restore({ target: latest, volume: "encrypted", place, readOnly: "encrypted" })).toMatchObject({
      outcome: "succeeded",
    });
    expect(await stage.ask("encrypted", rows)).toEqual([all]);
  });

  test("a store that is cut off in the middle of the recovery ends the restore, which tells until then how far it is", async () => {
    // In place of pgBackRest a script that stops at the third segment, until the store is cut off.
    stage.containers.write(
      "bin/pgbackrest",
      `#!/bin/bash
if [ "$1" = archive-get ] && [ "$(grep -cE '^[0-9A-F]{24}$' /tmp/recover-work/asked)" = 3 ]; then
  touch /tmp/third; while [ ! -e /tmp/cut ]; do sleep 0.05; done
fi
exec /usr/bin/pgbackrest "$@"`,
    );
    await stage.shell("chmod +x /tmp/bin/pgbackrest");
    const env = { SECONDS_FOR_A_SEGMENT: "5", PATH: "/tmp/bin:/usr/lib/postgresql/17/bin:/usr/local/bin:/usr/bin:/bin" };
    const running = await stage.begin({ target: latest, volume: "cut", place: stage.bucket, env });
    const end = ended(running);
    await stage.until("the third segment is asked for", () => existsSync(stage.containers.path("third")));
    await stage.until("the progress is told", async () => JSON.parse((await stage.progress("operator")).body).percent > 0);
    expect(JSON.parse((await stage.progress("operator")).body)).toMatchObject({ phase: "Recovering", percent: expect.any(Number) });
    expect(await stage.progress("stranger")).toMatchObject({ status: 403 });
    await stage.store.fault("refusing");
    writeFileSync(stage.containers.path("cut"), "");
    expect(stage.outcome(await end)).toMatchObject({ outcome: "failed", reason: "ArchiveCutShort" });

    const began = performance.now();
    const gone = await stage.restore({ target: latest, volume: "gone", place: stage.bucket });
    expect(gone).toMatchObject({ outcome: "failed", reason: "StoreUnreachable" });
    expect(performance.now() - began).toBeLessThan(15_000);
    await stage.store.fault(undefined);
    expect(await stage.restore({ target: latest, volume: "cut", place: stage.bucket })).toMatchObject({ outcome: "succeeded" });
    expect(await stage.ask("cut", rows)).toEqual([all]);
  });

  test("one that is told to end in the middle of the recovery says so, and the same Restore begins anew", async () => {
    stage.containers.write("held/pgbackrest", `#!/bin/bash\n[ "$1" != archive-get ] || sleep 600\nexec /usr/bin/pgbackrest "$@"`);
    await stage.shell("chmod +x /tmp/held/pgbackrest");
    const env = { PATH: "/tmp/held:/usr/lib/postgresql/17/bin:/usr/local/bin:/usr/bin:/bin" };
    const running = await stage.begin({ target: latest, volume: "ended", env });
    const end = ended(running);
    await stage.until("it recovers", async () =>
      (await stage.progress("operator").catch(() => ({ body: "" }))).body.includes("Recovering"),
    );
    await stage.containers.signal(running, "tini -- /usr/bin/python3 -IS /usr/local/bin/run-restore recover", "SIGTERM");
    expect(stage.outcome(await end)).toEqual({
      outcome: "failed",
      reason: "Interrupted",
      message: "its Pod was told to end before it was done",
    });
    expect(await stage.restore({ target: latest, volume: "ended" })).toMatchObject({ outcome: "succeeded" });
    expect(await stage.ask("ended", rows)).toEqual([all]);
  });

  test.each(["data/PG_VERSION", "initializing", "leftovers/000000010000000000000001"])(
    "a volume with %s on it is foreign",
    async (file) => {
      const volume = `foreign-${file.replaceAll("/", "-")}`;
      const path = stage.containers.path("volumes", volume, file);
      await stage.shell(`mkdir -p $(dirname /tmp/volumes/${volume}/${file}); echo kept > /tmp/volumes/${volume}/${file}`);
      expect(await stage.restore({ target: latest, volume })).toMatchObject({ outcome: "failed", reason: "DataForeign" });
      expect(existsSync(path)).toBe(true);
    },
  );

  test("a volume that is too small is refused with what it needs, and nothing is written", async () => {
    const outcome = await stage.restore({ target: latest, volume: "small", bytes: 30_000_000 });
    expect(outcome).toMatchObject({
      outcome: "failed",
      reason: "VolumeTooSmall",
      message: expect.stringMatching(/at least \d+\.\d MiB: 29\.\d MiB for the data/),
    });
  });

  test("a volume that turns out too small while the log is replayed is told as such", async () => {
    const outcome = await stage.restore({ target: latest, volume: "full", bytes: 100_000_000, env: { LOG_KEPT: "0" } });
    expect(outcome).toEqual({ outcome: "failed", reason: "VolumeTooSmall", message: "the volume was full before the end of the recovery" });
  });
});
