// OLM at work on a local cluster: its two halves and a catalog run on the machine of the control plane, outside of Kubernetes. They end with
// the process of the test.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync } from "node:fs";
import { join } from "node:path";
import type { ChannelEntry } from "../../packaging/bundle/catalog.ts";
import { type CatalogBundle, writeCatalog } from "../../tools/catalog.ts";
import { openLog } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";
import { opmProgram } from "../../tools/opm.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import type { LocalCluster } from "../cluster/local-cluster.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { lifecycleDefinitions, lifecycleManager } from "./lifecycle-manager.ts";

/** Where OLM lives by its own manifests; a catalog in it is for every namespace. */
const namespace = "olm";
export const catalogSource = { name: "sampledb", namespace };

const address = "127.0.0.1:50051"; // on the machine of the control plane

export class Olm {
  readonly #kubectl: Kubectl;
  readonly #cluster: LocalCluster;
  readonly #directory: string;
  readonly #halves: Daemon[] = [];
  #catalog: Daemon | undefined;

  private constructor(kubectl: Kubectl, cluster: LocalCluster, directory: string) {
    this.#kubectl = kubectl;
    this.#cluster = cluster;
    this.#directory = directory;
  }

  /** The programs that a test needs, which the first time takes minutes. */
  static async build(): Promise<void> {
    await opmProgram();
    await lifecycleManager("olm");
    await lifecycleManager("catalog");
  }

  /** Resolves when both halves work. Files of catalogs go to the directory. */
  static async start(kubectl: Kubectl, cluster: LocalCluster, directory: string): Promise<Olm> {
    for (const definition of await lifecycleDefinitions()) await kubectl.apply(definition);
    await kubectl.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s", "--request-timeout=0");
    await kubectl.apply(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }));
    const olm = new Olm(kubectl, cluster, directory);
    await olm.#begin();
    return olm;
  }

  /** The catalog offers these versions from now on, and no others. */
  async offer(entries: readonly ChannelEntry[], bundles: readonly CatalogBundle[]): Promise<void> {
    const folder = join(this.#directory, "catalog");
    await this.#catalog?.stop();
    await writeCatalog(folder, entries, bundles);
    const log = `--termination-log=${join(this.#directory, "opm-ended.log")}`; // by default in /dev
    this.#catalog = this.#start("opm", await opmProgram(), ["serve", folder, `--port=${portOf(address)}`, log]);
    const spec = { sourceType: "grpc", address, displayName: "SampleDB", publisher: "SampleDB" };
    await this.#kubectl.apply(
      JSON.stringify({ apiVersion: "operators.coreos.com/v1alpha1", kind: "CatalogSource", metadata: catalogSource, spec }),
    );
    await eventually("OLM reads the catalog", 60_000, async () => {
      const source = await this.#kubectl.inNamespace(namespace).get("catalogsources.operators.coreos.com", catalogSource.name);
      return source?.["status"]?.connectionState?.lastObservedState === "READY";
    });
  }

  async stop(): Promise<void> {
    for (const daemon of [...this.#halves.splice(0), this.#catalog]) await daemon?.stop();
    this.#catalog = undefined;
  }

  async #begin(): Promise<void> {
    const pki = join(this.#cluster.plan.controlPlane.directory, "etc/pki");
    // With a certificate it serves its metrics on another port than the other half.
    const secure = [`--tls-cert=${join(pki, "kube-apiserver.crt")}`, `--tls-key=${join(pki, "kube-apiserver.key")}`];
    this.#halves.push(
      this.#start("olm", await lifecycleManager("olm"), ["--namespace", namespace, "--writeStatusName", ""]),
      this.#start("olm-catalog", await lifecycleManager("catalog"), ["--namespace", namespace, ...secure]),
    );
  }

  #start(name: string, program: string, args: readonly string[]): Daemon {
    const machine = this.#cluster.pid(this.#cluster.plan.controlPlane.name);
    return new Daemon(name, ["nsenter", `--target=${machine}`, "--net", "--", program, ...args], {
      HOME: this.#directory,
      KUBECONFIG: this.#kubectl.kubeconfig,
      PATH: process.env["PATH"],
      TMPDIR: this.#directory,
    });
  }
}

/** A program that is started again when it ends: OLM ends, and counts on that, once it has labelled the objects that it found. */
class Daemon {
  readonly #start: () => ChildProcess;
  #child: ChildProcess;
  #stopped = false;

  constructor(name: string, command: readonly string[], env: NodeJS.ProcessEnv) {
    this.#start = () => {
      const log = openLog(join(projectDirectory, `build/logs/olm/${name}.log`));
      // The kernel ends it with us: it would not notice by itself.
      const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", ...command], { env, stdio: ["ignore", log, log] });
      closeSync(log);
      child.once("exit", () => {
        if (!this.#stopped) this.#child = this.#start();
      });
      return child;
    };
    this.#child = this.#start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL"); // nothing of theirs is on disk
    await ended;
  }
}

function portOf(hostAndPort: string): string {
  return hostAndPort.split(":")[1] ?? "";
}
