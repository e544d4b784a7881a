// A proxy of the tests' own between a client and the API server of a control plane: it records requests and makes the faults
// that networks and API servers make.
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, type Server } from "node:https";
import { join } from "node:path";
import { kubeconfig } from "../cluster/kubeconfig.ts";
import type { ControlPlane } from "../cluster/standalone.ts";
import type { Answer } from "./answers.ts";
import { Connections } from "./connections.ts";
import { type Fault, FaultList, type Hold } from "./fault-list.ts";
import { forwarding } from "./forwarding.ts";
import { type RecordedRequest, Recording } from "./recording.ts";
import type { Matcher } from "./request.ts";

/** A free connection to the API server is given up before the API server does it: a request on it would be lost. */
const idleMilliseconds = 30_000;

/**
 * Speaks HTTP/1.1 with the API server's own certificate. Requests with an `Authorization` header keep their identity;
 * all others, also those with no identity at all, are the administrator's. Faults are met in this order: hold, delay, answer
 * in place of the API server, and only then the request goes on. Of several faults of one kind the last one that was set counts.
 */
export class FaultProxy {
  readonly url: string;
  /** Of the administrator; it differs from the control plane's in the URL alone. */
  readonly kubeconfig: string;
  readonly #directory: string;
  readonly #server: Server;
  readonly #agents: readonly Agent[];
  readonly #connections: Connections;
  readonly #faults: FaultList;
  readonly #recording: Recording;

  private constructor(
    directory: string,
    parts: { server: Server; agents: readonly Agent[]; connections: Connections; faults: FaultList; recording: Recording },
  ) {
    this.#directory = directory;
    this.#server = parts.server;
    this.#agents = parts.agents;
    this.#connections = parts.connections;
    this.#faults = parts.faults;
    this.#recording = parts.recording;
    this.url = `https://127.0.0.1:${parts.connections.port}`;
    this.kubeconfig = join(directory, "admin.kubeconfig");
  }

  static async start(plane: Pick<ControlPlane, "url" | "directory">): Promise<FaultProxy> {
    const pki = join(plane.directory, "pki");
    const file = (name: string) => readFileSync(join(pki, name));
    const directory = mkdtempSync(join(plane.directory, "proxy-"));
    const socket = join(directory, "tls.sock");
    const connecting = { keepAlive: true, timeout: idleMilliseconds, ca: file("ca.crt") };
    const administrator = new Agent({ ...connecting, cert: file("admin.crt"), key: file("admin.key") });
    const anybody = new Agent(connecting);
    const [faults, recording, connections] = [new FaultList(), new Recording(), new Connections(socket)];
    const patience = { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }; // no fault but those that a test sets
    const server = createServer(
      { ...patience, cert: file("kube-apiserver.crt"), key: file("kube-apiserver.key") },
      forwarding({ url: plane.url, administrator, anybody }, faults, recording),
    ).listen(socket);
    await once(server, "listening");
    await connections.listen();
    const proxy = new FaultProxy(directory, { server, agents: [administrator, anybody], connections, faults, recording });
    writeFileSync(proxy.kubeconfig, kubeconfig(proxy.url, "fault-proxy", pki, "admin"), { mode: 0o600 });
    return proxy;
  }

  /** Those since the last reset, oldest first; their status and end are filled in as they come. */
  get requests(): readonly RecordedRequest[] {
    return this.#recording.requests;
  }

  count(matcher: Matcher = {}): number {
    return this.#recording.count(matcher);
  }

  resetCounts(): void {
    this.#recording.reset();
  }

  /** Requests whose answer is not complete, such as open watches; a reset of the counts does not forget them. */
  inFlight(matcher: Matcher = {}): number {
    return this.#recording.inFlight(matcher);
  }

  /** Connections of clients that are neither closed nor lost. */
  get openConnections(): number {
    return this.#connections.open;
  }

  /** Answers in place of the API server, which does not hear of the request. */
  answer(matcher: Matcher, answer: Answer, times?: number): Fault {
    return this.#faults.add(matcher, { kind: "answer", answer }, times);
  }

  /** The API server does what it is asked; its answer is lost and the connection closed. */
  loseAnswer(matcher: Matcher, times?: number): Fault {
    return this.#faults.add(matcher, { kind: "loseAnswer" }, times);
  }

  /** Requests are received and go on when they are released, unless their client has gone away. */
  hold(matcher: Matcher, times?: number): Hold {
    return this.#faults.addHold(matcher, times);
  }

  delay(matcher: Matcher, milliseconds: number, times?: number): Fault {
    return this.#faults.add(matcher, { kind: "delay", milliseconds }, times);
  }

  /** The next line of each answer, also of watches under way, is sent by half, and the connection is closed. */
  cutMiddle(matcher: Matcher = { verb: "watch" }, times?: number): Fault {
    return this.#faults.add(matcher, { kind: "cutMiddle" }, times);
  }

  /** Every connection that is there ends at once with a reset. */
  resetConnections(): void {
    this.#connections.reset();
  }

  /** New connections are refused while it is on; those that are there stay. */
  async refuseConnections(on: boolean): Promise<void> {
    if (on) this.#connections.refuse();
    else await this.#connections.listen();
  }

  /**
   * While it is on, connections stay open and new ones are accepted, and no byte passes on any. They stay so for ever: those
   * that come after it is off work. The kernel goes on acknowledging what clients send, so TCP itself does not notice.
   */
  blackHole(on: boolean): void {
    this.#connections.blackHole(on);
  }

  /** How fast bytes come to clients, on each connection; undefined is as fast as they can. */
  slow(rate: { readonly bytesPerSecond: number } | undefined): void {
    this.#connections.slow(rate?.bytesPerSecond);
  }

  /** No fault is left but lost connections, which stay lost; held requests stay held. */
  async heal(): Promise<void> {
    this.#faults.clear();
    this.slow(undefined);
    this.blackHole(false);
    await this.refuseConnections(false);
  }

  async stop(): Promise<void> {
    await this.#connections.stop();
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
    for (const agent of this.#agents) agent.destroy();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
