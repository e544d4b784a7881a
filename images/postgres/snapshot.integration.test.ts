// The programs of a deletion with `Snapshot`, with real PostgreSQL and a real repository: which sessions end, and when the archive counts as
// whole.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { closedAuthentication } from "../../controllers/desired/configuration.ts";
import { Stage } from "./backup.fixture.ts";
import { ended } from "./image-files.fixture.ts";

let stage: Stage;
let repository: ReturnType<Stage["serveRepository"]>;
/** The last segment that the backup needs. */
let lastWAL: string;

beforeAll(async () => {
  stage = await Stage.start();
  repository = await stage.servePrimary();
  await stage.sql("CREATE TABLE rows (n int)", "INSERT INTO rows VALUES (1)");
  const made = await stage.run({ task: "backup", uid: "final" });
  expect(made.outcome).toBe("succeeded");
  lastWAL = made.lastWAL;
}, 300_000);
afterAll(() => stage?.containers.stop());

async function program(...command: readonly string[]): Promise<{ code: string; message: string }> {
  stage.containers.write("last-words", "");
  const script = `code=0; PGBIN=$(dirname $(command -v postgres)) SUPERUSER_PASSWORD=x TERMINATION_LOG=/tmp/last-words SECONDS_TO_TRY=10 ${command.join(" ")} > /dev/null 2>&1 || code=$?; echo $code`;
  const code = (await stage.shell("orders-0", script)).trim();
  return { code, message: readFileSync(stage.containers.path("last-words"), "utf8").trim() };
}

const check = (timeline = "1") => program("check-archive", timeline, lastWAL);
const write = () => stage.sql("INSERT INTO rows SELECT generate_series(1, 1000)");
const waits = async () => (await stage.shell("orders-0", "ls $PGDATA/pg_wal/archive_status | grep -c ready || true")).trim();

test("cut-off-clients waits until nobody is let in, and ends all sessions but Patroni's and the exporter's", async () => {
  expect(await program("cut-off-clients")).toMatchObject({ code: "1", message: expect.stringContaining("still lets clients in") });
  for (const PGAPPNAME of ["application", "Patroni heartbeat"])
    stage.containers.spawn(["psql", "-c", "SELECT pg_sleep(60)"], { env: { PGHOST: "/tmp/orders-0/sockets", PGAPPNAME } });
  const sessions = "FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'";
  await stage.until("both sessions are there", async () => (await stage.sql(`SELECT count(*) ${sessions}`)).trim() === "2");
  const lines = closedAuthentication.map((line) => `echo '${line.replace("map=monitor", "")}'`).join("; ");
  await stage.shell("orders-0", `( ${lines} ) > $PGDATA/pg_hba.conf`);
  await stage.sql("SELECT pg_reload_conf()");
  expect(await program("cut-off-clients")).toEqual({ code: "0", message: "1 sessions of clients were ended" });
  expect((await stage.sql(`SELECT application_name ${sessions}`)).trim()).toBe("Patroni heartbeat");
});

test("check-archive passes once the server has ended cleanly and the repository has every segment", { timeout: 120_000 }, async () => {
  await write();
  await stage.stopPostgres("orders-0", "INT");
  expect(await check()).toMatchObject({ code: "0", message: expect.stringMatching(/repository has everything up to 0000000100000000/) });
  expect(await check("2")).toMatchObject({ code: "3", message: expect.stringContaining("timeline 1, and the last backup ended on 2") });
});

test("check-archive gives the repository what a stop without it has left, and fails while it is away", { timeout: 180_000 }, async () => {
  await stage.restartPostgres("orders-0");
  repository.kill("SIGKILL");
  await ended(repository);
  await write();
  await stage.shell("orders-0", "touch $STOP_MARK");
  await stage.stopPostgres("orders-0", "INT");
  expect(Number(await waits())).toBeGreaterThan(0);
  expect(await check()).toMatchObject({ code: "1", message: expect.stringContaining("orders-repository can't be reached") });
  repository = stage.serveRepository();
  await stage.shell("orders-0", "rm $STOP_MARK"); // the Job's Pod has none, and its pushes are not cut short
  await stage.shell("orders-0", "until (: < /dev/tcp/127.0.0.1/$INTAKE_PORT) 2> /dev/null; do sleep 0.1; done");
  expect(await check()).toMatchObject({ code: "0" });
  expect(Number(await waits())).toBeGreaterThan(0); // it only reads the volume
});

test("check-archive asks for another run of a server that was killed", { timeout: 120_000 }, async () => {
  await stage.restartPostgres("orders-0");
  await write();
  await stage.stopPostgres("orders-0", "QUIT");
  expect(await check()).toMatchObject({ code: "3", message: expect.stringContaining("did not end cleanly") });
});
