// This process's own writes, shown to readers until the watch has brought them. Without this, a reconcile between the answer to
// a write and its event would see the old state and write again.
import type { PendingWrite } from "../kube/client.ts";
import type { KubeObject } from "../kube/object.ts";
import { compareVersions } from "./versions.ts";

interface Version {
  readonly uid: string | undefined;
  readonly version: string | undefined;
}

/** Read in place of the watched object. For a deleted object the version is the last known one. */
interface Overlay<T> extends Version {
  /** Undefined hides the watched object: it was deleted, or the write moved it out of the selection. */
  readonly object: T | undefined;
  readonly deleted: boolean;
}

interface Kept<T> extends Overlay<T> {
  readonly order: number;
  readonly expires: number;
}

/** Something the watch brought: a version of an object, or its removal. */
interface Arrival extends Version {
  readonly removed: boolean;
}

export interface OwnWritesOptions<T extends KubeObject> {
  readonly now: () => number;
  /** The form of a written object that readers get; undefined if the watch's selection leaves it out. */
  readonly shown: (object: T) => T | undefined;
}

/** Upper bound for an overlay, whatever the watch does. */
export const longestMilliseconds = 60_000;

export class OwnWrites<T extends KubeObject> {
  readonly #options: OwnWritesOptions<T>;
  /** In the order of insertion, so the oldest first. */
  readonly #overlays = new Map<string, Kept<T>>();
  /** Writes under way, each with the arrivals since it began: the event may be faster than the answer. */
  readonly #pending = new Map<string, Set<Arrival[]>>();
  #order = 0;

  constructor(options: OwnWritesOptions<T>) {
    this.#options = options;
  }

  /** A deletion is taken to be of the object that is read now. If it may hit another one, the caller must send a precondition. */
  begin(key: string, watched: () => T | undefined): PendingWrite {
    const before = this.#known(key, watched());
    const arrivals: Arrival[] = [];
    const pending = this.#pending.get(key) ?? new Set();
    this.#pending.set(key, pending.add(arrivals));
    const ended = () => {
      pending.delete(arrivals);
      if (pending.size === 0 && this.#pending.get(key) === pending) this.#pending.delete(key);
    };
    return {
      abandoned: ended,
      settled: (object) => {
        ended();
        const write = this.#overlay(object as T | undefined, before);
        const known = this.#overlays.get(key);
        if (!write || (known && isLater(known, write))) return;
        const current = watched();
        if (current) arrivals.push(arrival(current, false));
        if (!arrivals.some((one) => hasCaughtUp(one, write))) this.#keep(key, write);
      },
    };
  }

  /** The watch brought this version of an object. */
  arrived(key: string, object: T): void {
    this.#arrive(key, arrival(object, false));
  }

  /** The watch brought the removal of an object. */
  removed(key: string, object: T): void {
    this.#arrive(key, arrival(object, true));
  }

  /** A list that is requested now contains all writes that ended before. Call `listed` with its version when it has arrived. */
  beginList(): { listed(version: string | undefined, inScope: (key: string) => boolean): void } {
    const order = this.#order;
    return {
      listed: (version, inScope) => {
        this.passed(version, inScope);
        for (const [key, overlay] of this.#overlays) if (overlay.order <= order && inScope(key)) this.#overlays.delete(key);
      },
    };
  }

  /** The watch has brought everything up to this version. For objects outside of the selection this is the only sign. */
  passed(version: string | undefined, inScope: (key: string) => boolean): void {
    const reached = (overlay: Overlay<T>) => !overlay.deleted && (compareVersions(version, overlay.version) ?? -1) >= 0;
    for (const [key, overlay] of this.#overlays) if (inScope(key) && reached(overlay)) this.#overlays.delete(key);
    for (const [key, pending] of this.#pending) {
      // An arrival without a uid: it proves nothing about a deletion, which may have happened since.
      if (inScope(key)) for (const arrivals of pending) arrivals.push({ uid: undefined, version, removed: false });
    }
  }

  /** The written object; `hidden` if there is none to read; undefined if readers get the watched object. */
  get(key: string): T | "hidden" | undefined {
    const overlay = this.#overlays.get(key);
    if (overlay === undefined) return undefined;
    if (overlay.expires > this.#options.now()) return overlay.object ?? "hidden";
    this.#overlays.delete(key);
    return undefined;
  }

  get size(): number {
    return this.#overlays.size;
  }

  keys(): IterableIterator<string> {
    return this.#overlays.keys();
  }

  /** The last known version of the object before a write. */
  #known(key: string, watched: T | undefined): Version | undefined {
    const own = this.#overlays.get(key);
    return own && !own.deleted ? own : watched && arrival(watched, false);
  }

  #overlay(object: T | undefined, before: Version | undefined): Overlay<T> | undefined {
    if (object) {
      const { uid, resourceVersion: version } = object.metadata;
      return { object: this.#options.shown(object), uid, version, deleted: false };
    }
    // Without a known object there is no uid to hide, and no sign by which the deletion could be recognized on the watch.
    return before && { object: undefined, uid: before.uid, version: before.version, deleted: true };
  }

  #keep(key: string, overlay: Overlay<T>): void {
    const now = this.#options.now();
    this.#overlays.delete(key); // so that the new one comes last
    this.#overlays.set(key, { ...overlay, order: ++this.#order, expires: now + longestMilliseconds });
    for (const [other, { expires }] of this.#overlays) {
      if (expires > now) break;
      this.#overlays.delete(other); // `get` drops only overlays that are read, and this one may never be
    }
  }

  #arrive(key: string, one: Arrival): void {
    for (const arrivals of this.#pending.get(key) ?? []) arrivals.push(one);
    const overlay = this.#overlays.get(key);
    if (overlay && hasCaughtUp(one, overlay)) this.#overlays.delete(key);
  }
}

function arrival({ metadata }: KubeObject, removed: boolean): Arrival {
  return { uid: metadata.uid, version: metadata.resourceVersion, removed };
}

/** Whether the watch, which brings the versions of an object in order, has reached the write. */
function hasCaughtUp(arrival: Arrival, write: Overlay<unknown>): boolean {
  const order = compareVersions(arrival.version, write.version);
  if (!write.deleted) return order === undefined ? arrival.removed && arrival.uid === write.uid : order >= 0;
  if (arrival.uid === write.uid) return arrival.removed;
  if (arrival.uid === undefined) return false;
  // Another object of the name is later than the deleted one, unless the watch is still before the deleted one's creation.
  return order === undefined || order > 0;
}

/** Whether `known` happened after `write`, although its answer came earlier. */
function isLater(known: Overlay<unknown>, write: Overlay<unknown>): boolean {
  if (known.uid === write.uid && known.deleted !== write.deleted) return known.deleted;
  return (compareVersions(known.version, write.version) ?? -1) >= 0;
}
