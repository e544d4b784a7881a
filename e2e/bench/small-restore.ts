// From the manifest of a Restore to the first SQL of an application, for a database in which little is.
import { say } from "../../tools/progress.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { Database, sampleDB } from "../database/database.ts";
import { Runs } from "../database/runs.ts";
import { startPods, toolbox } from "../suites/toolbox.ts";
import { deleteNamespace, makeNamespace } from "./bench-cluster.ts";
import { type Figure, median } from "./figures.ts";
import { answersSql } from "./provisioning.ts";

const where = "bench-small";

export async function smallRestore(kubectl: Kubectl, rounds: number): Promise<Figure> {
  const here = await makeNamespace(kubectl, where);
  const database = await Database.apply(here, sampleDB({ name: "small", replicas: 1, backup: {}, deletionPolicy: "Delete" }));
  await startPods(here, toolbox("client"));
  await database.waitReady();
  await database.sql("CREATE TABLE precious AS SELECT n FROM generate_series(1, 1000) AS n");
  const runs = new Runs(here, database.name);
  await runs.backUp("small", "Full");
  const measured: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const name = `restored-${round}`;
    const begin = performance.now();
    await runs.beginRestore(name, name, { source: { sampleDBName: database.name } });
    await answersSql(here, name);
    const seconds = (performance.now() - begin) / 1000;
    say(`the first SQL after ${seconds.toFixed(1)} s`);
    measured.push(seconds);
    const { firstBackupName = "" } = await runs.succeeds("Restore", name);
    await runs.succeeds("Backup", firstBackupName);
  }
  await Database.deleteAll(here);
  await deleteNamespace(kubectl, where);
  return { what: "from the Restore's manifest to the first SQL", unit: "s", ours: median(measured), wanted: { most: 30 } };
}
