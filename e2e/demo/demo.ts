// make demo: from nothing to a replicated PostgreSQL that survives the loss of its primary, with the time of each step.
import { postgresImage } from "../../images/catalog.ts";
import { imageReference } from "../../images/definition.ts";
import { eventually } from "../../tools/eventually.ts";
import { Refusal, runProgram, say, seconds, step } from "../../tools/progress.ts";
import { loadImages } from "../cluster/images.ts";
import { takeDownWhenInterrupted } from "../cluster/interruption.ts";
import { existingCluster, Kubectl } from "../cluster/kubectl.ts";
import { chosenPlan } from "../cluster/plan.ts";
import { clusterStatus } from "../cluster/status.ts";
import { clusterUp } from "../cluster/up.ts";
import { allReady, applyPostgres, instances, killPrimary, primaries, query } from "./postgres.ts";

const namespace = "sampledb-demo";

async function localKubectl(): Promise<Kubectl> {
  const plan = chosenPlan();
  takeDownWhenInterrupted(plan);
  const cluster = await step("a Kubernetes of three nodes", () => clusterUp(plan));
  await step("the PostgreSQL image on every node", () => loadImages(cluster, [postgresImage("17")]));
  return new Kubectl(plan.kubeconfig);
}

await runProgram(async () => {
  const existing = existingCluster();
  const kubectl = existing === undefined ? await localKubectl() : new Kubectl(existing);
  await step("room for the demo", async () => {
    await kubectl.run("delete", "namespace", namespace, "--ignore-not-found", "--timeout=180s", "--request-timeout=0");
    await kubectl.run("create", "namespace", namespace);
    await kubectl.run("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
  });
  await tellTheStory(kubectl.inNamespace(namespace));
  if (existing === undefined) await sayWhatIsLeft();
});

async function tellTheStory(kubectl: Kubectl): Promise<void> {
  const primary = await step("three Pods of PostgreSQL, one elected primary", async () => {
    await applyPostgres(kubectl, imageReference(postgresImage("17")));
    await allReady(kubectl);
    return await eventually("a primary is elected", 60_000, async () => (await primaries(kubectl))[0]);
  });
  const [witness = ""] = instances.filter((name) => name !== primary);
  await step(`a row written through the Service, to ${primary}`, async () => {
    await query(
      kubectl,
      witness,
      "demo",
      "CREATE TABLE story (line text); INSERT INTO story VALUES ('written before the primary was killed');",
    );
  });
  const killed = performance.now();
  await step(`${primary} killed without a warning; the next write through the Service`, () =>
    killPrimary(kubectl, primary, witness, "INSERT INTO story VALUES ('written after')"),
  );
  say(`writes were back ${seconds(performance.now() - killed)} after the kill`);
  const story = await query(kubectl, witness, "demo", "SELECT line FROM story");
  if (!story.includes("before")) throw new Refusal("the row that was written before the kill is gone");
  await step("all three ready again", () => allReady(kubectl));
  say(`read again: ${story.split("\n").join("; ")}. Acknowledged rows lost: 0`);
}

async function sayWhatIsLeft(): Promise<void> {
  const plan = chosenPlan();
  const { lines } = await clusterStatus(plan);
  for (const line of lines) process.stdout.write(`${line}\n`);
  say(`look around: ${plan.kubectl} --namespace ${namespace} get pods; take it down: make cluster-down`);
}
