// A connection to a port of a Pod through the API server, for a process that can't reach Pods directly.
import { Duplex } from "node:stream";
import type { KubeConfig } from "@kubernetes/client-node";
import type { Key } from "./object.ts";

/** The parts of the library's socket that are used. */
interface WebSocket {
  send(data: Uint8Array, callback: (error?: Error | null) => void): void;
  pause(): void;
  resume(): void;
  terminate(): void;
  on(event: "close", listener: () => void): void;
}

/** Channel of the bytes from the Pod. Any other channel carries the kubelet's error message. */
const dataChannel = 0;
/** Each channel begins with the number of the port. */
const portBytes = 2;

/**
 * Resolves when the API server has agreed to forward. If nothing listens on the port, the connection ends later with the
 * kubelet's message. Requires the right to create `pods/portforward`.
 */
export async function portForward(config: KubeConfig, pod: Key, port: number, signal: AbortSignal): Promise<Duplex> {
  signal.throwIfAborted();
  // Loaded on demand: the operator in a cluster never forwards.
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
    this.#opened.promise.catch(() => undefined); // no unhandled rejection when no caller awaits it any more
  }

  async opened(signal: AbortSignal): Promise<Duplex> {
    const giveUp = () => this.destroy(signal.reason as Error);
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    this.on("error", ignore); // until the caller has the stream
    try {
      await this.#opened.promise;
      this.off("error", ignore);
      return this;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  open(socket: WebSocket): void {
    if (this.destroyed) socket.terminate(); // aborted meanwhile
    this.#socket = socket;
    socket.on("close", () => {
      this.push(null);
      this.destroy(); // nothing can be sent any more
    });
    this.#opened.resolve();
  }

  /** Returns whether to go on. */
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
    // No caller has the stream before it is open.
    this.#socket?.send(Buffer.concat([Buffer.of(dataChannel), chunk]), callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#opened.reject(error ?? new Error(`${this.what}: closed`));
    this.#socket?.terminate();
    callback(error);
  }
}

function ignore(): void {}
