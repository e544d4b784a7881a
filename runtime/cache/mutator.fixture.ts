// A writer that creates, changes and deletes ConfigMaps all the time, at a bounded rate, whatever happens to the API server.
import { setTimeout as sleep } from "node:timers/promises";
import type { V1ConfigMap } from "@kubernetes/client-node";
import type { KubeClient } from "../kube/client.ts";
import type { Model } from "../kube/object.ts";
import { namespaced } from "../kube/resource.ts";

export const configMaps = namespaced<Model<V1ConfigMap>>("v1", "ConfigMap", "configmaps");

export function configMap(namespace: string, name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name, labels }, data };
}

const names = 20;
const pauseMilliseconds = 80;

export class Mutator {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #running: Promise<void>;
  #stopped = false;
  /** Writes that the API server accepted. */
  writes = 0;

  constructor(client: KubeClient, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let round = 0; !this.#stopped; round++) {
      const key = { namespace: this.#namespace, name: `mutated-${round % names}` };
      const object = configMap(key.namespace, key.name, { round: String(round) });
      // Each name is created, changed a few times and deleted; the phases of the names differ.
      const deletes = (Math.floor(round / names) + round) % 4 === 3;
      const options = { deadline: 2000 };
      const write = deletes ? this.#client.delete(configMaps, key, options) : this.#client.apply(configMaps, object, options);
      await write.then(
        () => this.writes++,
        () => undefined, // an outage, or a deletion of an object that does not exist
      );
      await sleep(pauseMilliseconds);
    }
  }
}
