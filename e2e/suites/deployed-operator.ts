// The operator as a user deploys it, for the length of a suite.
import { delimiter } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { run } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";
import { existingCluster } from "../cluster/kubectl.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { programsDirectory } from "../cluster/programs.ts";
import { isReady } from "../cluster/status.ts";
import { kubectl } from "./test-cluster.ts";

const leaseMilliseconds = 15_000;

export const system = kubectl.inNamespace("sampledb-system");

export async function make(target: string): Promise<void> {
  const own = existingCluster() === undefined ? [await programsDirectory()] : [];
  const path = [...own, process.env["PATH"] ?? ""].join(delimiter);
  await run("make", ["--directory", projectDirectory, target], { env: { KUBECONFIG: kubectl.kubeconfig, PATH: path } });
}

export function deployedOperator(): void {
  beforeAll(async () => {
    await make("deploy");
    await operatorReady();
  });
  afterAll(() => make("undeploy"));
}

export async function operatorReady(): Promise<void> {
  await eventually("both replicas of the operator are ready", 180_000, async () => {
    const pods = await system.list("pods");
    return pods.length === 2 && pods.every(isReady);
  });
}

/** The Pod that holds the lease, and its node. A lease that is not renewed any more is held by nobody who works. */
export async function leadingOperator(): Promise<{ name: string; node: string }> {
  return await eventually("a replica of the operator leads", 120_000, async () => {
    const { holderIdentity = "", renewTime = 0 } = (await system.get("lease", "sampledb-operator"))?.["spec"] ?? {};
    const isFresh = Date.now() - Date.parse(renewTime) < leaseMilliseconds;
    const pod = (await system.list("pods")).find(({ metadata }) => (holderIdentity as string).startsWith(metadata.name));
    return isFresh && pod !== undefined && isReady(pod) && { name: pod["metadata"].name as string, node: pod["spec"].nodeName as string };
  });
}
