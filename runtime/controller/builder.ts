// The definition of a controller: the kind it is for, the kinds it watches, and its reconcile function.
import type { Change } from "../cache/store.ts";
import type { Cancel } from "../clock.ts";
import type { KubeClient } from "../kube/client.ts";
import { controllerOf, type Key, type KubeObject, keyOf } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import type { Log } from "../observability/log.ts";
import type { Objects } from "./objects.ts";
import type { Predicate } from "./predicates.ts";
import type { Result } from "./result.ts";

/** The input of a reconcile. All of it ends with the reconcile: after the end or the timeout, `objects` and `client` write nothing. */
export interface Request {
  readonly key: Key;
  /** Writes desired objects that differ from the cached ones, and no others. */
  readonly objects: Objects;
  /** Uncached calls, for kinds that are not watched. */
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Brings the cluster to the state that the object describes. Level-based: it gets the key of an object, never what happened to it. */
export type Reconcile = (request: Request) => Promise<Result>;

/** A kind to watch. `concerned` maps a change to the objects of the controller's own kind that must be reconciled. */
export interface Source {
  readonly resource: Resource;
  readonly concerned: (change: Change) => readonly Key[];
}

/**
 * A cause of reconciles that is no change of an object, such as a clock. It is begun when the controller starts, and never in a standby; the
 * function that it returns ends it.
 */
export type Prompt = (enqueue: (key: Key) => void) => Cancel;

export interface ControllerDefinition {
  readonly name: string;
  readonly resource: Resource;
  readonly sources: readonly Source[];
  readonly prompts: readonly Prompt[];
  readonly reconcile: Reconcile;
  readonly maxConcurrentReconciles: number;
  readonly timeoutSeconds: number;
}

export interface ReconcileOptions {
  readonly maxConcurrentReconciles?: number;
  /** After this a reconcile is aborted and counts as failed. Writes that it had sent may still take effect. */
  readonly timeoutSeconds?: number;
}

const everything: Predicate = () => true;

export class ControllerBuilder<T extends KubeObject> {
  readonly #name: string;
  readonly #resource: Resource<T>;
  readonly #sources: Source[] = [];
  readonly #prompts: Prompt[] = [];

  /** A controller for a kind. It reconciles an object when that object changes. */
  static for<T extends KubeObject>(name: string, resource: Resource<T>, predicate: Predicate<T> = everything): ControllerBuilder<T> {
    const builder = new ControllerBuilder(name, resource);
    builder.#sources.push(source(resource, (object) => [keyOf(object)], predicate));
    return builder;
  }

  private constructor(name: string, resource: Resource<T>) {
    this.#name = name;
    this.#resource = resource;
  }

  /** Watches objects whose controller, by owner reference, is an object of the controller's kind. */
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

  /** Watches any other kind; `keys` names the objects of the controller's kind to reconcile. */
  watches<C extends KubeObject>(resource: Resource<C>, keys: (object: C) => readonly Key[], predicate: Predicate<C> = everything): this {
    this.#sources.push(source(resource, keys, predicate));
    return this;
  }

  /** Reconciles the objects that the prompt names, whenever it does. */
  prompted(prompt: Prompt): this {
    this.#prompts.push(prompt);
    return this;
  }

  reconcile(reconcile: Reconcile, { maxConcurrentReconciles = 1, timeoutSeconds = 120 }: ReconcileOptions = {}): ControllerDefinition {
    const causes = { sources: this.#sources, prompts: this.#prompts };
    return { name: this.#name, resource: this.#resource, ...causes, reconcile, maxConcurrentReconciles, timeoutSeconds };
  }
}

/** A change concerns the keys of the object now and before: an object may pass from one owner to another, and both must see it. */
function source<T extends KubeObject>(resource: Resource<T>, keys: (object: T) => readonly Key[], predicate: Predicate<T>): Source {
  const concerned = (change: Change<T>) => {
    if (!predicate(change)) return [];
    return change.type === "changed" ? [...keys(change.object), ...keys(change.previous)] : keys(change.object);
  };
  // The one cast from `Change<T>` to `Change`: a resource has only objects of its type, which nothing checks.
  return { resource, concerned: concerned as (change: Change) => readonly Key[] };
}

/** Owner references may name another version of the group; the kind is the same. */
function groupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? (apiVersion.split("/")[0] as string) : "";
}
