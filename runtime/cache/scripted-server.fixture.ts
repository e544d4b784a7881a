// An API server for tests of the reflector: the test decides what its watches send.
import type { KubeClient, ListOptions, Page, WatchOptions } from "../kube/client.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import type { WatchEvent } from "../kube/watch-events.ts";
import { type Thing, thing } from "./thing.fixture.ts";

type Events = (events: readonly WatchEvent<Thing>[]) => void;

/** One request for a watch. */
export class ScriptedWatch {
  readonly options: WatchOptions;
  readonly #onEvents: Events;
  readonly #ended = Promise.withResolvers<void>();

  constructor(options: WatchOptions, onEvents: Events) {
    this.options = options;
    this.#onEvents = onEvents;
    options.signal.addEventListener("abort", () => this.#ended.reject(new Error("aborted")), { once: true });
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  open(): this {
    this.options.onOpen?.();
    return this;
  }

  send(type: WatchEvent["type"], ...objects: Thing[]): this {
    try {
      this.#onEvents(objects.map((object) => ({ type, object })));
    } catch (error) {
      this.#ended.reject(error);
    }
    return this;
  }

  bookmark(version: number | string, annotations = {}): this {
    const { metadata, ...rest } = thing("", { version });
    return this.send("BOOKMARK", { ...rest, metadata: { ...metadata, annotations } });
  }

  /** The existing objects, and the mark that these were all. */
  initial(version: number, ...objects: Thing[]): this {
    return this.send("ADDED", ...objects).bookmark(version, { "k8s.io/initial-events-end": "true" });
  }

  end(error?: Error): void {
    if (error) this.#ended.reject(error);
    else this.#ended.resolve();
  }
}

/** How the server treats a request for a watch; undefined leaves it to the test. */
export type Behavior = (watch: ScriptedWatch) => void;

export class ScriptedServer {
  readonly watches: ScriptedWatch[] = [];
  lists = 0;
  behavior: Behavior = () => undefined;
  /** The objects of a list, or its error. */
  listing: Page<Thing> | Error = { items: [], resourceVersion: "1", continueToken: undefined };

  get latest(): ScriptedWatch {
    const watch = this.watches.at(-1);
    if (!watch) throw new Error("nobody has asked for a watch");
    return watch;
  }

  /** Watches that begin with all objects. */
  get watchLists(): number {
    return this.watches.filter(({ options }) => options.initialEvents).length;
  }

  readonly client = {
    watch: async (_: Resource, options: WatchOptions, onEvents: Events): Promise<void> => {
      const watch = new ScriptedWatch(options, onEvents);
      this.watches.push(watch);
      this.behavior(watch);
      await watch.ended;
    },
    pages: async function* (this: ScriptedServer, _: Resource, { signal }: ListOptions): AsyncGenerator<Page<KubeObject>> {
      this.lists += 1;
      signal?.throwIfAborted();
      if (this.listing instanceof Error) throw this.listing;
      yield this.listing;
    }.bind(this),
  } as unknown as Pick<KubeClient, "pages" | "watch">;
}
