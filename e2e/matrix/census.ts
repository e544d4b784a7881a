// Counts what is created and deleted in a namespace, by a watch: between two looks an object can go and come back unseen.
import {
  configMaps,
  jobs,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
} from "../../controllers/kinds/kubernetes.ts";
import { Cache } from "../../runtime/cache/cache.ts";
import type { Change } from "../../runtime/cache/store.ts";
import { KubeClient } from "../../runtime/kube/client.ts";
import { Credentials } from "../../runtime/kube/credentials.ts";
import { kubeConfigFromFile } from "../../runtime/kube/kube-config.ts";
import type { Resource } from "../../runtime/kube/resource.ts";
import { Transport } from "../../runtime/kube/transport.ts";

export interface Births {
  readonly created: number;
  readonly deleted: number;
}

const kinds = [
  ...[configMaps, jobs, persistentVolumeClaims, podDisruptionBudgets, pods, roleBindings],
  ...[roles, secrets, serviceAccounts, services, statefulSets],
] as readonly Resource[];

export class Census {
  readonly #transport: Transport;
  readonly #end = new AbortController();
  readonly #cache: Cache;
  readonly #counts = new Map<string, { created: number; deleted: number }>();

  private constructor(kubeconfig: string, namespace: string, labelSelector: string) {
    this.#transport = new Transport(new Credentials(() => kubeConfigFromFile(kubeconfig)));
    this.#cache = new Cache({ client: new KubeClient(this.#transport, { fieldManager: "census" }), namespaces: [namespace] });
    for (const kind of kinds) this.#cache.watch(kind, { labelSelector }).subscribe((change) => this.#count(kind, change));
  }

  /** Of what belongs to this database. */
  static async start(kubeconfig: string, namespace: string, database: string): Promise<Census> {
    const census = new Census(kubeconfig, namespace, `sampledb.io/name=${database}`);
    census.#cache.start(census.#end.signal);
    await census.#cache.synced();
    census.reset();
    return census;
  }

  reset(): void {
    this.#counts.clear();
  }

  /** `Pod orders-0`; the Pods of a Job by the Job's name. Only what was created or deleted is in it. */
  births(): Record<string, Births> {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => a.localeCompare(b)).map(([what, counts]) => [what, { ...counts }]));
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#cache.stopped();
    await this.#transport.close();
  }

  #count({ kind }: Resource, change: Change): void {
    const { name, labels } = change.object.metadata;
    const job = labels?.["batch.kubernetes.io/job-name"];
    const what = `${kind} ${kind === "Pod" && job !== undefined ? job : name}`;
    const counts = this.#counts.get(what) ?? { created: 0, deleted: 0 };
    const replaced = change.type === "changed" && change.object.metadata.uid !== change.previous.metadata.uid;
    if (change.type === "added" || replaced) counts.created += 1;
    if (change.type === "removed" || replaced) counts.deleted += 1;
    if (counts.created + counts.deleted > 0) this.#counts.set(what, counts);
  }
}
