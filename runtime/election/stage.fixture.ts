// A namespace with candidates in processes of their own, and the history of their writes and of their lease, for tests.
import { randomBytes } from "node:crypto";
import { KubeClient } from "../kube/client.ts";
import { Credentials } from "../kube/credentials.ts";
import { kubeConfigFromFile } from "../kube/kube-config.ts";
import type { KubeObject } from "../kube/object.ts";
import { clusterScoped, namespaced } from "../kube/resource.ts";
import { Transport } from "../kube/transport.ts";
import type { CandidateSettings } from "./candidate.fixture.ts";
import { CandidateProcess } from "./candidate-process.fixture.ts";
import { History } from "./history.fixture.ts";
import { type Lease, leases, newLease } from "./lease.ts";
import type { Timing } from "./timing.ts";

/** In the proportions of the real ones, and long enough for a busy machine. */
export const shortTiming: Timing = { leaseDuration: 6000, renewDeadline: 4000, retryPeriod: 800 };

interface Written extends KubeObject {
  readonly data: { readonly writer: string; readonly count: string };
}

export class Stage implements AsyncDisposable {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly #transport: Transport;
  readonly #kubeconfig: string;
  readonly #candidates: CandidateProcess[] = [];
  #written: History<Written> | undefined;
  #leases: History<Lease> | undefined;

  private constructor(kubeconfig: string, namespace: string) {
    this.#kubeconfig = kubeconfig;
    this.#transport = new Transport(new Credentials(() => kubeConfigFromFile(kubeconfig)));
    this.client = new KubeClient(this.#transport, { fieldManager: "test" });
    this.namespace = namespace;
  }

  /** In a namespace whose name begins with this one: files that share a control plane use the same words. */
  static async open(kubeconfig: string, name: string): Promise<Stage> {
    const namespace = `${name}-${randomBytes(3).toString("hex")}`;
    const stage = new Stage(kubeconfig, namespace);
    const { client } = stage;
    const namespaces = clusterScoped<KubeObject>("v1", "Namespace", "namespaces");
    const configMaps = namespaced<Written>("v1", "ConfigMap", "configmaps");
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    const empty = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "written" }, data: { writer: "", count: "" } };
    stage.#written = new History(client, configMaps, await client.create(configMaps, empty));
    stage.#leases = new History(client, leases, await client.create(leases, newLease({ namespace, name: "election" }, {})));
    return stage;
  }

  /** By default it writes every 20 ms while it leads, directly to the API server. */
  candidate(identity: string, settings: Partial<CandidateSettings> = {}): CandidateProcess {
    const { namespace } = this;
    const usual = { kubeconfig: this.#kubeconfig, namespace, timing: shortTiming, writeEvery: 20, writeDeadline: 1000, linger: 500 };
    const candidate = new CandidateProcess({ ...usual, ...settings, identity });
    this.#candidates.push(candidate);
    return candidate;
  }

  /** The counters that a candidate wrote, in the order in which the API server accepted them. */
  writesOf(identity: string): number[] {
    return this.#data.filter(({ writer }) => writer === identity).map(({ count }) => Number(count));
  }

  /** The order of the writers: `a b` when all writes of a came before those of b. */
  get turns(): string {
    const writers = this.#data.map(({ writer }) => writer);
    return writers.filter((writer, index) => writer !== writers[index - 1]).join(" ");
  }

  get leases(): readonly Lease[] {
    return this.#leases?.states ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const candidate of this.#candidates) candidate.kill("SIGKILL");
    this.#written?.end();
    this.#leases?.end();
    await this.#transport.close();
  }

  get #data(): Written["data"][] {
    return (this.#written?.states ?? []).map(({ data }) => data);
  }
}
