// Makes a cluster, or repairs the one that is there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ImageArchive } from "../../images/archive.ts";
import { fingerprint } from "../../tools/cache.ts";
import { Refusal, say, step } from "../../tools/progress.ts";
import { tearDown } from "./down.ts";
import { DeadlineExceeded, eventually } from "./eventually.ts";
import { clusterImage, importImage } from "./images.ts";
import { Kubectl } from "./kubectl.ts";
import { LocalCluster } from "./local-cluster.ts";
import { withLock } from "./lock.ts";
import { containerOf, findProcess } from "./machine.ts";
import { installPackages } from "./packages.ts";
import { type ClusterPlan, hosts, type MachinePlan } from "./plan.ts";
import { requireFreeAddresses, requireOwn, requireRoot, requireSpace } from "./preflight.ts";
import { programsDirectory } from "./programs.ts";
import { writeAdminKubeconfig, writeSettings } from "./settings.ts";
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
  return withLock(plan, "cluster-up", async () => {
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
    writeAdminKubeconfig(plan);
    const cluster = new LocalCluster(plan);
    const startedAnything = await startEverything(cluster, [pause, coredns]);
    await step("waiting for nodes and DNS", () => serving(cluster, coredns, startedAnything ? Date.now() : undefined)).catch((error) => {
      if (!(error instanceof DeadlineExceeded)) throw error;
      throw new Refusal(`${plan.name} did not come up (${error.message}): make cluster-status names what is wrong and where its log is`);
    });
    const secondsToReady = isRepair ? readState(plan)?.secondsToReady : (performance.now() - begin) / 1000;
    writeState(plan, madeFrom, { complete: true, ...held, ...(secondsToReady === undefined ? {} : { secondsToReady }) });
    return cluster;
  });
}

/** The settings are made by these files, so a change to one of them is a change to the cluster. */
async function ingredients(...images: readonly ImageArchive[]): Promise<string> {
  const files = ["plan.ts", "parts.ts", "control-plane.ts", "node-settings.ts", "settings.ts", "pki.ts", "network.ts", "machine.sh"];
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

async function bootNode(cluster: LocalCluster, node: MachinePlan, images: readonly ImageArchive[]): Promise<boolean> {
  const started = await cluster.startPart(node.name, "containerd");
  await eventually(`containerd on ${node.name} answers`, 30_000, () => importAll(cluster.pid(node.name), images));
  return (await cluster.boot(node.name)) || started;
}

async function importAll(nodePid: number, images: readonly ImageArchive[]): Promise<true | undefined> {
  try {
    for (const image of images) await importImage(nodePid, image);
    return true;
  } catch {
    return undefined; // its socket is not there yet
  }
}

/** What the API says of a node is up to 40 s old: after a repair only what is newer than it counts. */
async function serving(cluster: LocalCluster, coredns: ImageArchive, repairedAt: number | undefined): Promise<void> {
  const { plan } = cluster;
  const kubectl = new Kubectl(plan.kubeconfig);
  await eventually("the API server takes manifests", 90_000, () =>
    kubectl.apply(manifests(plan, coredns)).then(
      () => true,
      () => undefined,
    ),
  );
  await eventually("every node is Ready", 90_000, async () => {
    const nodes = await kubectl.list("nodes").catch(() => []);
    const leases = await kubectl.list("leases", "--namespace=kube-node-lease").catch(() => []);
    const heard = leases.filter(({ spec }) => Date.parse(spec.renewTime) >= (repairedAt ?? 0));
    return nodes.filter(isReady).length === plan.nodes.length && heard.length === plan.nodes.length;
  });
  await eventually("cluster DNS runs on every node", 90_000, async () => {
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
