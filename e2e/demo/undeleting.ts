// The end of the demo's story: its database is deleted, and one Restore brings it back under its name.

import { eventually } from "../../tools/eventually.ts";
import { Refusal, say } from "../../tools/progress.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import type { Database } from "../database/database.ts";
import type { Ledger } from "../database/ledger.ts";
import { Runs } from "../database/runs.ts";
import type { Chronicle } from "./chronicle.ts";

interface Scene {
  readonly namespace: Kubectl;
  readonly chronicle: Chronicle;
  readonly database: Database;
  readonly ledger: Ledger;
}

/** One step, because nobody can write in between. */
export async function deleteAndBringBack({ namespace, chronicle, database, ledger }: Scene): Promise<void> {
  const { name } = database;
  const { uid = "" } = (await database.get()).metadata;
  const final = `${name}-final-${uid.slice(0, 8)}`;
  await chronicle.step(`SampleDB ${name} deleted, and brought back by one Restore from its last Backup`, async () => {
    await database.change({ deletionProtection: false });
    const began = performance.now();
    await namespace.run("delete", "sampledb", name, "--wait=false");
    await eventually(`SampleDB ${name} is gone`, 300_000, async () => !(await namespace.get("sampledbs.sampledb.io", name)));
    const isData = new RegExp(`^data-${name}-\\d+$`);
    const claims = (await namespace.list("persistentvolumeclaims")).map(({ metadata }) => metadata.name as string);
    const left = claims.filter((claim) => isData.test(claim));
    if (left.length > 0) throw new Refusal(`left of SampleDB ${name}: ${left.join(", ")}`);
    say(`gone after ${((performance.now() - began) / 1000).toFixed(0)} s, with its volumes; Backup ${final} has everything`);
    const runs = new Runs(namespace, name);
    await runs.make("Restore", "undelete", { source: { backupName: final }, destination: { type: "New", sampleDBName: name } });
    await runs.succeeds("Restore", "undelete");
    await ledger.acknowledges({ rows: 10, deadlineMs: 120_000 });
    await database.waitReady();
    say("applications write again, with the password that they have");
  });
}
