// The connections to an API server under one identity: calls share a bounded pool, each watch has its own connection.
import { Socket } from "node:net";
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";
import type { Identity } from "./credentials.ts";
import type { Exchange } from "./exchange.ts";

/** More connections would only make the API server queue requests that we can queue ourselves. */
const callConnections = 32;

export class Pools {
  readonly identity: Identity;
  readonly #calls: Dispatcher;
  readonly #watches: Dispatcher;
  readonly #connecting = new Set<Socket>();

  constructor(identity: Identity) {
    this.identity = identity;
    this.#calls = this.#open(callConnections);
    this.#watches = this.#open(null);
  }

  /** Reports the outcome to the exchange only. */
  dispatch(exchange: Exchange, headers: Readonly<Record<string, string>>): void {
    const { method, path, body = null, pool } = exchange.request;
    const { origin, pathname } = new URL(this.identity.server);
    const place = pathname === "/" ? path : pathname + path;
    // undici's own timeouts would end a quiet watch after five minutes; the exchange has the deadline.
    const options = { origin, method, path: place, headers, body, headersTimeout: 0, bodyTimeout: 0 };
    (pool === "calls" ? this.#calls : this.#watches).dispatch(options, exchange);
  }

  /** Accepts no new requests; resolves when those under way have ended by themselves. */
  async retire(): Promise<void> {
    await Promise.all([this.#calls.close(), this.#watches.close()]);
  }

  async destroy(): Promise<void> {
    const destroyed = Promise.all([this.#calls.destroy(), this.#watches.destroy()]);
    for (const socket of this.#connecting) socket.destroy(new Error("the client is closed"));
    await destroyed;
  }

  #open(connections: number | null): Dispatcher {
    const { server, tls, proxy } = this.identity;
    // The kernel's keep-alive probes detect a dead peer after about 25 s; undici's default would take a minute.
    const connecting = { ...tls.options, allowH2: false, timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 15_000 };
    // undici prefers HTTP/2, where one lost connection would take all calls and watches with it.
    const options = { connections, pipelining: 1, keepAliveTimeout: 30_000, allowH2: false };
    if (proxy !== undefined) return new ProxyAgent({ ...options, uri: proxy, requestTls: connecting });
    return new Pool(new URL(server).origin, { ...options, connect: this.#remembering(buildConnector(connecting)) });
  }

  /** Tracks connections that are being made: a destroyed pool leaves them alone, and they would keep the process alive. */
  #remembering(connector: buildConnector.connector): buildConnector.connector {
    return (options, callback) => {
      const socket: unknown = connector(options, (...result) => {
        if (socket instanceof Socket) this.#connecting.delete(socket);
        callback(...result);
      });
      if (socket instanceof Socket) this.#connecting.add(socket);
    };
  }
}
