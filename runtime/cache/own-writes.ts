// One's own writes, shown to readers until the watch has brought them: between the answer to a write and its event a
// reconcile would otherwise see the world as it was, and do the same thing again.
import type { PendingWrite } from "../kube/client.ts";
import type { KubeObject } from "../kube/object.ts";
import { compareVersions } from "./versions.ts";

interface Version {
  readonly uid: string | undefined;
  readonly version: string | undefined;
}

/** What is read in place of the watched object. The version of one that was deleted is the last that is known. */
interface Overlay<T> extends Version {
  /** Undefined hides the watched one: it was deleted, or written so that it is not selected any more. */
  readonly object: T | undefined;
  readonly deleted: boolean;
}

interface Kept<T> extends Overlay<T> {
  readonly order: number;
  readonly expires: number;
}

/** What the watch brought: an object, or its end. */
interface Arrival extends Version {
  readonly removed: boolean;
}

export interface OwnWritesOptions<T extends KubeObject> {
  readonly now: () => number;
  /** What readers get of an object that was written; undefined for one that the watch leaves out. */
  readonly shown: (object: T) => T | undefined;
}

/** Whatever the watch does, nothing is hidden for longer than this. */
export const longestMilliseconds = 60_000;

export class OwnWrites<T extends KubeObject> {
  readonly #options: OwnWritesOptions<T>;
  /** The oldest first. */
  readonly #overlays = new Map<string, Kept<T>>();
  /** Writes under way, with what the watch brought meanwhile: the event may be faster than the answer. */
  readonly #pending = new Map<string, Set<Arrival[]>>();
  #order = 0;

  constructor(options: OwnWritesOptions<T>) {
    this.#options = options;
  }

  /** A deletion is taken for that of the object which is read now: one that may be of another has to have a precondition. */
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

  /** The watch brought this version of the object. */
  arrived(key: string, object: T): void {
    this.#arrive(key, arrival(object, false));
  }

  /** The watch brought the object's end. */
  removed(key: string, object: T): void {
    this.#arrive(key, arrival(object, true));
  }

  /** A list that is asked for now has all writes that ended before; `listed` is called when it is there, with its version. */
  beginList(): { listed(version: string | undefined, inScope: (key: string) => boolean): void } {
    const order = this.#order;
    return {
      listed: (version, inScope) => {
        this.passed(version, inScope);
        for (const [key, overlay] of this.#overlays) if (overlay.order <= order && inScope(key)) this.#overlays.delete(key);
      },
    };
  }

  /** The watch has brought all there was up to this version. An object that it leaves out comes by in no other way. */
  passed(version: string | undefined, inScope: (key: string) => boolean): void {
    const reached = (overlay: Overlay<T>) => !overlay.deleted && (compareVersions(version, overlay.version) ?? -1) >= 0;
    for (const [key, overlay] of this.#overlays) if (inScope(key) && reached(overlay)) this.#overlays.delete(key);
    for (const [key, pending] of this.#pending) {
      // Of no object at all: it says nothing about a deletion, which may have happened since.
      if (inScope(key)) for (const arrivals of pending) arrivals.push({ uid: undefined, version, removed: false });
    }
  }

  /** The written object, `hidden` where there is none to be read, or undefined: ask the watched ones. */
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

  /** The object that there was, as far as anybody here knows. */
  #known(key: string, watched: T | undefined): Version | undefined {
    const own = this.#overlays.get(key);
    return own && !own.deleted ? own : watched && arrival(watched, false);
  }

  #overlay(object: T | undefined, before: Version | undefined): Overlay<T> | undefined {
    if (object) {
      const { uid, resourceVersion: version } = object.metadata;
      return { object: this.#options.shown(object), uid, version, deleted: false };
    }
    // Without one, nobody knows what was deleted, nor would know when the watch has brought it.
    return before && { object: undefined, uid: before.uid, version: before.version, deleted: true };
  }

  #keep(key: string, overlay: Overlay<T>): void {
    const now = this.#options.now();
    this.#overlays.delete(key); // so that it comes last
    this.#overlays.set(key, { ...overlay, order: ++this.#order, expires: now + longestMilliseconds });
    for (const [other, { expires }] of this.#overlays) {
      if (expires > now) break;
      this.#overlays.delete(other); // nobody may ever read it again
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

/** Whether the watch, which brings all versions of an object in order, is at the write or past it. */
function hasCaughtUp(arrival: Arrival, write: Overlay<unknown>): boolean {
  const order = compareVersions(arrival.version, write.version);
  if (!write.deleted) return order === undefined ? arrival.removed && arrival.uid === write.uid : order >= 0;
  if (arrival.uid === write.uid) return arrival.removed;
  if (arrival.uid === undefined) return false;
  // Another of its name is a later one, unless the watch is still at a time before the deleted one was made.
  return order === undefined || order > 0;
}

/** Whether `known` happened after `write`, whose answer came later. */
function isLater(known: Overlay<unknown>, write: Overlay<unknown>): boolean {
  if (known.uid === write.uid && known.deleted !== write.deleted) return known.deleted;
  return (compareVersions(known.version, write.version) ?? -1) >= 0;
}
