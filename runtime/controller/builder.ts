// What a controller is made of: the kind that it is for, what else it looks at, and how it reconciles.
import type { Change } from "../cache/store.ts";
import type { KubeClient } from "../kube/client.ts";
import { controllerOf, type Key, type KubeObject, keyOf } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import type { Log } from "../observability/log.ts";
import type { Objects } from "./objects.ts";
import type { Predicate } from "./predicates.ts";
import type { Result } from "./result.ts";

/** What a reconcile is given. Everything in it ends with the reconcile: after its timeout, nothing more is written by it. */
export interface Request {
  readonly key: Key;
  /** Writes what differs, and only that. */
  readonly objects: Objects;
  /** Live calls, for kinds that are not watched. */
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Makes the world as the object says. Level-based: it is told which object, never what happened to it. */
export type Reconcile = (request: Request) => Promise<Result>;

/** A kind to look at, and which objects of the controller's own kind a change concerns. */
export interface Source {
  readonly resource: Resource;
  readonly concerned: (change: Change) => readonly Key[];
}

export interface ControllerDefinition {
  readonly name: string;
  readonly resource: Resource;
  readonly sources: readonly Source[];
  readonly reconcile: Reconcile;
  readonly maxConcurrentReconciles: number;
  readonly timeoutSeconds: number;
}

export interface ReconcileOptions {
  readonly maxConcurrentReconciles?: number;
  /** After this a reconcile is given up and counts as failed; what it had begun to write may or may not happen. */
  readonly timeoutSeconds?: number;
}

const everything: Predicate = () => true;

export class ControllerBuilder<T extends KubeObject> {
  readonly #name: string;
  readonly #resource: Resource<T>;
  readonly #sources: Source[] = [];

  /** A controller for a kind, which it reconciles when one of its objects changes. */
  static for<T extends KubeObject>(name: string, resource: Resource<T>, predicate: Predicate<T> = everything): ControllerBuilder<T> {
    const builder = new ControllerBuilder(name, resource);
    builder.#sources.push(source(resource, (object) => [keyOf(object)], predicate));
    return builder;
  }

  private constructor(name: string, resource: Resource<T>) {
    this.#name = name;
    this.#resource = resource;
  }

  /** Objects that an object of the controller's kind controls, by owner reference. */
  owns<C extends KubeObject>(resource: Resource<C>, predicate: Predicate<C> = everything): this {
    const group = groupOf(this.#resource.apiVersion);
    return this.watches(
      resource,
      (object) => {
        const owner = controllerOf(object);
        if (owner?.kind !== this.#resource.kind || groupOf(owner.apiVersion) !== group) return [];
        return [{ namespace: this.#resource.namespaced ? (object.metadata.namespace ?? "") : "", name: owner.name }];
      },
      predicate,
    );
  }

  /** Any other kind, with the objects of the controller's kind that one of it concerns. */
  watches<C extends KubeObject>(resource: Resource<C>, keys: (object: C) => readonly Key[], predicate: Predicate<C> = everything): this {
    this.#sources.push(source(resource, keys, predicate));
    return this;
  }

  reconcile(reconcile: Reconcile, { maxConcurrentReconciles = 1, timeoutSeconds = 120 }: ReconcileOptions = {}): ControllerDefinition {
    return { name: this.#name, resource: this.#resource, sources: this.#sources, reconcile, maxConcurrentReconciles, timeoutSeconds };
  }
}

/** A change concerns the keys of the object as it is, and of what it was before: it may have been handed from one owner to another. */
function source<T extends KubeObject>(resource: Resource<T>, keys: (object: T) => readonly Key[], predicate: Predicate<T>): Source {
  const concerned = (change: Change<T>) => {
    if (!predicate(change)) return [];
    return change.type === "changed" ? [...keys(change.object), ...keys(change.previous)] : keys(change.object);
  };
  // The objects of a resource are of its type: the one place where that is said, not checked.
  return { resource, concerned: concerned as (change: Change) => readonly Key[] };
}

/** Versions of one group are the same kind. */
function groupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? (apiVersion.split("/")[0] as string) : "";
}
