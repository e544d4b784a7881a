// The commands behind make cluster-up, cluster-down and cluster-status.

import { catalog, databaseImages } from "../../images/catalog.ts";
import { Refusal, runProgram, say, step } from "../../tools/progress.ts";
import { clusterDown } from "./down.ts";
import { loadImages } from "./images.ts";
import { ignoreInterruptions, takeDownWhenInterrupted } from "./interruption.ts";
import { LocalCluster } from "./local-cluster.ts";
import { findMachines } from "./machine.ts";
import { type ClusterPlan, chosenPlan } from "./plan.ts";
import { requireRoot } from "./preflight.ts";
import { clusterStatus } from "./status.ts";
import { sweepTestClusters } from "./test-clusters.ts";
import { clusterUp } from "./up.ts";

const commands: Readonly<Record<string, (plan: ClusterPlan) => Promise<void>>> = {
  async up(plan) {
    takeDownWhenInterrupted(plan);
    const holder = process.env["CLUSTER_HOLDER"]; // set by test runs alone
    const cluster = await clusterUp(plan, holder ? Number(holder) : undefined);
    // With them `make run` is all that a database needs. The operator's own image changes with every edit: make cluster-load brings it.
    await step("database images on every node (minutes, the first time)", () => loadImages(cluster, databaseImages()));
    say(`to use it:  export KUBECONFIG=${plan.kubeconfig}`);
    say(`a kubectl:  ${plan.kubectl}`);
  },
  async load(plan) {
    requireRoot();
    if (findMachines(plan).size === 0) throw new Refusal(`${plan.name} does not run: make cluster-up starts it`);
    await loadImages(new LocalCluster(plan), catalog());
    say(`the images are on every node of ${plan.name}`);
  },
  async down(plan) {
    await clusterDown(plan);
    say(`${plan.name} is down; nothing of it is left but the build cache`);
  },
  async "down-interrupted"(plan) {
    ignoreInterruptions();
    await clusterDown(plan);
    throw new Refusal(`interrupted: ${plan.name} was taken down again; run the same command to start over`);
  },
  async "sweep-interrupted"() {
    ignoreInterruptions();
    await sweepTestClusters();
    throw new Refusal("interrupted: the clusters of this test run were taken down");
  },
  async status(plan) {
    requireRoot();
    const { lines, problems } = await clusterStatus(plan);
    for (const line of lines) process.stdout.write(`${line}\n`);
    if (problems.length > 0) throw new Refusal(`${plan.name} is not well:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
  },
  async kubeconfig(plan) {
    process.stdout.write(`${plan.kubeconfig}\n`);
  },
};

await runProgram(async () => {
  const command = commands[process.argv[2] ?? ""];
  if (!command) throw new Refusal(`usage: cli.ts ${Object.keys(commands).join("|")}`);
  await command(chosenPlan());
});
