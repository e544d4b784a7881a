// The operator as a user deploys it: with the project's own make targets, into the cluster that a kubeconfig names.
import { delimiter } from "node:path";
import { run } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";
import { existingCluster, type Kubectl } from "../cluster/kubectl.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { programsDirectory } from "../cluster/programs.ts";
import { isReady } from "../cluster/status.ts";

export interface OperatorPod {
  readonly name: string;
  readonly node: string;
}

export class OperatorDeployment {
  /** For the operator's own namespace. */
  readonly system: Kubectl;

  constructor(kubectl: Kubectl) {
    this.system = kubectl.inNamespace("sampledb-system");
  }

  async make(target: string): Promise<void> {
    const own = existingCluster() === undefined ? [await programsDirectory()] : [];
    const path = [...own, process.env["PATH"] ?? ""].join(delimiter);
    await run("make", ["--directory", projectDirectory, target], { env: { KUBECONFIG: this.system.kubeconfig, PATH: path } });
  }

  async ready(): Promise<void> {
    await eventually("both replicas of the operator are ready", 180_000, async () => {
      const pods = await this.system.list("pods");
      return pods.length === 2 && pods.every(isReady);
    });
  }

  /** The Pod that holds the lease, and its node. */
  async leader(): Promise<OperatorPod> {
    return await eventually("a replica of the operator leads", 60_000, async () => {
      const holder: string = (await this.system.get("lease", "sampledb-operator"))?.["spec"].holderIdentity ?? "";
      const pod = (await this.system.list("pods")).find(({ metadata }) => holder.startsWith(metadata.name));
      return pod && { name: pod["metadata"].name as string, node: pod["spec"].nodeName as string };
    });
  }

  /** Without a word to it: its lease has to run out before another works. */
  async killLeader(): Promise<void> {
    const { name } = await this.leader();
    await this.system.run("delete", "pod", name, "--grace-period=0", "--force");
  }

  /** Lines of its log that are no mere information, of all replicas that are there. */
  async complaints(): Promise<string[]> {
    const log = await this.system.run("logs", "--selector=app.kubernetes.io/name=sampledb-operator", "--tail=-1", "--prefix=false");
    return log.split("\n").filter((line) => /"level":"(warn|error|fatal)"/.test(line));
  }
}
