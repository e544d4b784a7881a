// Keeps a store equal to what the API server has, whatever happens to the connection.
//
// It asks for a WatchList (all objects, then changes, in one stream), or lists in pages and watches from there where the
// server can't. A watch that ends is taken up from the last version; only a version that is too old leads to a new list.
// Every failure waits longer than the one before, so that a server which comes back is not met by a crowd of lists.
import { type Clock, systemClock } from "../clock.ts";
import type { KubeClient, Selection } from "../kube/client.ts";
import { Gone, Invalid, TryLater } from "../kube/errors.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import type { WatchEvent } from "../kube/watch-events.ts";
import { Backoff } from "./backoff.ts";
import { Silence, Silent } from "./silence.ts";
import type { Change, Store } from "./store.ts";
import { compareVersions } from "./versions.ts";

/** Told of what a reflector does, for metrics and logs. */
export interface ReflectorListener {
  listed(): void;
  /** A watch ended; the error is why, unless the server ended it in time. */
  watchEnded(error: Error | undefined): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Pick<KubeClient, "pages" | "watch">;
  readonly resource: Resource<T>;
  readonly selection: Selection;
  readonly store: Store<T>;
  readonly onChange: (change: Change<T>) => void;
  readonly listener: ReflectorListener;
  /** A stream from which nothing came for so long, not even a bookmark (one a minute), is taken for dead. */
  readonly silenceMilliseconds?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: () => number;
}

const initialEventsEnd = "k8s.io/initial-events-end";
const shortestWatchMilliseconds = 1000;
/** An API server answers the request for a watch at once, or after it has stood in a queue of its own for a while. */
const openingMilliseconds = 30_000;
/** Lists that came to their end and follow each other more closely than this are made ever less often, whatever worked in between. */
const calmMilliseconds = 120_000;
/** A server may ask for more patience than a controller can have. */
const longestRetryAfterMilliseconds = 300_000;

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #backoff: Backoff;
  readonly #listPace: Backoff;
  readonly #silence: Silence;
  readonly #synced = Promise.withResolvers<void>();
  /** The last version that was seen; undefined, and everything must be listed. */
  #version: string | undefined;
  #watchList: "try" | "not now" | "unsupported" = "try";
  #everSynced = false;
  #problem: Error | undefined;
  /** On the present watch, or the last one. */
  #heard: "nothing" | "answer" | "events" = "nothing";
  /** Watches in a row that were accepted, and then brought nothing until they were taken for dead. */
  #deaf = 0;

  constructor(options: ReflectorOptions<T>) {
    const { clock = systemClock, random = Math.random, silenceMilliseconds = 150_000 } = options;
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#backoff = new Backoff({ clock, random });
    this.#listPace = new Backoff({ clock, random, calm: calmMilliseconds });
    this.#silence = new Silence({ opening: openingMilliseconds, stream: silenceMilliseconds }, clock);
  }

  /** Resolves when the store has had everything once. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get isSynced(): boolean {
    return this.#everSynced;
  }

  /** Why the store may be behind; undefined while a watch is there. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  /** Seconds since the API server was last heard on this watch. */
  get silentSeconds(): number {
    return this.#silence.milliseconds / 1000;
  }

  /** Ends when the signal is aborted, and never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const begin = this.#clock.now();
      const error = await this.#once(signal).then(
        () => undefined,
        (error: Error) => error,
      );
      if (signal.aborted) return;
      this.#options.listener.watchEnded(error);
      if (error === undefined && this.#clock.now() - begin > shortestWatchMilliseconds) continue;
      await this.#pause(this.#afterFailure(error), signal);
    }
  }

  async #once(signal: AbortSignal): Promise<void> {
    if (this.#version === undefined && this.#watchList !== "try") await this.#list(signal);
    await this.#watch(signal);
  }

  /** How long to wait, in milliseconds. */
  #afterFailure(error: Error | undefined): number {
    this.#problem = error ?? new Error("the API server ends watches at once");
    if (this.#version === undefined && this.#watchList !== "unsupported") {
      if (error instanceof Invalid) {
        this.#watchList = "unsupported";
        return 0;
      }
      // What does not bring the stream to its mark may still answer a list; the next time it is the stream's turn again.
      this.#watchList = this.#watchList === "try" && !(error instanceof TryLater) ? "not now" : "try";
    }
    if (this.#heard === "events") this.#deaf = 0;
    else if (this.#heard === "answer" && error instanceof Silent) this.#deaf += 1;
    // A version that an etcd restored from a backup has not reached yet is no error to the API server: it sends nothing, not
    // even bookmarks. Twice, for a single time is a connection that broke.
    const again = this.#version !== undefined && (error instanceof Gone || this.#deaf > 1);
    if (again) this.#version = undefined;
    const delay = Math.max(this.#backoff.next(), again ? this.#listPace.next() : 0);
    return error instanceof TryLater ? Math.max(delay, Math.min(error.retryAfterMilliseconds, longestRetryAfterMilliseconds)) : delay;
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, resource, selection, store } = this.#options;
    const list = store.beginList(selection.namespace);
    this.#options.listener.listed();
    let version = "";
    for await (const page of client.pages(resource, { ...selection, signal })) {
      this.#silence.heard();
      for (const item of page.items) {
        list.seen(item);
        this.#put(item);
      }
      version = page.resourceVersion;
    }
    this.#everythingSeen(list, version);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { client, resource, selection, store } = this.#options;
    let list = this.#version === undefined ? store.beginList(selection.namespace) : undefined;
    if (list) this.#options.listener.listed();
    this.#heard = "nothing";
    const onOpen = () => {
      this.#silence.heard();
      this.#problem = undefined;
      this.#heard = "answer";
    };
    const onEvents = (events: readonly WatchEvent<T>[]) => {
      this.#silence.heard();
      this.#heard = "events";
      for (const { type, object } of events) {
        if (type === "BOOKMARK") {
          if (list === undefined) this.#passed(object);
          else if (object.metadata.annotations?.[initialEventsEnd] === "true") {
            this.#everythingSeen(list, object.metadata.resourceVersion);
            list = undefined;
          }
          continue;
        }
        if (type === "DELETED") this.#tell(store.remove(object));
        else this.#put(object);
        if (list) list.seen(object);
        else this.#progress(object);
      }
    };
    const timeoutSeconds = 300 + Math.floor(this.#random() * 300);
    const options = { ...selection, resourceVersion: this.#version, timeoutSeconds, initialEvents: list !== undefined, onOpen };
    await this.#silence.guard(signal, (signal) => client.watch(resource, { ...options, signal }, onEvents));
  }

  #put(object: T): void {
    this.#tell(this.#options.store.put(object, !this.#everSynced));
  }

  #passed(bookmark: T): void {
    this.#progress(bookmark);
    this.#options.store.passed(this.#options.selection.namespace, this.#version);
  }

  #progress({ metadata }: T): void {
    const version = metadata.resourceVersion ?? "";
    // An etcd that was restored from a backup counts anew from there: what was seen since may never have happened.
    if ((compareVersions(version, this.#version) ?? 0) < 0) {
      throw new Gone({ method: "WATCH", path: this.#options.resource.plural }, 410, {
        message: `versions went back from ${this.#version} to ${version}`,
      });
    }
    this.#version = version;
    this.#working();
  }

  #everythingSeen(list: { end(version: string | undefined): Change<T>[] }, version: string | undefined): void {
    for (const change of list.end(version)) this.#tell(change);
    this.#version = version;
    this.#everSynced = true;
    this.#synced.resolve();
    if (this.#watchList === "try") this.#working(); // a list alone is no watch: one that fails each time must not begin anew without delay
  }

  /** Only what a watch brings shows that it works: one may be opened and refused in its first line. */
  #working(): void {
    this.#backoff.reset();
    if (this.#watchList === "not now") this.#watchList = "try";
  }

  #tell(change: Change<T> | undefined): void {
    if (change) this.#options.onChange(change);
  }

  async #pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.schedule(milliseconds, resolve);
    const end = () => resolve();
    signal.addEventListener("abort", end);
    await promise;
    signal.removeEventListener("abort", end);
    cancel();
  }
}
