// Makes a cluster, or repairs the one that is there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ImageArchive } from "../../images/archive.ts";
import { fingerprint } from "../../tools/cache.ts";
import { DeadlineExceeded, eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { Refusal, say, step } from "../../tools/progress.ts";
import { tearDown } from "./down.ts";
import { askContainerd, clusterImage, importImage } from "./images.ts";
import { Kubectl } from "./kubectl.ts";
import { LocalCluster } from "./local-cluster.ts";
import { withClusterLock } from "./lock.ts";
import { containerOf, findProcess } from "./machine.ts";
import { installPackages } from "./packages.ts";
import { type ClusterPlan, hosts, type NodePlan } from "./plan.ts";
import { requireFreeAddresses, requireOwn, requireRoot, requireSpace } from "./preflight.ts";
import { programsDirectory } from "./programs.ts";
import { writeAccess, writeSettings } from "./settings.ts";
import { canBeRepaired, readState, writeState } from "./state.ts";
import { isReady } from "./status.ts";

/**
 * Resolves when every node is Ready and DNS answers. Safe to repeat: what works is left alone. A cluster with a holder
 * is taken down by the next test run once that process is gone.
 */
export async function clusterUp(plan: ClusterPlan, holder?: number): Promise<LocalCluster> {
  requireRoot();
  requireOwn(plan);
  requireSpace(plan);
  return withClusterLock(plan, "cluster-up", async () => {
    await installPackages();
    await requireFreeAddresses(plan);
    const [pause, coredns] = [await clusterImage("pause"), await clusterImage("coredns")];
    const madeFrom = await ingredients(pause, coredns);
    const begin = performance.now();
    const isRepair = canBeRepaired(plan, madeFrom);
    const held = holder === undefined ? {} : { holder };
    if (!isRepair) {
      if (readState(plan)) say(`${plan.name} was left half-made, or was made from other settings or before the last boot: starting afresh`);
      await tearDown(plan);
      writeState(plan, madeFrom, { complete: false, ...held });
      await writeSettings(plan, pause.reference);
    }
    writeAccess(plan, await programsDirectory());
    const cluster = new LocalCluster(plan);
    await comeUp(cluster, [pause, coredns]).catch((error) => {
      if (!(error instanceof DeadlineExceeded)) throw error;
      const logs = join(plan.stateDirectory, "*/log");
      throw new Refusal(
        `${plan.name} did not come up (${error.message}): make cluster-status names what is wrong; the logs are in ${logs}`,
      );
    });
    const secondsToReady = isRepair ? readState(plan)?.secondsToReady : (performance.now() - begin) / 1000;
    writeState(plan, madeFrom, { complete: true, ...held, ...(secondsToReady === undefined ? {} : { secondsToReady }) });
    return cluster;
  });
}

async function comeUp(cluster: LocalCluster, images: readonly [pause: ImageArchive, coredns: ImageArchive]): Promise<void> {
  const startedAnything = await startEverything(cluster, images);
  await step("waiting for nodes and DNS", () => serving(cluster, images[1], startedAnything ? Date.now() : undefined));
}

/** The settings are made by these files, so a change to one of them is a change to the cluster. */
async function ingredients(...images: readonly ImageArchive[]): Promise<string> {
  const files = [
    "plan.ts",
    "parts.ts",
    "control-plane.ts",
    "node-settings.ts",
    "settings.ts",
    "pki.ts",
    "kubeconfig.ts",
    "network.ts",
    "machine.ts",
    "machine.sh",
  ];
  return fingerprint(
    files.map((file) => join(import.meta.dirname, file)),
    [await programsDirectory(), ...images.map(({ reference }) => reference)],
  );
}

async function startEverything(cluster: LocalCluster, images: readonly ImageArchive[]): Promise<boolean> {
  const { controlPlane, nodes } = cluster.plan;
  await step("machines and their network", async () => {
    await cluster.powerOnSwitch();
    for (const machine of hosts(cluster.plan)) await cluster.powerOn(machine.name);
  });
  return await step("the programs of Kubernetes", async () => {
    const started = [await cluster.boot(controlPlane.name), ...(await Promise.all(nodes.map((node) => bootNode(cluster, node, images))))];
    return started.includes(true);
  });
}

async function bootNode(cluster: LocalCluster, node: NodePlan, images: readonly ImageArchive[]): Promise<boolean> {
  const started = await cluster.startPart(node.name, "containerd");
  await eventuallySucceeds(`containerd on ${node.name} answers`, 30_000, () => askContainerd(cluster.pid(node.name)));
  for (const image of images) await importImage(cluster.pid(node.name), image);
  return (await cluster.boot(node.name)) || started;
}

/** What the API says of a node is up to 40 s old: after a repair only what is newer than it counts. */
async function serving(cluster: LocalCluster, coredns: ImageArchive, repairedAt: number | undefined): Promise<void> {
  const { plan } = cluster;
  const kubectl = new Kubectl(plan.kubeconfig);
  await eventuallySucceeds("the API server takes manifests", 90_000, () => kubectl.apply(manifests(plan, coredns)));
  await eventually("every node is Ready", 90_000, async () => {
    const nodes = await kubectl.list("nodes").catch(() => []);
    const leases = await kubectl.list("leases", "--namespace=kube-node-lease").catch(() => []);
    const heard = leases.filter(({ spec }) => Date.parse(spec.renewTime) >= (repairedAt ?? 0));
    return nodes.filter(isReady).length === plan.nodes.length && heard.length === plan.nodes.length;
  });
  await eventually("cluster DNS runs on every node", 90_000, async () => {
    // The controller-manager ends when it is not let in within ten seconds, which a busy machine may need, and counts on being started again.
    await cluster.boot(plan.controlPlane.name);
    const pods = await kubectl.list("pods", "--namespace=kube-system", "--selector=k8s-app=kube-dns").catch(() => []);
    const ready = new Set(pods.filter(isReady).map((pod) => pod["status"].containerStatuses[0].containerID));
    return plan.nodes.every(({ name }) => ready.has(`containerd://${dnsContainer(cluster.pid(name))}`));
  });
  say(`${plan.name}: ${plan.nodes.length} nodes Ready`);
}

/** The container of DNS that really runs: a Pod may be called ready by the word of a kubelet that is gone. */
function dnsContainer(nodePid: number): string | undefined {
  const process = findProcess(nodePid, "/coredns");
  return process && containerOf(nodePid, process);
}

function manifests(plan: ClusterPlan, coredns: ImageArchive): string {
  return ["storage.yaml", "dns.yaml"]
    .map((file) => readFileSync(join(import.meta.dirname, "manifests", file), "utf8"))
    .join("---\n")
    .replaceAll("${DNS_ADDRESS}", plan.dnsAddress)
    .replaceAll("${COREDNS_IMAGE}", coredns.reference);
}
