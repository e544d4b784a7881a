// make bench-archive: what archiving costs, beside the same database without it in the same run: how long writes stand still with the
// store alive, dead, and with the repository's node lost; transactions a second; how fast segments go through the intake beside pgBackRest
// alone, to an S3 store and to a volume; and whether an idle database closes segments. BENCH_PARTS names parts of it.
import { eventuallySucceeds } from "../../tools/eventually.ts";
import { Refusal, runProgram, step } from "../../tools/progress.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { Archive } from "../database/archive.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Operator } from "../database/operator.ts";
import { bucketFields, bucketSecrets } from "../store/bucket.ts";
import { routeToPods, storeService } from "../store/in-cluster.ts";
import { S3Store } from "../store/s3-store.ts";
import { nodeLost, outages, type Pair } from "./archive-outages.ts";
import { idle, intake, load } from "./archive-rates.ts";
import { deleteNamespace, makeNamespace, withCluster } from "./bench-cluster.ts";
import { printFigures } from "./figures.ts";
import { Contender } from "./outages.ts";

const parts = ["outages", "node", "load", "intake", "volume", "idle"];
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3);
const bucket = "backups";
const name = "bench";
const storeName = "s3";
const inBucket = "bench-archive";
const beside = "bench-plain";
const onVolume = "bench-volume";
const spec = { storage: { size: "2Gi" }, synchronousReplication: "Required", deletionPolicy: "Delete" } as const;

await runProgram(async () => {
  const chosen = process.env["BENCH_PARTS"]?.split(",") ?? parts;
  const unknown = chosen.filter((part) => !parts.includes(part));
  if (unknown.length > 0) throw new Refusal(`BENCH_PARTS has no ${unknown.join(", ")}: there are ${parts.join(", ")}`);
  const asked = (...some: readonly string[]) => some.some((part) => chosen.includes(part));
  await withCluster(async (kubectl, local) => {
    if (!local) throw new Refusal("the store runs beside the local cluster: unset USE_EXISTING_CLUSTER");
    const operator = new Operator(kubectl);
    await step("the operator", () => operator.make("deploy").then(() => operator.ready()));
    if (asked("volume", "idle")) {
      const database = await step("a database that archives to a volume", () => volumeDatabase(kubectl));
      const here = kubectl.inNamespace(onVolume);
      if (asked("idle")) printFigures("At rest", [await step("nobody writes", () => idle(database))]);
      if (asked("volume")) printFigures("Through the intake, and by pgBackRest alone", [await intake("a volume", here, database)], "alone");
      await remove(kubectl, onVolume);
    }
    if (asked("outages", "node", "load", "intake")) {
      const host = `${storeName}.${inBucket}.svc`;
      await using store = await S3Store.start({ address: local.plan.hostAddress, names: [host] });
      await routeToPods(local.plan);
      const pair = await makePair(kubectl, store, host);
      const { archived, plain, namespace } = pair;
      if (asked("outages")) printFigures("Writes stand still", await outages(pair, rounds), "without");
      if (asked("node")) printFigures("Writes stand still", [await nodeLost(pair, local, rounds)], "without");
      if (asked("load")) printFigures("Under load", [await load(pair, rounds)], "without");
      if (asked("intake"))
        printFigures("Through the intake, and by pgBackRest alone", [await intake("S3", namespace, archived.database)], "alone");
      printFigures("Rows", [
        { what: "acknowledged and lost", unit: "", ours: await archived.lost(), peer: await plain.lost(), wanted: { most: 0 } },
      ]);
      for (const where of [inBucket, beside]) await remove(kubectl, where);
    }
    await operator.make("undeploy");
  });
});

async function volumeDatabase(kubectl: Kubectl): Promise<Database> {
  const here = await makeNamespace(kubectl, onVolume);
  const database = await Database.apply(here, sampleDB({ name, replicas: 2, ...spec, backup: {} }));
  await database.waitReady();
  await new Archive(here, database).complete({ begin: 1 });
  return database;
}

/** One that archives to the store, and one that does not. Their ledgers write from a node on which the repository is not. */
async function makePair(kubectl: Kubectl, store: S3Store, host: string): Promise<Pair> {
  const namespace = await makeNamespace(kubectl, inBucket);
  await store.makeBucket(bucket);
  const s3 = bucketFields(store, `https://${host}`, bucket);
  await namespace.apply(JSON.stringify(storeService(storeName, store)));
  await namespace.apply(JSON.stringify(await bucketSecrets(store, bucket)));
  const database = await Database.apply(namespace, sampleDB({ name, replicas: 3, ...spec, backup: { repository: { s3 } } }));
  const archive = new Archive(namespace, database);
  const repository = await eventuallySucceeds("the repository runs", 120_000, async () => database.nodeOf(await archive.pod()));
  const others = (await kubectl.list("nodes")).map(({ metadata }) => metadata.name as string).filter((node) => node !== repository);
  const ledger = others.at(-1);
  const archived = await step("a database that archives to S3", async () => {
    const started = await Contender.start("operator", namespace, name, ledger);
    await archive.complete({ begin: 1 });
    return started;
  });
  const plain = await step("one that does not archive", async () => {
    const there = await makeNamespace(kubectl, beside);
    await Database.apply(there, sampleDB({ name, replicas: 3, ...spec }));
    return await Contender.start("operator", there, name, ledger);
  });
  return { archived, plain, store, namespace };
}

async function remove(kubectl: Kubectl, where: string): Promise<void> {
  await kubectl.inNamespace(where).run("delete", "sampledb", name, "--timeout=240s", "--request-timeout=0");
  await deleteNamespace(kubectl, where);
}
