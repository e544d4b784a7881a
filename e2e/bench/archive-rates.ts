// How fast a database that archives is: transactions, segments through the intake, and the segments that it closes while nobody writes.
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../tools/eventually.ts";
import { say } from "../../tools/progress.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { Archive } from "../database/archive.ts";
import { segmentNumbers } from "../database/archive-list.ts";
import type { Database } from "../database/database.ts";
import { type Pair, segmentsWait } from "./archive-outages.ts";
import { type Figure, median } from "./figures.ts";

const segments = 20;
const segmentsAtATime = 5;
const idleMinutes = 3;
const pgbench = "pgbench --host=/run/postgresql --username=postgres postgres 2>&1";

/** In turn, so that a machine that gets slower does so for both. */
export async function load({ archived, plain }: Pair, rounds: number): Promise<Figure> {
  const measured: { archived: number[]; plain: number[] } = { archived: [], plain: [] };
  for (const { database } of [archived, plain])
    await database.shell(await database.primary(), `${pgbench} --initialize --scale=20 --quiet`);
  for (let round = 0; round < rounds; round++) {
    for (const [who, { database }] of [
      ["plain", plain],
      ["archived", archived],
    ] as const) {
      const told = await database.shell(await database.primary(), `${pgbench} --client=4 --jobs=1 --time=15 --no-vacuum`);
      const tps = Number(/tps = ([\d.]+)/.exec(told)?.[1]);
      say(`${who}: ${tps.toFixed(0)} transactions a second`);
      measured[who].push(tps);
    }
  }
  return {
    ...{ what: "pgbench, 4 clients", unit: "/s", ours: median(measured.archived), peer: median(measured.plain) },
    wanted: { leastTimesPeer: 0.9 },
  };
}

/** The same segments: some through the intake to the archive, then from the repository's Pod into a stanza of their own; and so on. */
export async function intake(where: string, namespace: Kubectl, database: Database): Promise<Figure> {
  const archive = new Archive(namespace, database);
  const primary = await database.primary();
  await archive.complete({ begin: 1, deadlineMs: 300_000 });
  const archiver = await database.sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'archiver'", { superuser: true });
  await database.shell(primary, `kill -STOP ${archiver}`);
  let [ours, plain] = [0, 0];
  try {
    await segmentsWait(archive, database, segments);
    const waiting = `ls /var/lib/postgresql/data/pg_wal/archive_status | sed -n 's/\\.ready$//p' | grep -E '^[0-9A-F]{24}$' | head -n ${segments}`;
    const all = (await database.shell(primary, waiting)).split("\n");
    const control = await database.shell(primary, "base64 --wrap=0 /var/lib/postgresql/data/global/pg_control");
    for (let first = 0; first < all.length; first += segmentsAtATime) {
      const names = all.slice(first, first + segmentsAtATime);
      const each = (command: string) =>
        `begin=$(date +%s%N); for name in ${names.join(" ")}; do ${command} || exit 1; done; echo $(( $(date +%s%N) - begin ))`;
      const seconds = (told: string) => Number(told.trim().split("\n").at(-1)) / 1e9;
      const mine = seconds(await database.shell(primary, `cd /var/lib/postgresql/data; ${each("pgbackrest-push pg_wal/$name")}`));
      const theirs = seconds(await archive.alone({ control, names, each }));
      say(`${names.length} segments: ${mine.toFixed(2)} s, by pgBackRest alone ${theirs.toFixed(2)} s`);
      [ours, plain] = [ours + mine, plain + theirs];
    }
    const what = `${all.length} segments to ${where}`;
    return { what, unit: "/s", ours: all.length / ours, peer: all.length / plain, wanted: { leastTimesPeer: 0.7 } };
  } finally {
    await database.shell(primary, `kill -CONT ${archiver}`);
  }
}

/** What a new database still writes by itself (its statistics, for example) comes first: the watch begins after a minute without a segment. */
export async function idle(database: Database): Promise<Figure> {
  const present = async () =>
    segmentNumbers([await database.sql("SELECT pg_walfile_name(pg_current_wal_lsn())", { superuser: true })])[0] ?? Number.NaN;
  let last = await present();
  await eventually("a minute without a segment", 600_000, async () => {
    await sleep(65_000);
    const before = last;
    last = await present();
    return last === before;
  });
  await sleep(idleMinutes * 60_000);
  const closed = (await present()) - last;
  return { what: `segments of an idle database in ${idleMinutes} minutes`, unit: "", ours: closed, wanted: { most: 0 } };
}
