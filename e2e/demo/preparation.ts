// What the demo stands on: a cluster, the operator, and a namespace with nothing in it from the time before.
import { formerPolicyAnnotation } from "../../api/annotations.ts";
import { operatorImage, postgresImage } from "../../images/catalog.ts";
import { bundle } from "../../tools/bundle.ts";
import { operatorManifest } from "../../tools/deploy.ts";
import { loadImages } from "../cluster/images.ts";
import { takeDownWhenInterrupted } from "../cluster/interruption.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import type { LocalCluster } from "../cluster/local-cluster.ts";
import { chosenPlan } from "../cluster/plan.ts";
import { clusterUp } from "../cluster/up.ts";
import { Database } from "../database/database.ts";
import { Operator } from "../database/operator.ts";
import type { Chronicle } from "./chronicle.ts";

export const namespaceName = "sampledb-demo";

export async function localCluster(chronicle: Chronicle): Promise<LocalCluster> {
  const plan = chosenPlan();
  takeDownWhenInterrupted(plan);
  const cluster = await chronicle.step("a Kubernetes of three nodes", () => clusterUp(plan));
  await chronicle.step("the images of operator and PostgreSQL on every node", async () => {
    await bundle();
    await loadImages(cluster, [operatorImage(), postgresImage("17")]);
  });
  return cluster;
}

/** As make deploy does it. */
export async function deployOperator(kubectl: Kubectl, cluster: LocalCluster | undefined): Promise<void> {
  const operator = new Operator(kubectl);
  const { system } = operator;
  const wasThere = (await system.get("deployment", "sampledb-operator")) !== undefined;
  await kubectl.apply(await operatorManifest((directory) => kubectl.run("kustomize", directory)));
  // The image has the same name whatever is in it: Pods of an earlier demo would go on with the operator of that time.
  if (wasThere && cluster) await system.run("rollout", "restart", "deployment/sampledb-operator");
  await system.run("rollout", "status", "deployment/sampledb-operator", "--timeout=180s", "--request-timeout=0");
  await operator.ready();
}

/** A demo starts anew: the databases of the last one go with their data, also where somebody has deleted one and kept its volumes. */
export async function makeRoom(kubectl: Kubectl, cluster: LocalCluster | undefined): Promise<void> {
  if (cluster) await kubectl.run("uncordon", ...cluster.plan.nodes.map(({ name }) => name)); // one that was interrupted at its drain
  await Database.deleteAll(kubectl.inNamespace(namespaceName));
  await releaseVolumes(kubectl);
  await kubectl.run("delete", "namespace", namespaceName, "--ignore-not-found", "--timeout=180s", "--request-timeout=0");
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  await kubectl.apply(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespaceName, labels } }));
}

/** Volumes that were told to outlive their claims go with them after all. */
async function releaseVolumes(kubectl: Kubectl): Promise<void> {
  for (const { metadata, spec } of await kubectl.list("persistentvolumes")) {
    const former = metadata.annotations?.[formerPolicyAnnotation];
    if (spec.claimRef?.namespace !== namespaceName || former === undefined) continue;
    const patch = { spec: { persistentVolumeReclaimPolicy: former } };
    await kubectl.run("patch", "persistentvolume", metadata.name, "--type=merge", `--patch=${JSON.stringify(patch)}`);
  }
}
