// Keeps a store equal to the API server's objects, whatever happens to the connection.
//
// It requests a WatchList (all objects, then changes, in one stream). Where the server can't do that, it lists in pages and
// watches from there. A watch that ends is resumed from the last version; only a version that is too old causes a new list.
// Each failure waits longer than the one before, so that a server that comes back does not meet a crowd of lists.
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

/** Receives the actions of a reflector, for metrics and logs. */
export interface ReflectorListener {
  listed(): void;
  /** A watch ended. No error: the server ended it after its normal time. */
  watchEnded(error: Error | undefined): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Pick<KubeClient, "pages" | "watch">;
  readonly resource: Resource<T>;
  readonly selection: Selection;
  readonly store: Store<T>;
  readonly onChange: (change: Change<T>) => void;
  readonly listener: ReflectorListener;
  /** A stream that is silent for so long, without even a bookmark (one a minute), counts as dead. */
  readonly silenceMilliseconds?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: () => number;
}

const initialEventsEnd = "k8s.io/initial-events-end";
const shortestWatchMilliseconds = 1000;
/** An API server answers the request for a watch at once, or after a while in its own queue. */
const openingMilliseconds = 30_000;
/** Completed lists that follow each other faster than this are slowed down, whatever worked in between. */
const calmMilliseconds = 120_000;
/** Upper bound: a server may ask for a longer pause than a controller can afford. */
const longestRetryAfterMilliseconds = 300_000;

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #backoff: Backoff;
  readonly #listPace: Backoff;
  readonly #silence: Silence;
  readonly #synced = Promise.withResolvers<void>();
  /** The last version that was seen; undefined: everything must be listed. */
  #version: string | undefined;
  #watchList: "try" | "not now" | "unsupported" = "try";
  #everSynced = false;
  #problem: Error | undefined;
  /** What the API server has sent on the present or last watch. */
  #heard: "nothing" | "answer" | "events" = "nothing";
  /** Consecutive watches that were accepted and then brought nothing until they counted as dead. */
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

  /** Resolves when the store was complete for the first time. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get isSynced(): boolean {
    return this.#everSynced;
  }

  /** Why the store may be behind; undefined while a watch is open. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  /** Seconds since the API server last sent something on a watch. */
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
      // A server that fails before the end mark of a WatchList may still answer a list. The next attempt is a WatchList again.
      this.#watchList = this.#watchList === "try" && !(error instanceof TryLater) ? "not now" : "try";
    }
    if (this.#heard === "events") this.#deaf = 0;
    else if (this.#heard === "answer" && error instanceof Silent) this.#deaf += 1;
    // An etcd that was restored from a backup has not reached our version yet. The API server then reports no error and sends
    // nothing, not even bookmarks. Two silent watches are required, since one may be a broken connection.
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
    // After a restore of etcd from a backup, versions start again from the backup: events seen since may never have happened.
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
    if (this.#watchList === "try") this.#working(); // a list proves no watch: without backoff, failing watches would list in a loop
  }

  /** Called for events only: the server may accept a watch and refuse it in the first line. */
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
