// The interfaces of the cache: its options, and the view of one kind that readers get.
import type { Clock } from "../clock.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Key, KubeObject } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import type { IndexFunction } from "./indexes.ts";
import type { Change } from "./store.ts";

/** The cached objects of one kind. Readers share them and must not change them. */
export interface Cached<T extends KubeObject> {
  readonly resource: Resource<T>;
  /** True once everything was read. Before that, an object that is missing here may exist. */
  readonly isSynced: boolean;
  get(key: Key): T | undefined;
  /** By the text of its key: faster than `get` for a caller that keeps the text. */
  at(key: string): T | undefined;
  list(namespace?: string): T[];
  listBy(index: string, value: string): T[];
  /** Reports changes from now on; existing objects come as `added` and initial. A handler that throws is reported to the listener. */
  subscribe(handler: (change: Change<T>) => void): void;
  readonly size: number;
  /** True if the watch has a label or field selector: an object that is missing here may exist. */
  readonly isSelective: boolean;
}

export interface WatchedKind<T extends KubeObject> {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Replaces the cache's own namespaces. */
  readonly namespaces?: readonly string[];
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Drops unused fields before an object is stored. Must return a new object and leave its argument unchanged. */
  readonly trim?: (object: T) => T;
}

export interface CacheOptions {
  readonly client: KubeClient;
  /** Empty: all namespaces. */
  readonly namespaces?: readonly string[];
  readonly listener?: CacheListener;
  /** A watch that is silent for so long counts as dead. The API server sends a bookmark every minute. */
  readonly silenceMilliseconds?: number;
  readonly clock?: Clock;
}

export interface CacheListener {
  listed(resource: string): void;
  watchEnded(resource: string, error: Error | undefined): void;
  /** A handler, an index or a trim threw; `resource` names the object. */
  handlerFailed(resource: string, error: unknown): void;
}
