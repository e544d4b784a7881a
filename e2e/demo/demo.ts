// make demo: from nothing to a highly available PostgreSQL that goes through what a database goes through, with the time of each step,
// how long nobody could write, and the number of acknowledged rows that were lost; at last a dropped table is brought back, and then the whole database after a delete.
import { Refusal, runProgram, say } from "../../tools/progress.ts";
import { existingCluster, Kubectl } from "../cluster/kubectl.ts";
import { clusterStatus } from "../cluster/status.ts";
import { Chronicle } from "./chronicle.ts";
import { restoredName } from "./going-back.ts";
import { deployOperator, localCluster, makeRoom, namespaceName } from "./preparation.ts";
import { tellTheStory } from "./story.ts";

await runProgram(async () => {
  const chronicle = new Chronicle();
  const existing = existingCluster();
  const cluster = existing === undefined ? await localCluster(chronicle) : undefined;
  const kubectl = new Kubectl(existing ?? cluster?.plan.kubeconfig ?? "");
  await chronicle.step("the operator, two replicas", () => deployOperator(kubectl, cluster));
  await chronicle.step("room for the demo", () => makeRoom(kubectl, cluster));
  const { acknowledged, lost, unexpected } = await tellTheStory({ kubectl, cluster, chronicle });

  print("", ...chronicle.table(), "", `acknowledged rows: ${acknowledged}, lost: ${lost}`, "");
  if (cluster) print(...(await clusterStatus(cluster.plan)).lines);
  sayWhatIsLeft(cluster?.plan.kubectl ?? "kubectl", cluster !== undefined);
  if (lost > 0) throw new Refusal(`${lost} acknowledged rows are lost`);
  if (unexpected > 0) throw new Refusal(`${unexpected} rows are there that the database had refused`);
});

function print(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

function sayWhatIsLeft(kubectl: string, isLocal: boolean): void {
  const here = `${kubectl} --namespace ${namespaceName}`;
  say(`look around:  ${here} get sampledb,backups,restores,pods,services,pvc`);
  say(`              ${here} describe sampledb ha`);
  say(`              ${here} exec ha-0 --container postgres -- psql app postgres --command 'SELECT count(*), max(at) FROM ledger'`);
  if (isLocal) {
    say("take it down: make cluster-down");
    return;
  }
  const mayGo = '{"spec":{"deletionPolicy":"Delete","deletionProtection":false}}';
  say(`take it down: ${here} delete restores,backups --all`);
  for (const name of ["ha", restoredName])
    say(`              ${here} patch sampledb ${name} --type=merge --patch='${mayGo}' && ${here} delete sampledb ${name}`);
  say(`              ${kubectl} delete namespace ${namespaceName}; the operator, if nobody else uses it: make undeploy`);
}
