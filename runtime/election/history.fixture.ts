// The complete history of one object for tests, in the order of the API server.
import type { KubeClient } from "../kube/client.ts";
import { type Key, type KubeObject, keyOf } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";

export class History<T extends KubeObject> {
  readonly #states: T[] = [];
  #failure: unknown;
  readonly #end = new AbortController();

  /** Begins at an object that was just created or read. */
  constructor(client: KubeClient, resource: Resource<T>, { metadata }: T) {
    const key: Key = keyOf({ metadata });
    const options = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}`, resourceVersion: metadata.resourceVersion };
    client
      .watch(resource, { ...options, timeoutSeconds: 300, initialEvents: false, signal: this.#end.signal }, (events) => {
        for (const { type, object } of events) if (type !== "BOOKMARK") this.#states.push(object);
      })
      .catch((error: unknown) => {
        if (!this.#end.signal.aborted) this.#failure = error;
      });
  }

  /** Throws when there may be gaps: an incomplete history would prove nothing. */
  get states(): readonly T[] {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#states;
  }

  end(): void {
    this.#end.abort();
  }
}
