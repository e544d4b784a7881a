// A connection to a port of a Pod by way of the API server, for a process that has no way to the Pods themselves.
import { Duplex } from "node:stream";
import type { KubeConfig } from "@kubernetes/client-node";
import type { Key } from "./object.ts";

/** What is used of the library's socket. */
interface WebSocket {
  send(data: Uint8Array, callback: (error?: Error | null) => void): void;
  pause(): void;
  resume(): void;
  terminate(): void;
  on(event: "close", listener: () => void): void;
}

/** Channels of the protocol: what the Pod sends comes on the first, what keeps it from being reached on the second. */
const dataChannel = 0;
/** Each channel begins with the number of the port. */
const portBytes = 2;

/**
 * Resolves when the API server has agreed to forward. That nothing listens on the port is heard only later, and ends the
 * connection with the kubelet's own words. Needs the right to create `pods/portforward`.
 */
export async function portForward(config: KubeConfig, pod: Key, port: number, signal: AbortSignal): Promise<Duplex> {
  signal.throwIfAborted();
  // Loaded by those alone who forward: the operator in a cluster never does.
  const { WebSocketHandler } = await import("@kubernetes/client-node/dist/web-socket-handler.js");
  const connection = new ForwardedConnection(`port ${port} of Pod ${pod.namespace}/${pod.name}`);
  const path = `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}/portforward?ports=${port}`;
  const opened = new WebSocketHandler(config).connect(path, null, (channel, data) => connection.receive(channel, data));
  opened.then(
    (socket) => connection.open(socket as unknown as WebSocket),
    (event: { readonly message?: string }) => connection.destroy(new Error(`${connection.what}: ${event.message ?? "no connection"}`)),
  );
  return await connection.opened(signal);
}

class ForwardedConnection extends Duplex {
  readonly what: string;
  readonly #opened = Promise.withResolvers<void>();
  readonly #begun = new Set<number>();
  #socket: WebSocket | undefined;

  constructor(what: string) {
    super();
    this.what = what;
    this.#opened.promise.catch(() => undefined); // who waits for it is told; nobody may be left who does
  }

  async opened(signal: AbortSignal): Promise<Duplex> {
    const giveUp = () => this.destroy(signal.reason as Error);
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    this.on("error", ignore); // until it is somebody else's
    try {
      await this.#opened.promise;
      this.off("error", ignore);
      return this;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  open(socket: WebSocket): void {
    if (this.destroyed) socket.terminate(); // it was given up meanwhile
    this.#socket = socket;
    socket.on("close", () => {
      this.push(null);
      this.destroy(); // nothing can be sent any more either
    });
    this.#opened.resolve();
  }

  /** Says whether to go on. */
  receive(channel: number, message: Buffer): boolean {
    const data = this.#begun.has(channel) ? message : message.subarray(portBytes);
    this.#begun.add(channel);
    if (this.destroyed) return false;
    if (data.length === 0) return true;
    if (channel !== dataChannel) this.destroy(new Error(`${this.what}: ${data.toString("utf8").trim()}`));
    else if (!this.push(data)) this.#socket?.pause();
    return !this.destroyed;
  }

  override _read(): void {
    this.#socket?.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, callback: (error?: Error | null) => void): void {
    // Nobody holds it before it is open.
    this.#socket?.send(Buffer.concat([Buffer.of(dataChannel), chunk]), callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#opened.reject(error ?? new Error(`${this.what}: closed`));
    this.#socket?.terminate();
    callback(error);
  }
}

function ignore(): void {}
