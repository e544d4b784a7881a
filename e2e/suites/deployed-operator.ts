// The operator as a user deploys it, for the length of a suite.
import { delimiter } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { run } from "../../tools/command.ts";
import { existingCluster } from "../cluster/kubectl.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { programsDirectory } from "../cluster/programs.ts";
import { leadingOperator as leader, operatorNamespace, operatorReady as ready } from "../database/operator.ts";
import { kubectl } from "./test-cluster.ts";

export const system = kubectl.inNamespace(operatorNamespace);

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

export const operatorReady = () => ready(system);
export const leadingOperator = () => leader(system);
