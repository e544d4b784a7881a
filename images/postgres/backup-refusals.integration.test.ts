// What stands between run-backup and an instance: who may read its data, which instances are there, and what ends a run.
import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Stage, stanza } from "./backup.fixture.ts";
import { ended } from "./image-files.fixture.ts";

const [primary, replica] = ["orders-0.orders-pods.shop.svc", "orders-1.orders-pods.shop.svc"];

describe.runIf(process.getuid?.() === 0)("serve-data and run-backup", () => {
  let stage: Stage;
  let repository: ChildProcess;
  let server: ChildProcess;
  let said = "";

  beforeAll(async () => {
    stage = await Stage.start();
    repository = stage.serveRepository();
    await stage.startPostgres("orders-0");
    await stage.sql("create table rows as select i, md5(i::text) from generate_series(1, 1000000) i"); // a copy takes a while
    await stage.startPostgres("orders-1");
    server = stage.serveData("orders-0");
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    await stage.until("the data is served", async () => (await stage.served("orders-0")) !== "");
  }, 600_000);
  afterAll(() => stage?.containers.stop());

  test("a replica that does not answer is left out, and one that answers is copied", async () => {
    const instances = ["orders-0", "orders-1"] as const;
    expect(await stage.run({ task: "backup", uid: "alone", instances })).toMatchObject({ outcome: "succeeded", source: primary });
    expect(readFileSync(stage.containers.path("run-memory/pgbackrest.conf"), "utf8")).not.toContain("pg2-");
    const other = stage.serveData("orders-1");
    onTestFinished(() => void other.kill("SIGKILL"));
    await stage.until("the replica's data is served", async () => (await stage.served("orders-1")) !== "");
    expect(await stage.run({ task: "backup", uid: "replica", instances })).toMatchObject({ outcome: "succeeded", source: replica });
  });

  test("serve-data ends at once when it is told to, and nothing of it stays", async () => {
    const other = stage.serveData("orders-1");
    await stage.until("the replica's data is served", async () => (await stage.served("orders-1")) !== "");
    const [over, began] = [ended(other), performance.now()];
    await stage.containers.signal(other, "tini -- /usr/bin/python3 -IS /usr/local/bin/serve-data shop/orders/backup", "SIGTERM");
    expect(await over).toMatchObject({ code: 0 });
    expect(performance.now() - began).toBeLessThan(5000);
    expect(await stage.served("orders-1")).toBe("");
  });

  test("without the primary a backup fails within seconds, and the primary is named", async () => {
    const began = performance.now();
    const failed = await stage.run({ task: "backup", uid: "none", instances: ["orders-1", "orders-0"] });
    expect(failed).toMatchObject({ reason: "InstanceUnreachable", message: expect.stringMatching(`^${replica}:\\d+ can't be reached`) });
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  test("another certificate than that of a backup run is refused, be it the database's own", async () => {
    for (const as of ["server", "operator"] as const) {
      const failed = await stage.run({ task: "backup", uid: "stranger", as });
      expect(failed).toMatchObject({ reason: "InstanceUnreachable", message: expect.stringContaining("access denied") });
    }
  });

  test("a new certificate is served without a restart, one that does not fit its key is not, and the server comes back when it ended", async () => {
    const [first, key] = [await stage.served("orders-0"), readFileSync(stage.containers.path("orders-0/tls/tls.key"), "utf8")];
    const made = await stage.certify("server", "orders-0/tls");
    stage.containers.write("orders-0/tls/tls.key", key);
    await stage.until("the pair was looked at", async () => said.includes("the new certificate is not taken up"));
    expect(await stage.served("orders-0")).toBe(first);
    stage.containers.write("orders-0/tls/tls.key", made.key);
    await stage.until("the new certificate is served", async () => ![first, ""].includes(await stage.served("orders-0")));
    const second = await stage.served("orders-0");
    await stage.containers.signal(server, "pgbackrest server", "SIGKILL");
    await stage.until("the server is back", async () => (await stage.served("orders-0")) === second);
  });

  const stopPostgres = async (instance: "orders-0" | "orders-1") => {
    await stage.stopPostgres(instance, "QUIT");
    return async () => {
      await stage.restartPostgres(instance);
      const followers = "select count(*) from pg_stat_replication where state = 'streaming'";
      await stage.until("the replica follows", async () => (await stage.sql(followers)) === "1"); // later tests promote it
    };
  };

  const killServer = async (child: ChildProcess) => {
    child.kill("SIGKILL");
    return async () => {};
  };

  test.each([
    ["the replica loses the server that reads its data", replica, killServer],
    ["the replica loses PostgreSQL", replica, () => stopPostgres("orders-1")],
    ["the primary loses PostgreSQL", primary, () => stopPostgres("orders-0")],
  ])("when %s while the replica is copied, the instance is named, and the next backup succeeds", async (_, host, lose) => {
    const instances = ["orders-0", "orders-1"] as const;
    const other = stage.serveData("orders-1");
    onTestFinished(() => void other.kill("SIGKILL"));
    await stage.until("the replica's data is served", async () => (await stage.served("orders-1")) !== "");
    const run = ended(await stage.begin({ task: "backup", uid: "broken-off", instances }));
    await stage.until("it copies", async () => (await stage.progress("operator").catch(() => ({ body: "" }))).body.includes("bytesDone"));
    const mend = await lose(other);
    const outcome = stage.outcome(await run);
    await mend();
    const message = expect.stringMatching(`^${host} ended during the backup, .*make another Backup`);
    expect(outcome).toMatchObject({ outcome: "failed", reason: "InstanceUnreachable", message });
    expect(await stage.run({ task: "backup", uid: "next", instances: ["orders-0"] })).toMatchObject({ outcome: "succeeded" });
  });

  test("a second backup of the database is refused while one runs", async () => {
    const lock = `/tmp/orders-0/locks/${stanza}-backup-1.lock`;
    const holder = stage.containers.spawn(["flock", lock, "sleep", "600"]);
    onTestFinished(() => void holder.kill("SIGKILL"));
    await stage.until("the lock is held", async () => (await stage.containers.run(["flock", "--nonblock", lock, "true"])).code !== 0);
    expect(await stage.run({ task: "backup", uid: "second" })).toMatchObject({ outcome: "failed", reason: "BackupRunning" });
  });

  test("a run that is told to end leaves a message, and no process", async () => {
    const child = await stage.begin({ task: "backup", uid: "ended" });
    await stage.until("it copies", async () => (await stage.progress("operator").catch(() => ({ body: "" }))).body.includes("Copying"));
    const over = ended(child);
    await stage.containers.signal(child, "tini -- /usr/bin/python3 -IS /usr/local/bin/run-backup", "SIGTERM");
    expect(stage.outcome(await over)).toMatchObject({ reason: "Interrupted", message: "its Pod was told to end before it was done" });
    expect(await stage.run({ task: "adopt", uid: "ended" })).toMatchObject({ reason: "BackupLost" });
    const lock = `/tmp/orders-0/locks/${stanza}-backup-1.lock`;
    await stage.until("the lock is free", async () => (await stage.containers.run(["flock", "--nonblock", lock, "true"])).code === 0);
  });

  test("after a promotion, the log is looked at along the new timeline", async () => {
    await stage.label({ type: "full", uid: "before" });
    await stage.shell("orders-1", "psql -XAtqc 'select pg_promote()' -c 'create table newer ()' -c 'select pg_switch_wal()'");
    const archive = stage.containers.path("store/archive", stanza, "17-1/0000000200000000");
    const segments = () => (existsSync(archive) ? readdirSync(archive).sort() : []);
    await stage.until("the new timeline is archived", async () => segments().length === 1);
    expect(await stage.run({ task: "adopt", uid: "before" })).toMatchObject({ outcome: "succeeded", timeline: 1 });

    await stage.shell("orders-1", "psql -XAtqc 'create table newest ()' -c 'select pg_switch_wal()'");
    await stage.until("the next one is archived", async () => segments().length === 2);
    const first = segments()[0] as string;
    renameSync(join(archive, first), stage.containers.path("away"));
    const message = `the segment ${first.slice(0, 24)} is missing in the archive`;
    expect(await stage.run({ task: "adopt", uid: "before" })).toEqual({ outcome: "failed", reason: "WALIncomplete", message });
  });

  test("a last segment that does not reach the archive fails the backup", async () => {
    repository.kill("SIGKILL");
    const failed = await stage.run({ task: "backup", uid: "unarchived" });
    expect(failed).toMatchObject({ reason: "WALNotArchived", message: expect.stringMatching(/[0-9A-F]{24} was not archived/) });
  });
});
