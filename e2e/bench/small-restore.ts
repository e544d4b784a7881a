// From the manifest of a Restore to the first SQL of an application, for a database in which little is.

import type { RestoreStatus } from "../../api/restore.ts";
import { say } from "../../tools/progress.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { applyRestore, backUp, succeeded } from "../database/backups.ts";
import { Database, sampleDB } from "../database/database.ts";
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
  await backUp(here, "small", database, "Full");
  const measured: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const name = `restored-${round}`;
    const begin = performance.now();
    await applyRestore(here, name, { source: { sampleDBName: database.name } });
    await answersSql(here, name);
    const seconds = (performance.now() - begin) / 1000;
    say(`the first SQL after ${seconds.toFixed(1)} s`);
    measured.push(seconds);
    const { firstBackupName = "" } = await succeeded<RestoreStatus>(here, "restore", name);
    await succeeded(here, "backup", firstBackupName);
  }
  await Database.deleteAll(here);
  await deleteNamespace(kubectl, where);
  return { what: "from the Restore's manifest to the first SQL", unit: "s", ours: median(measured), wanted: { most: 30 } };
}
