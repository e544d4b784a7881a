// HTTP to the API server. Every call has a deadline and can be aborted; connections that fell silent or whose credentials were
// refused are replaced. The meaning of paths is not known here.
import type { Credentials } from "./credentials.ts";
import { Aborted, Unreachable } from "./errors.ts";
import { callOf, Exchange, type HttpRequest, type HttpResponse } from "./exchange.ts";
import { Pools } from "./pools.ts";
import { warnings } from "./warnings.ts";

/** Called after every exchange, for metrics. `code` is `<error>` when no answer came, as in client-go. */
export type RequestListener = (request: HttpRequest, server: string, code: string, milliseconds: number) => void;

export interface TransportOptions {
  readonly listener?: RequestListener;
  /** Called with each warning of the API server, such as a deprecated version: for every answer that has it. */
  readonly onWarning?: (request: HttpRequest, text: string) => void;
  readonly userAgent?: string;
}

export class Transport {
  readonly #credentials: Credentials;
  readonly #options: TransportOptions;
  #pools: Pools | undefined;
  /** The current pools, and retired ones with exchanges under way. */
  readonly #open = new Set<Pools>();
  readonly #underWay = new Set<Exchange>();
  #closed = false;

  constructor(credentials: Credentials, options: TransportOptions = {}) {
    this.#credentials = credentials;
    this.#options = options;
  }

  /** Resolves to the answer, whatever its status. Rejects with a KubeError when there is none, or with the error that `onData` threw. */
  async send(request: HttpRequest): Promise<HttpResponse> {
    const begin = performance.now();
    const exchange = new Exchange(request);
    this.#underWay.add(exchange);
    let used: Pools | undefined;
    this.#begin(exchange, (pools) => {
      used = pools;
    });
    const report = (code: string) => this.#options.listener?.(request, used?.identity.server ?? "", code, performance.now() - begin);
    try {
      const response = await exchange.answer;
      if (response.status === 401) this.#credentials.refresh();
      for (const text of warnings(response.headers)) this.#options.onWarning?.(request, text);
      report(String(response.status));
      return response;
    } catch (error) {
      report("<error>");
      // Later calls would use the same silent connection, and an authority that the TLS client does not know may have been replaced.
      if (error instanceof Unreachable && used) this.#renew(used);
      throw error;
    } finally {
      this.#underWay.delete(exchange);
    }
  }

  /** Aborts everything under way. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const exchange of this.#underWay) exchange.fail(closed(exchange.request));
    await Promise.all([...this.#open].map((pools) => pools.destroy()));
  }

  /** Sends the exchange once the credentials are known; the deadline runs meanwhile. */
  async #begin(exchange: Exchange, onUse: (pools: Pools) => void): Promise<void> {
    try {
      const identity = await this.#credentials.current();
      if (this.#closed) exchange.fail(closed(exchange.request));
      if (exchange.hasFailed) return;
      const pools = this.#poolsFor(identity);
      onUse(pools);
      const { body, contentType = "application/json" } = exchange.request;
      pools.dispatch(exchange, {
        ...identity.headers,
        accept: "application/json",
        "user-agent": this.#options.userAgent ?? "sampledb-operator",
        ...(body === undefined ? {} : { "content-type": contentType }),
      });
    } catch (error) {
      exchange.fail(new Unreachable(`${exchange.what}: ${(error as Error).message}`, { cause: error }));
    }
  }

  #poolsFor(identity: Pools["identity"]): Pools {
    if (this.#pools?.identity.tls.fingerprint === identity.tls.fingerprint) return this.#pools;
    if (this.#pools) this.#retire(this.#pools);
    this.#pools = new Pools(identity);
    this.#open.add(this.#pools);
    return this.#pools;
  }

  #renew(pools: Pools): void {
    if (this.#closed || this.#pools !== pools) return; // another failed call has renewed them
    this.#credentials.refresh();
    this.#pools = undefined;
    this.#retire(pools);
  }

  #retire(pools: Pools): void {
    const forget = () => this.#open.delete(pools);
    pools.retire().then(forget, forget);
  }
}

function closed(request: HttpRequest): Aborted {
  const { method, path } = callOf(request);
  return new Aborted(`${method} ${path}: the client is closed`);
}
