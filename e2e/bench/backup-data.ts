// The database that backups are measured with: half of it pgbench's tables, half of it text that compresses to a half. zstd makes a
// quarter of all of it. All of it runs on one node, where everything takes from everybody.
import { step } from "../../tools/progress.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { Archive } from "../database/archive.ts";
import { Database, sampleDB } from "../database/database.ts";
import { makeNamespace } from "./bench-cluster.ts";

export const gigabytes = Number(process.env["BENCH_GIGABYTES"] ?? 2);
/** Of each volume: data, log and a backup or two. */
export const volumeSize = `${Math.ceil(4 * gigabytes + 4)}Gi`;
const name = "bench";
const scalesInAGigabyte = 34; // half of it, at 15 MB each
const rowsInAGigabyte = 1_650_000; // the other half
const pgbench = "pgbench --host=/run/postgresql --username=postgres postgres 2>&1";

export interface Subject {
  readonly namespace: Kubectl;
  readonly database: Database;
  readonly archive: Archive;
  readonly node: string;
}

export async function makeSubject(kubectl: Kubectl, where: string): Promise<Subject> {
  const namespace = await makeNamespace(kubectl, where);
  const node = (await kubectl.list("nodes")).map(({ metadata }) => metadata.name as string).at(-1) ?? "";
  const spec = {
    storage: { size: volumeSize },
    // As a database has that somebody measures: requests decide who gets the CPU where there is too little of it.
    resources: { requests: { cpu: "500m", memory: "1Gi" } },
    backup: { repository: { volume: { size: volumeSize } } },
    nodeSelector: { "kubernetes.io/hostname": node },
    deletionPolicy: "Delete",
  } as const;
  const database = await step("a database that archives to a volume", async () => {
    const made = await Database.apply(namespace, sampleDB({ name, replicas: 1, ...spec }));
    await made.waitReady();
    return made;
  });
  const subject = { namespace, database, archive: new Archive(namespace, database), node };
  await step(`${gigabytes} GB of data`, () => fill(subject));
  return subject;
}

/** Text that nobody can guess, and the same in every run. Frozen, so that no vacuum changes files later. */
async function fill({ namespace, database, archive }: Subject): Promise<void> {
  const text = [0, 1].map((part) => `encode(sha512((n || '-${part}')::bytea), 'hex')`).join(" || ");
  const rows = gigabytes * rowsInAGigabyte;
  await inPrimary(namespace, database, `${pgbench} --initialize --quiet --scale=${Math.ceil(gigabytes * scalesInAGigabyte)}`);
  for (const statement of [
    `CREATE TABLE prose AS SELECT n, ${text} AS text FROM generate_series(1, ${rows}) AS n`,
    "ALTER TABLE prose ADD PRIMARY KEY (n)",
    "VACUUM (FREEZE, ANALYZE)",
    "CHECKPOINT",
  ])
    await inPrimary(namespace, database, `psql --host=/run/postgresql --username=postgres postgres --command="${statement}"`);
  await archive.complete({ deadlineMs: 1_800_000 });
}

/** One hundredth of the database, in one place. Each round has a place of its own. */
export async function changeOnePercent({ namespace, database, archive }: Subject, round: number): Promise<void> {
  const rows = (gigabytes * rowsInAGigabyte) / 50; // the text is half of the database
  const begin = round * rows;
  for (const statement of [`UPDATE prose SET text = reverse(text) WHERE n > ${begin} AND n <= ${begin + rows}`, "CHECKPOINT"])
    await inPrimary(namespace, database, `psql --host=/run/postgresql --username=postgres postgres --command="${statement}"`);
  await archive.complete({ deadlineMs: 600_000 });
}

/** Transactions a second. */
export async function transactions({ namespace, database }: Subject, seconds: number): Promise<number> {
  const told = await inPrimary(namespace, database, `${pgbench} --client=4 --jobs=1 --no-vacuum --time=${seconds}`);
  return Number(/tps = ([\d.]+)/.exec(told)?.[1]);
}

/** However long it takes. */
export async function inPrimary(namespace: Kubectl, database: Database, script: string): Promise<string> {
  return await namespace.run("exec", await database.primary(), "--container=postgres", "--request-timeout=0", "--", "sh", "-c", script);
}
