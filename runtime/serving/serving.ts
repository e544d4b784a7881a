// What our small HTTP servers have in common: they say clearly why they can't listen, they outlive what clients do to
// them, and they end without cutting answers off.
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import { type Clock, systemClock } from "../clock.ts";
import type { Log } from "../observability/log.ts";
import { type Address, addressText } from "./address.ts";

export interface Serving {
  /** The port that it listens on: the one that was asked for, or the one that was found free. */
  readonly port: number;
  /** Takes nothing new, lets answers that have begun end, and cuts them off when they take too long. Can be called again. */
  stop(): Promise<void>;
}

/** A client gets this long to say what it wants. Connections are few and cheap, but not for ever. */
export const serverLimits = {
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 90_000, // longer than the time between two scrapes, and what controller-runtime has
  connectionsCheckingInterval: 5000,
} as const satisfies ServerOptions;

const mostConnections = 128;
const defaultGraceMilliseconds = 5000;

export interface ListenOptions {
  readonly address: Address;
  /** The flag that said so, for messages. */
  readonly flag: string;
  readonly log: Log;
  readonly clock?: Clock | undefined;
  /** How long answers that have begun may take to end when it is stopped. */
  readonly graceMilliseconds?: number | undefined;
}

export async function listen(server: Server | TlsServer, options: ListenOptions): Promise<Serving> {
  const { address, flag, log, clock = systemClock, graceMilliseconds = defaultGraceMilliseconds } = options;
  server.maxConnections = mostConnections;
  const sockets = openSockets(server);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.on("error", (error: NodeJS.ErrnoException) => {
    if (!server.listening) return reject(cannotListen(flag, address, error));
    // Too many open files, for one. Without a listener it would end the process.
    log.error({ address: addressText(address), error }, "the server can't take a connection");
  });
  server.on("request", (_: IncomingMessage, response: ServerResponse) => {
    // A connection whose last answer ends after the stop is kept alive otherwise, and the stop waits for it.
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

/** All of them: a server knows of a connection only when its TLS handshake is over, and waits for one that never comes to it. */
function openSockets(server: Server | TlsServer): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

async function stop(server: Server | TlsServer, sockets: ReadonlySet<Socket>, clock: Clock, graceMilliseconds: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve)); // this ends the connections that are idle now
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

/** For GET and HEAD only. A handler that fails answers 500, and why is for the log: who asks may be anybody. */
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
  response.end(body); // Node leaves it out when the request was HEAD
}
