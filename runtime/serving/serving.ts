// The common parts of our small HTTP servers: they report clearly why they can't listen, survive misbehaving clients, and end
// without cutting answers off.
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import { type Clock, systemClock } from "../clock.ts";
import type { Log } from "../observability/log.ts";
import { type Address, addressText } from "./address.ts";

export interface Serving {
  /** The port that the server listens on: the requested one, or the free one that was chosen. */
  readonly port: number;
  /** Accepts no new connections, lets answers under way end, and cuts them off after the grace. Can be called again. */
  stop(): Promise<void>;
}

/** Limits for slow and idle clients. */
export const serverLimits = {
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 90_000, // longer than the time between two scrapes; controller-runtime's value
  connectionsCheckingInterval: 5000,
} as const satisfies ServerOptions;

const mostConnections = 128;
const defaultGraceMilliseconds = 5000;

export interface ListenOptions {
  readonly address: Address;
  /** The flag with the address, for messages. */
  readonly flag: string;
  readonly log: Log;
  readonly clock?: Clock | undefined;
  /** How long answers under way may take when the server is stopped. */
  readonly graceMilliseconds?: number | undefined;
}

export async function listen(server: Server | TlsServer, options: ListenOptions): Promise<Serving> {
  const { address, flag, log, clock = systemClock, graceMilliseconds = defaultGraceMilliseconds } = options;
  server.maxConnections = mostConnections;
  const sockets = openSockets(server);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.on("error", (error: NodeJS.ErrnoException) => {
    if (!server.listening) return reject(cannotListen(flag, address, error));
    // For example too many open files. Without a listener the error would end the process.
    log.error({ address: addressText(address), error }, "the server can't take a connection");
  });
  server.on("request", (_: IncomingMessage, response: ServerResponse) => {
    // Otherwise a connection whose last answer ends after the stop is kept alive, and the stop waits for it.
    response.once("close", () => server.listening || server.closeIdleConnections());
  });
  server.listen({ port: address.port, ...(address.host === undefined ? {} : { host: address.host }) }, resolve);
  await promise;
  const bound = server.address();
  let stopped: Promise<void> | undefined;
  return {
    port: typeof bound === "object" && bound ? bound.port : address.port,
    stop: () => {
      stopped ??= stop(server, sockets, clock, graceMilliseconds);
      return stopped;
    },
  };
}

function cannotListen(flag: string, address: Address, error: NodeJS.ErrnoException): Error {
  const why = error.code === "EADDRINUSE" ? "another process listens there" : (error.code ?? error.message);
  return new Error(`${flag}: can't listen on ${addressText(address)}: ${why}`, { cause: error });
}

/** All connections: the server itself does not know one before its TLS handshake, and `close` waits for one that never completes it. */
function openSockets(server: Server | TlsServer): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

async function stop(server: Server | TlsServer, sockets: ReadonlySet<Socket>, clock: Clock, graceMilliseconds: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve)); // also closes idle connections
  const cancel = clock.schedule(graceMilliseconds, () => {
    for (const socket of sockets) socket.destroy();
  });
  await closed;
  cancel();
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Accepts GET and HEAD only. A handler that fails answers 500; only the log has the reason, since anyone may send requests. */
export function answering(log: Log, handle: (request: IncomingMessage, url: URL) => Promise<Answer>): RequestListener {
  return async (request, response) => {
    const url = URL.parse(request.url ?? "/", "http://localhost");
    if (url === null) return send(response, { status: 400, text: "Bad Request\n" });
    if (request.method !== "GET" && request.method !== "HEAD") {
      return send(response, { status: 405, text: "Method Not Allowed\n", headers: { allow: "GET, HEAD" } });
    }
    try {
      send(response, await handle(request, url));
    } catch (error) {
      log.error({ path: url.pathname, error }, "a request could not be answered");
      send(response, { status: 500, text: "Internal Server Error\n" });
    }
  };
}

function send(response: ServerResponse, { status, text, headers }: Answer): void {
  const body = Buffer.from(text);
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "content-length": body.length,
    ...headers,
  });
  response.end(body); // Node omits it for a HEAD request
}
