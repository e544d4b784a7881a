// A second cluster beside the one under test: made, used, broken off, repaired and taken down without a trace.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { databaseImages } from "../../images/catalog.ts";
import { imageReference } from "../../images/definition.ts";
import { run } from "../../tools/command.ts";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { clusterDown } from "../cluster/down.ts";
import { type Footprint, footprint, newSince } from "../cluster/footprint.ts";
import { Kubectl } from "../cluster/kubectl.ts";
import { LocalCluster } from "../cluster/local-cluster.ts";
import { findMachines, runInside } from "../cluster/machine.ts";
import { containerdSocket } from "../cluster/parts.ts";
import { type ClusterPlan, projectDirectory } from "../cluster/plan.ts";
import { clusterStatus } from "../cluster/status.ts";
import { freePlan } from "../cluster/test-clusters.ts";
import { clusterUp } from "../cluster/up.ts";
import { isLocal, kubectl } from "./test-cluster.ts";
import { diskClaim } from "./toolbox.ts";

/** `make cluster-*`, as a person would type it. */
function command(plan: ClusterPlan, name: string): ChildProcess & { output: () => string } {
  const env = { ...process.env, CLUSTER_INDEX: String(plan.index), CLUSTER_HOLDER: String(inject("holder")) };
  const child = spawn(process.execPath, [join(projectDirectory, "e2e/cluster/cli.ts"), name], { env });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  return Object.assign(child, { output: () => output });
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  return child.exitCode ?? (await new Promise((resolve) => child.once("close", resolve)));
}

describe.runIf(isLocal)("a second cluster", () => {
  let plan: ClusterPlan;
  let before: Footprint;

  beforeAll(async () => {
    plan = await freePlan();
    before = await footprint();
  });

  afterAll(() => clusterDown(plan));

  /** What is left stays. The cluster under test goes on meanwhile, and its containerd starts programs that end by themselves (seen). */
  async function nothingLeft(): Promise<void> {
    await eventuallySucceeds("nothing of it is left", 30_000, async () => expect(newSince(before, await footprint())).toEqual({}));
  }

  test("is refused where its addresses are taken, and says what to do", async () => {
    await run("ip", ["address", "add", `${plan.hostAddress}/32`, "dev", "lo"]);
    try {
      const attempt = command(plan, "up");
      expect(await exitCode(attempt)).toBe(1);
      expect(attempt.output()).toMatch(/error: the address range .* is in use by lo .*: choose another cluster with CLUSTER_INDEX=/);
    } finally {
      await run("ip", ["address", "delete", `${plan.hostAddress}/32`, "dev", "lo"]);
    }
    await nothingLeft();
  });

  test("leaves nothing when it is interrupted while it is made", async () => {
    const attempt = command(plan, "up");
    await eventually("its machines are being started", 60_000, () => findMachines(plan).size >= 2);
    attempt.kill("SIGINT");
    expect(await exitCode(attempt)).toBe(1);
    expect(attempt.output()).toContain("was taken down again; run the same command to start over");
    await nothingLeft();
  });

  test("starts afresh over what a killed run left half-made, and one command at a time works on it", async () => {
    const killed = command(plan, "up");
    await eventually("its machines are being started", 60_000, () => findMachines(plan).size >= 3);
    killed.kill("SIGKILL");
    await exitCode(killed);

    const first = command(plan, "up");
    await eventually("the first is at work", 60_000, () => first.output().includes("machines and their network"));
    const second = command(plan, "up");
    expect(await exitCode(second)).toBe(1);
    expect(second.output()).toMatch(/error: another command is working on .* \(cluster-up, process \d+\): wait for it/);
    expect(await exitCode(first)).toBe(0);
    expect(first.output()).toContain(`export KUBECONFIG=${plan.kubeconfig}`);
  });

  test("has the image of each major on every node, under the name that the operator uses", async () => {
    const wanted = databaseImages().map(imageReference);
    for (const { name } of plan.nodes) {
      const list = ["ctr", "--address", containerdSocket, "--namespace", "k8s.io", "images", "list", "--quiet"];
      const present = await runInside(new LocalCluster(plan).pid(name), list);
      expect(present.split("\n")).toEqual(expect.arrayContaining(wanted));
    }
  });

  test("is another cluster than the first, and both work", async () => {
    const uids = await Promise.all(
      [kubectl, new Kubectl(plan.kubeconfig)].map(async (each) => (await each.get("namespace", "kube-system"))?.["metadata"].uid),
    );
    expect(new Set(uids).size).toBe(2);
  });

  test("is left alone by a second cluster-up", async () => {
    const machines = [...findMachines(plan)];
    const again = command(plan, "up");
    expect(await exitCode(again)).toBe(0);
    expect([...findMachines(plan)]).toEqual(machines);
  });

  test("is repaired by cluster-up after any part was killed, paused or unplugged, with its data", async () => {
    const other = new Kubectl(plan.kubeconfig);
    const cluster = await clusterUp(plan, inject("holder"));
    await other.run("create", "configmap", "memory", "--from-literal=kept=yes");

    await cluster.powerOff("node-1");
    await cluster.killPart("node-2", "kubelet");
    await cluster.killPart("node-2", "containerd");
    await cluster.pausePart("node-3", "kube-proxy");
    await cluster.cutNetwork("node-3");
    await cluster.killPart("control-plane", "etcd");
    await cluster.killPart("control-plane", "kube-apiserver");
    const { problems } = await clusterStatus(plan);
    expect(problems.join("\n")).toMatch(
      /machine node-1 is off[\s\S]*kubelet on node-2 is dead[\s\S]*kube-proxy on node-3 is paused[\s\S]*node-3 is cut off/,
    );

    await clusterUp(plan, inject("holder"));
    expect((await other.get("configmap", "memory"))?.["data"]).toEqual({ kept: "yes" });
    expect((await clusterStatus(plan)).problems).toEqual([]);
  });

  test("starts again from the switch up when every machine was killed", async () => {
    const cluster = await clusterUp(plan, inject("holder"));
    for (const pid of findMachines(plan).values()) process.kill(pid, "SIGKILL");
    await eventually("all machines are off", 30_000, () => findMachines(plan).size === 0);
    await clusterUp(cluster.plan, inject("holder"));
    expect((await clusterStatus(plan)).problems).toEqual([]);
  });

  test("belongs to its checkout: another one is refused", async () => {
    const file = join(plan.stateDirectory, "state.json");
    const state = readFileSync(file, "utf8");
    writeFileSync(file, JSON.stringify({ ...JSON.parse(state), checkout: "/usr" }));
    try {
      const attempt = command(plan, "down");
      expect(await exitCode(attempt)).toBe(1);
      expect(attempt.output()).toMatch(/belongs to the checkout \/usr: run make cluster-down there/);
    } finally {
      writeFileSync(file, state);
    }
  });

  test("leaves nothing when it is taken down, with Pods and volumes in use", async () => {
    const other = new Kubectl(plan.kubeconfig, "default");
    const dnsImage = (await other.inNamespace("kube-system").list("pods"))[0]?.["spec"].containers[0].image;
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "user" },
      spec: {
        containers: [{ name: "c", image: dnsImage, args: ["-dns.port=5454"], volumeMounts: [{ name: "disk", mountPath: "/data" }] }],
        volumes: [{ name: "disk", persistentVolumeClaim: { claimName: "disk" } }],
      },
    };
    await other.apply(JSON.stringify({ apiVersion: "v1", kind: "List", items: [diskClaim("disk", "300Mi"), pod] }));
    await eventually("the volume is mounted", 60_000, async () => (await other.get("pod", "user"))?.["status"].phase === "Running");
    expect(newSince(before, await footprint()).loopDevices).toHaveLength(1);

    expect(await exitCode(command(plan, "down"))).toBe(0);
    await nothingLeft();
    const status = command(plan, "status");
    expect(await exitCode(status)).toBe(0);
    expect(status.output()).toContain("does not run; make cluster-up starts it");
  });
});
