// The operator as a user deploys it: with the project's own make targets, into the cluster that a kubeconfig names.
import { delimiter } from "node:path";
import { run } from "../../tools/command.ts";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { existingCluster, type Kubectl } from "../cluster/kubectl.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { programsDirectory } from "../cluster/programs.ts";
import { isReady } from "../cluster/status.ts";

const operatorNamespace = "sampledb-system";
const replicas = 2;
const leaseMilliseconds = 15_000;

export interface OperatorPod {
  readonly name: string;
  readonly node: string;
}

export class Operator {
  /** For the operator's own namespace. */
  readonly system: Kubectl;

  constructor(kubectl: Kubectl) {
    this.system = kubectl.inNamespace(operatorNamespace);
  }

  async make(target: string): Promise<void> {
    const own = existingCluster() === undefined ? [await programsDirectory()] : [];
    const path = [...own, process.env["PATH"] ?? ""].join(delimiter);
    await run("make", ["--directory", projectDirectory, target], { env: { KUBECONFIG: this.system.kubeconfig, PATH: path } });
  }

  /** Resolves when there are two replicas and no other, each of them ready. */
  async ready(): Promise<void> {
    await eventually("both replicas of the operator are ready", 180_000, async () => {
      const pods = await this.system.list("pods");
      return pods.length === replicas && pods.every(isReady);
    });
  }

  /** As the replicas themselves say it: of a node that was lost the API server tells for up to 50 s what was so before. */
  async answers(): Promise<void> {
    await this.ready();
    await eventuallySucceeds("both replicas of the operator answer", 120_000, async () => {
      for (const { metadata } of await this.system.list("pods")) {
        await this.system.run("get", "--raw", `/api/v1/namespaces/${operatorNamespace}/pods/${metadata.name}:8081/proxy/readyz`);
      }
    });
    await this.ready();
  }

  /** The Pod that holds the lease, and its node. A lease that is not renewed any more is held by nobody who works. */
  async leader(): Promise<OperatorPod> {
    return await eventually("a replica of the operator leads", 120_000, async () => {
      const { holderIdentity = "", renewTime = 0 } = (await this.system.get("lease", "sampledb-operator"))?.["spec"] ?? {};
      const isFresh = Date.now() - Date.parse(renewTime) < leaseMilliseconds;
      const pod = (await this.system.list("pods")).find(({ metadata }) => (holderIdentity as string).startsWith(metadata.name));
      return isFresh && pod !== undefined && isReady(pod) && { name: pod["metadata"].name, node: pod["spec"].nodeName };
    });
  }

  /** Without a word to it: its lease has to run out before another works. */
  async killLeader(): Promise<void> {
    await this.kill(await this.leader());
  }

  /** Without a word to it. */
  async kill({ name }: Pick<OperatorPod, "name">): Promise<void> {
    await this.system.run("delete", "pod", name, "--grace-period=0", "--force");
  }

  /** Lines of its log that are no mere information, of all replicas that are there. */
  async complaints(): Promise<string[]> {
    const log = await this.system.run("logs", "--selector=app.kubernetes.io/name=sampledb-operator", "--tail=-1", "--prefix=false");
    return log.split("\n").filter((line) => /"level":"(warn|error|fatal)"/.test(line));
  }
}
