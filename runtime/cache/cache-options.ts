// What one asks of a cache, and what one gets.
import type { Clock } from "../clock.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Key, KubeObject } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import type { IndexFunction } from "./indexes.ts";
import type { Change } from "./store.ts";

/** The cached objects of one kind. What is read must not be changed: others read the same objects. */
export interface Cached<T extends KubeObject> {
  readonly resource: Resource<T>;
  /** Read to the end once: before that, what is missing here may well be there. */
  readonly isSynced: boolean;
  get(key: Key): T | undefined;
  /** By the text of its key: one that is kept is found sooner than one that is put together for each question. */
  at(key: string): T | undefined;
  list(namespace?: string): T[];
  listBy(index: string, value: string): T[];
  /** From now on; what is there already comes as `added` and initial. A handler that throws is reported and harms nobody. */
  subscribe(handler: (change: Change<T>) => void): void;
  readonly size: number;
  /** Limited to labels or fields: what is not here may be there all the same. */
  readonly isSelective: boolean;
}

export interface WatchedKind<T extends KubeObject> {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** In place of the cache's own namespaces. */
  readonly namespaces?: readonly string[];
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Takes off what nobody reads, before an object is kept. Gives a new object, and leaves alone what it is given. */
  readonly trim?: (object: T) => T;
}

export interface CacheOptions {
  readonly client: KubeClient;
  /** Empty: all namespaces. */
  readonly namespaces?: readonly string[];
  readonly listener?: CacheListener;
  /** How long a watch may be silent before it is taken for dead. The API server sends something every minute. */
  readonly silenceMilliseconds?: number;
  readonly clock?: Clock;
}

export interface CacheListener {
  listed(resource: string): void;
  watchEnded(resource: string, error: Error | undefined): void;
  /** A handler threw, or an index or a trim did: the object is named. */
  handlerFailed(resource: string, error: unknown): void;
}
