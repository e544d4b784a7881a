// The TCP connections of the store's clients, where the faults of networks are: each is led to a socket behind it, byte by byte.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { eventuallySucceeds } from "../../tools/eventually.ts";
import type { Rate } from "./rate.ts";

interface Connection {
  readonly client: Socket;
  /** Lets no byte through any more, in neither direction, and nobody hears of it. */
  lose(): void;
}

export class Line {
  readonly address: string;
  /** While it is on, connections are accepted and nothing is ever read from them. */
  isSilent = false;
  #server: Server | undefined;
  #port = 0;
  readonly #socketBehind: string;
  readonly #rate: Rate;
  readonly #open = new Set<Connection>();
  readonly #lost = new Set<Socket>();

  constructor(address: string, socketBehind: string, rate: Rate) {
    this.address = address;
    this.#socketBehind = socketBehind;
    this.#rate = rate;
  }

  get port(): number {
    return this.#port;
  }

  /** On the same port each time. */
  async listen(): Promise<void> {
    // Somebody's outgoing connection may have the port for a moment.
    this.#server ??= await eventuallySucceeds(`port ${this.#port} of ${this.address} is free`, 10_000, async () => {
      const server = createServer({ noDelay: true }, (client) => this.#accept(client)).listen(this.#port, this.address);
      await once(server, "listening");
      return server;
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** New connections are refused from now on; those that are there stay. */
  refuse(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  /** Those that are there end at once. */
  reset(): void {
    for (const { client } of this.#open) client.resetAndDestroy();
  }

  /** Those that are there stay open and silent for ever, as after a cable was pulled. */
  lose(): void {
    for (const connection of this.#open) {
      connection.lose();
      this.#lost.add(connection.client);
    }
    this.#open.clear();
  }

  stop(): void {
    this.refuse();
    for (const client of [...this.#lost, ...[...this.#open].map((connection) => connection.client)]) client.destroy();
  }

  #accept(client: Socket): void {
    client.on("error", () => {}); // the close that follows says the same
    if (this.isSilent) {
      client.pause();
      this.#lost.add(client);
      return;
    }
    const behind = connect(this.#socketBehind).on("error", () => {});
    const [toStore, toClient] = [this.#rate.gate(), this.#rate.gate()];
    client.pipe(toStore).pipe(behind).pipe(toClient).pipe(client);
    const connection = {
      client,
      lose: () => {
        client.unpipe().pause();
        toClient.unpipe();
      },
    };
    this.#open.add(connection);
    client.once("close", () => {
      this.#open.delete(connection);
      this.#lost.delete(client);
      for (const stream of [toStore, toClient, behind]) stream.destroy();
    });
    behind.once("close", () => toClient.end()); // what was still to be passed on is passed on first
  }
}
