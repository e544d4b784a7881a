// The end of the demo's story: a backup, a table that is dropped by mistake, and the second before it in a database of its own.
import { Refusal, say } from "../../tools/progress.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { Archive } from "../database/archive.ts";
import type { Database } from "../database/database.ts";
import { Runs } from "../database/runs.ts";
import type { Chronicle } from "./chronicle.ts";

interface Scene {
  readonly namespace: Kubectl;
  readonly chronicle: Chronicle;
  readonly database: Database;
}

export const restoredName = "ha-before";
const rows = 1000;
const fingerprint = "SELECT count(*), md5(string_agg(text, ',' ORDER BY n)) FROM invoices";

export async function goBack({ namespace, chronicle, database }: Scene): Promise<void> {
  await database.sql(`CREATE TABLE invoices AS SELECT n, md5(n::text) AS text FROM generate_series(1, ${rows}) AS n`);
  const written = await database.sql(fingerprint);
  const runs = new Runs(namespace, database.name);
  await chronicle.step("a full Backup, copied from a replica and checked", async () => {
    const status = await runs.backUp("demo", "Full");
    const { databaseBytes = 0, repositoryBytes = 0, copySeconds, sourcePodName, verification } = status;
    const cost = `${copySeconds} s to copy it from ${sourcePodName}, ${verification?.seconds} s to check it`;
    say(`${megabytes(databaseBytes)} of data are ${megabytes(repositoryBytes)} in the repository; ${cost}`);
  });
  const moment = await database.sql(`SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') FROM pg_sleep(1)`);
  await database.sql("SELECT pg_sleep(1)");
  await chronicle.step("table invoices dropped, by mistake; every segment of the log is in the repository, from the first on", async () => {
    await database.sql("DROP TABLE invoices");
    await new Archive(namespace, database).complete({ begin: 1, deadlineMs: 180_000 });
  });
  await chronicle.step(`a Restore to the second before, as SampleDB ${restoredName}; it serves`, async () => {
    const target = { type: "Time", time: moment };
    const { restored, status } = await runs.restore(restoredName, { source: { sampleDBName: database.name }, target });
    const found = await restored.sql(fingerprint);
    if (found !== written) throw new Refusal(`table invoices of ${restoredName} has ${found}, and had ${written}`);
    say(`all ${rows} invoices are back; the last transaction is of ${status.recoveredToTime}, asked for was ${moment}`);
  });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
