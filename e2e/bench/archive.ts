// make bench-archive: what archiving to an S3 store costs, beside the same database without it in the same run: how long writes stand still
// with the store alive and dead, transactions a second, and how fast segments go through the intake beside pgBackRest alone.
// BENCH_PARTS names parts of it: outages, load, intake.

import { eventually } from "../../tools/eventually.ts";
import { Refusal, runProgram, say, step } from "../../tools/progress.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { Archive } from "../database/archive.ts";
import { type Database, sampleDB } from "../database/database.ts";
import { Operator } from "../database/operator.ts";
import { bucketFields, bucketSecrets } from "../store/bucket.ts";
import { routeToPods, storeService } from "../store/in-cluster.ts";
import { S3Store } from "../store/s3-store.ts";
import { deleteNamespace, makeNamespace, withCluster } from "./bench-cluster.ts";
import { type Figure, median, printFigures } from "./figures.ts";
import { Contender, outage } from "./outages.ts";

const parts = ["outages", "load", "intake"];
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3);
const bucket = "backups";
const name = "bench";
const storeName = "s3";
const segments = 20;
const pgbench = "pgbench --host=/run/postgresql --username=postgres postgres 2>&1";

interface Pair {
  readonly archived: Contender;
  readonly plain: Contender;
  readonly store: S3Store;
  readonly namespace: Kubectl;
}

await runProgram(async () => {
  const chosen = process.env["BENCH_PARTS"]?.split(",") ?? parts;
  const unknown = chosen.filter((part) => !parts.includes(part));
  if (unknown.length > 0) throw new Refusal(`BENCH_PARTS has no ${unknown.join(", ")}: there are ${parts.join(", ")}`);
  await withCluster(async (kubectl, local) => {
    if (!local) throw new Refusal("the store runs beside the local cluster: unset USE_EXISTING_CLUSTER");
    const operator = new Operator(kubectl);
    await step("the operator", () => operator.make("deploy").then(() => operator.ready()));
    const here = await makeNamespace(kubectl, "bench-archive");
    const host = `${storeName}.bench-archive.svc`;
    await using store = await S3Store.start({ address: local.plan.hostAddress, names: [host] });
    await routeToPods(local.plan);
    await store.makeBucket(bucket);
    await here.apply(JSON.stringify(storeService(storeName, store)));
    const archived = await step("a database that archives", () => archivedDatabase(here, store, `https://${host}`));
    const beside = await makeNamespace(kubectl, "bench-plain");
    const plain = await step("one that does not", async () => {
      await beside.apply(JSON.stringify(sampleDB({ name, replicas: 3, synchronousReplication: "Required", deletionPolicy: "Delete" })));
      return await Contender.start("operator", beside, name);
    });
    const pair = { archived, plain, store, namespace: here };
    if (chosen.includes("outages")) printFigures("Writes stand still", await outages(pair), "without");
    if (chosen.includes("load")) printFigures("Under load", [await load(pair)], "without");
    if (chosen.includes("intake")) printFigures("Through the intake, and by pgBackRest alone", [await intake(pair)], "alone");
    printFigures("Rows", [
      { what: "acknowledged and lost", unit: "", ours: await archived.lost(), peer: await plain.lost(), wanted: { most: 0 } },
    ]);
    for (const where of [here, beside]) await where.run("delete", "sampledb", name, "--timeout=240s", "--request-timeout=0");
    for (const where of ["bench-archive", "bench-plain"]) await deleteNamespace(kubectl, where);
    await operator.make("undeploy");
  });
});

async function archivedDatabase(here: Kubectl, store: S3Store, endpoint: string): Promise<Contender> {
  await here.apply(JSON.stringify(await bucketSecrets(store, bucket)));
  const s3 = bucketFields(store, endpoint, bucket);
  const spec = { replicas: 3, synchronousReplication: "Required", deletionPolicy: "Delete", backup: { repository: { s3 } } } as const;
  await here.apply(JSON.stringify(sampleDB({ name, ...spec })));
  const contender = await Contender.start("operator", here, name);
  await new Archive(here, contender.database).complete({ begin: 1 });
  return contender;
}

async function outages({ archived, plain, store, namespace }: Pair): Promise<Figure[]> {
  const figures: Figure[] = [];
  const measure = async (what: string, most: number, fault: (contender: Contender) => Promise<void>) => {
    const [ours, peer]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      ours.push(await outage(archived, what, fault));
      peer.push(await outage(plain, what, fault));
    }
    figures.push({ what, unit: "s", ours: median(ours), peer: median(peer), wanted: { most } });
  };
  for (const state of ["alive", "dead"] as const) {
    await store.fault(state === "dead" ? "dead" : undefined);
    if (state === "dead") await segmentsWait(new Archive(namespace, archived.database), archived.database, 1);
    await measure(`switchover, the store ${state}`, 2, async (contender) => contender.switchTo(await contender.database.someReplica()));
    await measure(`Pod of the primary deleted, the store ${state}`, 2.5, (contender) => contender.deletePrimary());
  }
  await store.fault(undefined);
  await new Archive(namespace, archived.database).complete({ begin: 1, deadlineMs: 300_000 });
  return figures;
}

/** In turn, so that a machine that gets slower does so for both. */
async function load({ archived, plain }: Pair): Promise<Figure> {
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

/** The same segments: first through the intake to the archive, then from the repository's Pod into a stanza of their own. */
async function intake({ archived: { database }, store, namespace }: Pair): Promise<Figure> {
  const archive = new Archive(namespace, database);
  const primary = await database.primary();
  await archive.complete({ begin: 1, deadlineMs: 300_000 });
  await store.fault("dead");
  await segmentsWait(archive, database, segments);
  await store.fault(undefined);
  const waiting = `ls /var/lib/postgresql/data/pg_wal/archive_status | sed -n 's/\\.ready$//p' | grep -E '^[0-9A-F]{24}$' | head -n ${segments}`;
  const names = (await database.shell(primary, waiting)).split("\n");
  const each = (command: string) =>
    `begin=$(date +%s%N); for name in ${names.join(" ")}; do ${command} || exit 1; done; echo $(( $(date +%s%N) - begin ))`;
  const ours = await database.shell(primary, `cd /var/lib/postgresql/data; ${each("pgbackrest-push pg_wal/$name")}`);
  const control = await database.shell(primary, "base64 --wrap=0 /var/lib/postgresql/data/global/pg_control");
  const plain = await archive.alone({ control, names, each });
  const perSecond = (nanoseconds: string) => names.length / (Number(nanoseconds.trim().split("\n").at(-1)) / 1e9);
  return {
    ...{ what: `${names.length} segments`, unit: "/s", ours: perSecond(ours), peer: perSecond(plain), wanted: { leastTimesPeer: 0.7 } },
  };
}

async function segmentsWait(archive: Archive, database: Database, count: number): Promise<void> {
  await eventually(`${count} segments wait`, 240_000, async () => {
    if ((await archive.waiting()).length >= count) return true;
    await database.sql(
      `CREATE TABLE IF NOT EXISTS noise (text text STORAGE EXTERNAL);
       INSERT INTO noise SELECT string_agg(gen_random_uuid()::text, '') FROM generate_series(1, 400000) AS n GROUP BY n % 1000`,
    );
    await database.sql("SELECT pg_switch_wal()", { superuser: true });
    return false;
  });
}
