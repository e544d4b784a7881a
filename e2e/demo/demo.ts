// make demo: from nothing to a replicated PostgreSQL that survives the loss of its primary, with the time of each step.
import { catalog } from "../../images/catalog.ts";
import { imageReference } from "../../images/definition.ts";
import { Refusal, runProgram, say, seconds, step } from "../../tools/progress.ts";
import { eventually } from "../cluster/eventually.ts";
import { loadImages } from "../cluster/images.ts";
import { takeDownWhenInterrupted } from "../cluster/interruption.ts";
import { Kubectl } from "../cluster/kubectl.ts";
import { chosenPlan } from "../cluster/plan.ts";
import { clusterStatus } from "../cluster/status.ts";
import { clusterUp } from "../cluster/up.ts";
import { allReady, applyPostgres, instances, killPrimary, primaries, query } from "./postgres.ts";

const namespace = "sampledb-demo";
const image = catalog().filter(({ name, tag }) => name === "sampledb/postgres" && tag === "17");

async function localKubectl(): Promise<Kubectl> {
  const plan = chosenPlan();
  takeDownWhenInterrupted(plan);
  const cluster = await step("a Kubernetes of three nodes", () => clusterUp(plan));
  await step("the PostgreSQL image on every node", () => loadImages(cluster, image));
  return new Kubectl(plan.kubeconfig);
}

function existingKubectl(): Kubectl {
  const kubeconfig = process.env["KUBECONFIG"];
  if (!kubeconfig) throw new Refusal("USE_EXISTING_CLUSTER=true needs KUBECONFIG to name the cluster to use");
  return new Kubectl(kubeconfig);
}

await runProgram(async () => {
  const isLocal = process.env["USE_EXISTING_CLUSTER"] !== "true";
  const kubectl = isLocal ? await localKubectl() : existingKubectl();
  await step("room for the demo", async () => {
    await kubectl.run("delete", "namespace", namespace, "--ignore-not-found", "--timeout=180s", "--request-timeout=0");
    await kubectl.run("create", "namespace", namespace);
    await kubectl.run("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
  });
  await tellTheStory(kubectl.inNamespace(namespace));
  if (isLocal) await sayWhatIsLeft();
});

async function tellTheStory(kubectl: Kubectl): Promise<void> {
  const [reference = ""] = image.map(imageReference);
  const primary = await step("three Pods of PostgreSQL, one elected primary", async () => {
    await applyPostgres(kubectl, reference);
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
  say(`look around: kubectl --namespace ${namespace} get pods; take it down: make cluster-down`);
}
