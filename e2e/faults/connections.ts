// The TCP connections of a proxy's clients, where the faults of networks are: each is led to a socket behind it, byte by byte.
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { Transform } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { eventuallySucceeds } from "../../tools/eventually.ts";

interface Connection {
  readonly client: Socket;
  /** Undefined for one that came while nothing passed. */
  readonly behind: Socket | undefined;
  /** Lets no byte through any more, in neither direction, and nobody hears of it. */
  lose(): void;
}

export class Connections {
  #server: Server | undefined;
  #port = 0;
  #bytesPerSecond: number | undefined;
  #isBlackHole = false;
  readonly #socketBehind: string;
  readonly #open = new Set<Connection>();
  readonly #lost = new Set<Connection>();

  constructor(socketBehind: string) {
    this.#socketBehind = socketBehind;
  }

  get port(): number {
    return this.#port;
  }

  get open(): number {
    return this.#open.size;
  }

  /** On the same port each time. */
  async listen(): Promise<void> {
    // Somebody's outgoing connection may have the port for a moment.
    this.#server ??= await eventuallySucceeds(`port ${this.#port} is free`, 10_000, async () => {
      const server = createServer({ noDelay: true }, (client) => this.#accept(client)).listen(this.#port, "127.0.0.1");
      await once(server, "listening");
      return server;
    });
    const address = this.#server.address();
    this.#port = typeof address === "object" && address ? address.port : 0;
  }

  /** Those that are there stay. */
  refuse(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  blackHole(on: boolean): void {
    this.#isBlackHole = on;
    if (!on) return;
    for (const connection of this.#open) {
      connection.lose();
      this.#lost.add(connection);
    }
    this.#open.clear();
  }

  slow(bytesPerSecond: number | undefined): void {
    this.#bytesPerSecond = bytesPerSecond;
  }

  reset(): void {
    for (const { client } of this.#open) client.resetAndDestroy();
  }

  /** Resolves when every socket is gone. */
  async stop(): Promise<void> {
    const listener = this.#server;
    const closed = listener && once(listener, "close");
    this.refuse();
    const sockets = [...this.#open, ...this.#lost].flatMap(({ client, behind }) => (behind ? [client, behind] : [client]));
    await Promise.all(sockets.map(destroyed));
    this.#lost.clear();
    await closed;
  }

  #accept(client: Socket): void {
    client.on("error", () => {}); // the close that follows says the same
    if (this.#isBlackHole) {
      client.pause();
      this.#lost.add({ client, behind: undefined, lose: () => {} });
      return;
    }
    const behind = connect(this.#socketBehind).on("error", () => {});
    const slowly = throttle(() => this.#bytesPerSecond);
    client.pipe(behind).pipe(slowly).pipe(client);
    const connection = {
      client,
      behind,
      lose: () => {
        client.unpipe().pause();
        slowly.unpipe();
      },
    };
    this.#open.add(connection);
    client.once("close", () => {
      slowly.destroy();
      if (this.#open.delete(connection)) behind.destroy();
    });
    behind.once("close", () => {
      // What was still to be passed on is passed on first, slowly if need be.
      if (this.#open.has(connection)) slowly.end();
    });
  }
}

async function destroyed(socket: Socket): Promise<void> {
  if (socket.closed) return;
  await new Promise((resolve) => socket.once("close", resolve).destroy());
}

/** Passes bytes on at the rate that holds at that moment; undefined is as fast as it goes. */
function throttle(rate: () => number | undefined): Transform {
  const steps = 20; // in a second, so that a slow line is slow and not a sequence of bursts
  return new Transform({
    async transform(chunk: Buffer, _encoding, done) {
      let rest = chunk;
      for (let speed = rate(); speed !== undefined && rest.length > 0 && !this.destroyed; speed = rate()) {
        const size = Math.min(rest.length, Math.ceil(speed / steps));
        this.push(rest.subarray(0, size));
        rest = rest.subarray(size);
        await sleep((size / speed) * 1000, undefined, { ref: false });
      }
      done(null, rest);
    },
  });
}
