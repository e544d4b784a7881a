// A connection as an application makes it: from the files of its Secret, with short timeouts.
import { existsSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import type { Server } from "./ledger-book.ts";

export interface LedgerConnection extends AsyncDisposable {
  readonly client: Client;
  readonly server: Server;
  readonly inRecovery: boolean;
  /** Set once the connection can't be used any more, also between two statements. */
  readonly broken: () => string | undefined;
  /** The warning that came with the last statement; asking forgets it. */
  readonly warning: () => string | undefined;
}

export interface ConnectionOptions {
  readonly secret: string;
  /** In place of the one that the Secret names. */
  readonly host?: string | undefined;
  readonly connectMilliseconds: number;
  readonly statementMilliseconds: number;
  /** The port that it comes from; the kernel chooses one otherwise. */
  readonly localPort?: number;
  /** Called when a step of the connection is over, also of one that fails later: it tells how far it came. */
  readonly reached?: (step: ConnectionStep) => void;
}

/** In this order: the name server has answered, the first packet is on its way, the server has accepted, TLS and password are over. */
export type ConnectionStep = "resolved" | `sent from port ${string}` | "connected" | "authenticated";

/** pg names a host and a port, and nothing else. */
class SocketFrom extends Socket {
  readonly #localPort: number;

  constructor(localPort: number) {
    super();
    this.#localPort = localPort;
  }

  override connect(...[port, host]: unknown[]): this {
    return super.connect({ port: Number(port), host: String(host), localPort: this.#localPort });
  }
}

/** Reads the Secret anew each time, as a change of password may have come meanwhile. Nothing is left open when it fails. */
export async function connect(options: ConnectionOptions): Promise<LedgerConnection> {
  const { secret, host, localPort, connectMilliseconds, statementMilliseconds, reached = () => {} } = options;
  const read = (key: string) => readFileSync(join(secret, key), "utf8").trim();
  const socket = localPort === undefined ? new Socket() : new SocketFrom(localPort);
  socket.once("lookup", (error: Error | null) => {
    if (error) return;
    reached("resolved");
    setImmediate(() => reached(`sent from port ${socket.localPort}`)); // by which a capture or the connection table finds it
  });
  socket.once("connect", () => reached("connected"));
  const client = new Client({
    host: host ?? read("host"),
    port: Number(read("port")),
    database: read("dbname"),
    user: read("user"),
    password: read("password"),
    ...(existsSync(join(secret, "ca.crt")) ? { ssl: { ca: read("ca.crt") } } : {}),
    connectionTimeoutMillis: connectMilliseconds,
    query_timeout: statementMilliseconds, // on our side: a server that is cut off can't be asked to cancel anything
    application_name: "ledger",
    stream: () => socket,
  });
  let broken: string | undefined;
  let warning: string | undefined;
  client.on("error", (error) => {
    broken ??= error.message;
  });
  client.on("end", () => {
    broken ??= "the connection has ended";
  });
  client.on("notice", (notice) => {
    if ("severity" in notice && notice.severity === "WARNING") warning = notice.message ?? "a warning without words";
  });
  try {
    await client.connect();
    reached("authenticated");
    const { rows } = await client.query<{ address: string; started: string; in_recovery: boolean }>(
      "SELECT host(inet_server_addr()) AS address, pg_postmaster_start_time()::text AS started, pg_is_in_recovery() AS in_recovery",
    );
    const [row] = rows;
    if (row === undefined) throw new Error("the server did not say who it is");
    return {
      client,
      server: { address: row.address, started: row.started },
      inRecovery: row.in_recovery,
      broken: () => broken,
      warning: () => {
        const last = warning;
        warning = undefined;
        return last;
      },
      // Not client.end(): that waits for an answer, which a server that is cut off never gives.
      [Symbol.asyncDispose]: async () => void socket.destroy(),
    };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
