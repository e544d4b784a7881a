// One request and its answer. It ends once: with the answer, with a failure, at its deadline, or by an abort.
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { Aborted, type Call, DeadlineExceeded, Unreachable, WriteRefused } from "./errors.ts";
import { streamTurn } from "./stream-turn.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  /** Milliseconds from now for all of it, including the end of the answer. */
  readonly deadline: number;
  /** Each of them aborts the request. */
  readonly signals?: readonly AbortSignal[];
  /**
   * Asked at the moment when the request would go out on a connection, however long it waited for one. If false, no byte of it
   * is sent.
   */
  readonly mayStart?: (() => boolean) | undefined;
  readonly pool: "calls" | "watches";
  /** Receives the body of a successful answer as it arrives; without it the body is collected. */
  readonly onData?: ((chunk: Buffer) => void) | undefined;
  /** Called when a successful answer begins. */
  readonly onOpen?: (() => void) | undefined;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** How messages name a request: without the query, which is of no use there. */
export function callOf({ method, path }: Pick<HttpRequest, "method" | "path">): Call {
  return { method, path: path.split("?", 1)[0] ?? path };
}

export class Exchange implements Dispatcher.DispatchHandler {
  readonly request: HttpRequest;
  readonly #answer = Promise.withResolvers<HttpResponse>();
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = (event: Event) => this.#giveUp(event.target as AbortSignal);
  /** Of the connection that carries the request. */
  #controller: Dispatcher.DispatchController | undefined;
  #failure: Error | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  readonly #chunks: Buffer[] = [];

  constructor(request: HttpRequest) {
    this.request = request;
    this.#timer = setTimeout(
      () => this.fail(new DeadlineExceeded(`${this.what}: no answer within ${request.deadline / 1000} s`)),
      request.deadline,
    );
    const aborted = request.signals?.find((signal) => signal.aborted);
    if (aborted) this.#giveUp(aborted);
    else for (const signal of request.signals ?? []) signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Must be awaited at once: it may have failed already. */
  get answer(): Promise<HttpResponse> {
    return this.#answer.promise;
  }

  /** The request has failed: nothing awaits its answer. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  get what(): string {
    const { method, path } = callOf(this.request);
    return `${method} ${path}`;
  }

  /** Ends the exchange, also on its connection. */
  fail(failure: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#settle();
    this.#answer.reject(failure);
    this.#controller?.abort(failure);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (!this.hasFailed && this.request.mayStart?.() === false) {
      this.fail(new WriteRefused(`${this.what}: this process may not write any more`));
    }
    // Thrown, because an abort closes the connection: a hundred requests that were aborted in the queue would cost a hundred of them.
    if (this.#failure !== undefined) throw this.#failure;
    this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    if (status === 200) this.request.onOpen?.();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#status !== 200 || this.request.onData === undefined) return void this.#chunks.push(chunk);
    streamTurn.begin();
    try {
      this.request.onData(chunk);
    } catch (error) {
      this.fail(error as Error);
    }
    if (this.hasFailed || !streamTurn.isOver) return;
    controller.pause();
    setImmediate(() => {
      if (!this.hasFailed) controller.resume();
    });
  }

  onResponseEnd(): void {
    this.#settle();
    this.#answer.resolve({ status: this.#status, headers: this.#headers, text: Buffer.concat(this.#chunks).toString("utf8") });
  }

  /** undici may call this before the request has a connection. */
  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.fail(new Unreachable(`${this.what}: ${messageOf(error)}`, { cause: error }));
  }

  #giveUp(signal: AbortSignal): void {
    this.fail(new Aborted(`${this.what}: given up`, { cause: signal.reason }));
  }

  #settle(): void {
    clearTimeout(this.#timer);
    for (const signal of this.request.signals ?? []) signal.removeEventListener("abort", this.#onAbort);
  }
}

/** For a host with several addresses, Node fails with an AggregateError that has an empty message. */
function messageOf(error: Error & { readonly code?: string }): string {
  if (error.message !== "") return error.message;
  const all = error instanceof AggregateError ? error.errors.map(({ message }: Error) => message).join(", ") : "";
  return all || (error.code ?? error.name);
}
