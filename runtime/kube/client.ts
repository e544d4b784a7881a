// The calls that controllers make to the API server. Objects go out and come in as raw JSON.
import { failure, isGone, parsed } from "./answer.ts";
import { Aborted, NotFound, WriteRefused } from "./errors.ts";
import { callOf, type HttpRequest, type HttpResponse } from "./exchange.ts";
import { type Key, type KubeObject, keyOf } from "./object.ts";
import { type Resource, resourcePath } from "./resource.ts";
import type { Transport } from "./transport.ts";
import { eventDecoder, type WatchEvent } from "./watch-events.ts";

/** Called before each write is sent and with its outcome, so that a cache can show own writes at once. */
export interface WriteObserver {
  begin(resource: Resource, key: Key): PendingWrite;
}

export interface PendingWrite {
  /** The object as the API server now has it; undefined when it is gone. */
  settled(object: KubeObject | undefined): void;
  /** The write failed, or the state of the object is unknown. */
  abandoned(): void;
}

export interface ClientOptions {
  /** The owner of the fields that this client applies. */
  readonly fieldManager: string;
  /** Returns false: no more writes are sent. Reads go on. */
  readonly mayWrite?: (() => boolean) | undefined;
  /** Aborts all calls of this client. */
  readonly signal?: AbortSignal | undefined;
  readonly writes?: WriteObserver | undefined;
}

export interface CallOptions {
  /** In milliseconds; the default is 15 s, and 60 s for lists. */
  readonly deadline?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Selection {
  /** Empty or absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selection, CallOptions {
  readonly limit?: number;
  readonly resourceVersion?: string;
  readonly continueToken?: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly continueToken: string | undefined;
}

export interface WatchOptions extends Selection {
  readonly resourceVersion?: string | undefined;
  /** The server ends the watch after this time. If it does not, the call fails half a minute later. */
  readonly timeoutSeconds: number;
  /** Begins with the existing objects and a bookmark (WatchList). */
  readonly initialEvents: boolean;
  /** The server has accepted the watch. */
  readonly onOpen?: () => void;
  readonly signal: AbortSignal;
}

export interface DeleteOptions extends CallOptions {
  /** Precondition: the object still has this uid. */
  readonly uid?: string | undefined;
  /** Precondition: the object has not changed since this version. */
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
}

export interface PatchOptions extends CallOptions {
  readonly subresource?: string;
}

export type JsonPatch = readonly ({ op: "add" | "replace" | "test"; path: string; value: unknown } | { op: "remove"; path: string })[];

const defaultDeadline = 15_000;
const watchGraceSeconds = 30;

export class KubeClient {
  readonly #transport: Transport;
  readonly #options: ClientOptions;

  constructor(transport: Transport, options: ClientOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  /** The same connections with other options. */
  with(options: Partial<ClientOptions>): KubeClient {
    return new KubeClient(this.#transport, { ...this.#options, ...options });
  }

  async get<T extends KubeObject>(resource: Resource<T>, key: Key, options: CallOptions = {}): Promise<T> {
    return await this.#read(resourcePath(resource, key.namespace, key.name), {}, options);
  }

  async find<T extends KubeObject>(resource: Resource<T>, key: Key, options: CallOptions = {}): Promise<T | undefined> {
    return await this.get(resource, key, options).catch((error: unknown) => {
      if (error instanceof NotFound) return undefined;
      throw error;
    });
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<Page<T>> {
    const { namespace, limit, resourceVersion, continueToken, deadline = 60_000, ...rest } = options;
    const query = { ...selectors(options), limit, resourceVersion, continue: continueToken };
    const list = await this.#read<{ items: T[] | null; metadata: { resourceVersion: string; continue?: string } }>(
      resourcePath(resource, namespace ?? ""),
      query,
      { ...rest, deadline },
    );
    // The API server leaves apiVersion and kind out of the items of a list.
    const items = (list.items ?? []).map((item) => ({ ...item, apiVersion: resource.apiVersion, kind: resource.kind }));
    return { items, resourceVersion: list.metadata.resourceVersion, continueToken: list.metadata.continue || undefined };
  }

  /** All objects, a page at a time: parsing one big answer would block the event loop. */
  async *pages<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): AsyncGenerator<Page<T>> {
    let page: Page<T> | undefined;
    do {
      const { resourceVersion: _, ...next } = options; // a continue token contains it
      page = await this.list(
        resource,
        page?.continueToken === undefined ? { limit: 500, ...options } : { limit: 500, ...next, continueToken: page.continueToken },
      );
      yield page;
    } while (page.continueToken !== undefined);
  }

  /** Asks the API server whether it would create the object, with all that admits or refuses it. Nothing is stored. */
  async tryCreate<T extends KubeObject>(resource: Resource<T>, object: T, options: CallOptions = {}): Promise<void> {
    const path = resourcePath(resource, object.metadata.namespace ?? "");
    await this.raw("POST", withQuery(path, { dryRun: "All", fieldManager: this.#options.fieldManager }), object, options);
  }

  async create<T extends KubeObject>(resource: Resource<T>, object: T, options: CallOptions = {}): Promise<T> {
    const path = resourcePath(resource, object.metadata.namespace ?? "");
    return (await this.#write("POST", path, { fieldManager: this.#options.fieldManager }, object, options, {
      resource,
      key: keyOf(object),
    })) as T;
  }

  /** Replaces the whole object. With a resourceVersion in it, only if it has not changed since that version. */
  async replace<T extends KubeObject>(resource: Resource<T>, object: T, options: PatchOptions = {}): Promise<T> {
    const path = resourcePath(resource, object.metadata.namespace ?? "", object.metadata.name, options.subresource);
    return (await this.#write("PUT", path, { fieldManager: this.#options.fieldManager }, object, options, {
      resource,
      key: keyOf(object),
    })) as T;
  }

  /**
   * Server-side apply: creates the object or sets the given fields, and removes fields that this field manager set before and
   * now leaves out. Takes fields over from other managers.
   */
  async apply<T extends KubeObject>(resource: Resource<T>, object: T, options: PatchOptions = {}): Promise<T> {
    return await this.#patch(resource, keyOf(object), "apply-patch+yaml", object, options, { force: true });
  }

  /** A null removes a field. With `metadata.resourceVersion` in it, only if the object has not changed since that version. */
  async mergePatch<T extends KubeObject>(resource: Resource<T>, key: Key, patch: object, options: PatchOptions = {}): Promise<T> {
    return await this.#patch(resource, key, "merge-patch+json", patch, options);
  }

  async jsonPatch<T extends KubeObject>(resource: Resource<T>, key: Key, patch: JsonPatch, options: PatchOptions = {}): Promise<T> {
    return await this.#patch(resource, key, "json-patch+json", patch, options);
  }

  /** Resolves to the object while finalizers or a grace period keep it, and to undefined when it is gone. */
  async delete<T extends KubeObject>(resource: Resource<T>, key: Key, options: DeleteOptions = {}): Promise<T | undefined> {
    const { uid, resourceVersion, propagationPolicy = "Background", gracePeriodSeconds, ...rest } = options;
    const body = { propagationPolicy, gracePeriodSeconds, preconditions: { uid, resourceVersion } };
    const path = resourcePath(resource, key.namespace, key.name);
    const answer = await this.#write("DELETE", path, {}, body, rest, { resource, key });
    return answer.kind === "Status" || isGone("DELETE", answer) ? undefined : (answer as T);
  }

  /** Resolves when the server ends the watch after its time; rejects otherwise. */
  async watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    onEvents: (events: readonly WatchEvent<T>[]) => void,
  ): Promise<void> {
    const { namespace, resourceVersion, timeoutSeconds, initialEvents, onOpen, signal } = options;
    const initial = initialEvents ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" } : {};
    const query = { ...selectors(options), watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds, ...initial };
    const path = withQuery(resourcePath(resource, namespace ?? ""), query);
    const decode = eventDecoder<T>({ ...callOf({ method: "GET", path }), method: "WATCH" }, onEvents);
    const deadline = (timeoutSeconds + watchGraceSeconds) * 1000;
    await this.#send({ method: "GET", path, deadline, pool: "watches", onData: decode, onOpen }, signal);
  }

  /** Any other path: discovery, versions, reviews. A POST counts as a write. */
  async raw<T>(method: "GET" | "POST", path: string, body?: object, options: CallOptions = {}): Promise<T> {
    if (method === "GET") return await this.#read(path, {}, options);
    const request = { ...this.#request(method, path, options, body), mayStart: this.#options.mayWrite };
    return await this.#json(request, options.signal);
  }

  /** Whether the API server serves this kind. */
  async serves({ apiVersion, plural }: Resource): Promise<boolean> {
    const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    try {
      const { resources } = await this.raw<{ resources: readonly { name: string }[] }>("GET", path);
      return resources.some(({ name }) => name === plural);
    } catch (error) {
      if (error instanceof NotFound) return false; // no server for the group
      throw error;
    }
  }

  async #patch<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    type: string,
    patch: object,
    options: PatchOptions,
    query: { force?: true } = {},
  ): Promise<T> {
    const path = resourcePath(resource, key.namespace, key.name, options.subresource);
    const manager = { fieldManager: this.#options.fieldManager, ...query };
    return (await this.#write("PATCH", path, manager, patch, options, { resource, key }, `application/${type}`)) as T;
  }

  async #read<T>(path: string, query: Query, options: CallOptions): Promise<T> {
    return await this.#json(this.#request("GET", withQuery(path, query), options), options.signal);
  }

  async #write(
    method: "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    query: Query,
    body: object,
    options: CallOptions,
    written: { readonly resource: Resource; readonly key: Key },
    contentType = "application/json",
  ): Promise<KubeObject> {
    const { mayWrite, writes } = this.#options;
    const pending = writes?.begin(written.resource, written.key);
    try {
      const request = { ...this.#request(method, withQuery(path, query), options, body), contentType, mayStart: mayWrite };
      const answer = await this.#json<KubeObject>(request, options.signal);
      if (answer.kind === written.resource.kind) pending?.settled(isGone(method, answer) ? undefined : answer);
      else if (method === "DELETE") pending?.settled(undefined);
      else pending?.abandoned(); // a subresource with a kind of its own, such as Scale
      return answer;
    } catch (error) {
      pending?.abandoned();
      throw error;
    }
  }

  #request(method: HttpRequest["method"], path: string, { deadline = defaultDeadline }: CallOptions, body?: object): HttpRequest {
    return { method, path, deadline, pool: "calls", ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  }

  async #json<T>(request: HttpRequest, signal: AbortSignal | undefined): Promise<T> {
    return parsed(callOf(request), (await this.#send(request, signal)).text);
  }

  async #send(request: HttpRequest, signal: AbortSignal | undefined): Promise<HttpResponse> {
    const call = callOf(request);
    const signals = [this.#options.signal, signal].filter((signal) => signal !== undefined);
    // Checked before anything begins; the exchange checks again when the request gets a connection.
    const aborted = signals.find((signal) => signal.aborted);
    if (aborted) throw new Aborted(`${call.method} ${call.path}: given up`, { cause: aborted.reason });
    if (request.mayStart?.() === false) throw new WriteRefused(`${call.method} ${call.path}: this process may not write any more`);
    const response = await this.#transport.send({ ...request, signals });
    if (response.status >= 200 && response.status < 300) return response;
    throw failure(call, response);
  }
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

function selectors({ labelSelector, fieldSelector }: Selection): Query {
  return { labelSelector, fieldSelector };
}

function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "") parameters.set(name, String(value));
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
