// The connections to an API server under one identity: those for calls are shared and bounded, each watch has its own.
import { Socket } from "node:net";
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";
import type { Identity } from "./credentials.ts";
import type { Exchange } from "./exchange.ts";

/** More connections than this at once only make an API server queue what we can queue as well. */
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

  /** What comes of it is told to the exchange alone. */
  dispatch(exchange: Exchange, headers: Readonly<Record<string, string>>): void {
    const { method, path, body = null, pool } = exchange.request;
    const { origin, pathname } = new URL(this.identity.server);
    const place = pathname === "/" ? path : pathname + path;
    // undici's own timeouts would end a quiet watch after five minutes; the deadline is the exchange's.
    const options = { origin, method, path: place, headers, body, headersTimeout: 0, bodyTimeout: 0 };
    (pool === "calls" ? this.#calls : this.#watches).dispatch(options, exchange);
  }

  /** Takes nothing new; resolves when what is under way has ended by itself. */
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
    // Keep-alive probes from the kernel find a peer that is gone in about 25 s; a minute is undici's default.
    const connecting = { ...tls.options, allowH2: false, timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 15_000 };
    // With HTTP/2, which undici prefers, one lost connection would take every call and watch along.
    const options = { connections, pipelining: 1, keepAliveTimeout: 30_000, allowH2: false };
    if (proxy !== undefined) return new ProxyAgent({ ...options, uri: proxy, requestTls: connecting });
    return new Pool(new URL(server).origin, { ...options, connect: this.#remembering(buildConnector(connecting)) });
  }

  /** A pool that is destroyed leaves the connections alone that are being made; they would keep the process alive. */
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
