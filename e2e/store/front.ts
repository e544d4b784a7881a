// The store's public side: speaks TLS with a certificate of the store's own authority, passes requests on to MinIO, and makes faults.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CertifiedKey } from "../../runtime/certificates/issue.ts";
import { type AnswerFault, Answering } from "./answering.ts";
import { DeadPort } from "./dead-port.ts";
import { Line } from "./line.ts";
import { Rate } from "./rate.ts";

/**
 * - `dead`: as if the machine had no power. No connection is made and none is refused; those that are there fall silent for ever.
 * - `refusing`: as if the program had ended. New connections are refused; those that are there are reset.
 * - `silent`: connections are accepted, and no byte ever comes; those that are there fall silent for ever.
 * - `denied`: 403 AccessDenied to every request.
 * - `failing`: 500 InternalError to every request.
 * - `full`: 507 XMinioStorageFull to every request that stores something. Reading and deleting work.
 * - `slow`: 2 MB/s, for all connections together and in both directions.
 * - `cut`: connections that are there are reset. From then on each is cut in the middle of the first body, or before an answer without one.
 */
export type StoreFault = AnswerFault | "dead" | "refusing" | "silent" | "slow";

const slowBytesPerSecond = 2_000_000;

export class Front {
  readonly #line: Line;
  readonly #rate: Rate;
  readonly #answering: Answering;
  readonly #server: Server;
  readonly #directory: string;
  #deadPort: DeadPort | undefined;

  private constructor(address: string, certified: CertifiedKey, minioPort: number) {
    this.#directory = mkdtempSync(join(tmpdir(), "sampledb-store-front-"));
    this.#rate = new Rate();
    this.#line = new Line(address, this.#socket, this.#rate);
    this.#answering = new Answering(minioPort);
    const patience = { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }; // no fault but those that a test sets
    this.#server = createServer({ ...patience, cert: certified.certificate, key: certified.key }, this.#answering.listener);
  }

  static async start(address: string, certified: CertifiedKey, minioPort: number): Promise<Front> {
    const front = new Front(address, certified, minioPort);
    front.#server.listen(front.#socket);
    await once(front.#server, "listening");
    await front.#line.listen();
    return front;
  }

  get port(): number {
    return this.#line.port;
  }

  /** Takes the place of the fault before it. */
  async fault(fault: StoreFault | undefined): Promise<void> {
    await this.#deadPort?.release();
    this.#deadPort = undefined;
    const isAnswer = fault === "denied" || fault === "failing" || fault === "full" || fault === "cut";
    this.#answering.fault = isAnswer ? fault : undefined;
    this.#rate.bytesPerSecond = fault === "slow" ? slowBytesPerSecond : undefined;
    this.#line.isSilent = fault === "silent";
    if (fault === "silent" || fault === "dead") this.#line.lose();
    if (fault === "refusing" || fault === "cut") this.#line.reset();
    if (fault === "refusing" || fault === "dead") this.#line.refuse();
    else await this.#line.listen();
    if (fault === "dead") this.#deadPort = await DeadPort.occupy(this.#line.address, this.port);
  }

  /** Sets the fault when this many different objects, whose paths fit, have been asked for. Resolves then. */
  async faultAt(count: number, path: RegExp, fault: StoreFault): Promise<void> {
    const asked = new Set<string>();
    await new Promise<void>((resolve, reject) => {
      this.#answering.heard = ({ method, url = "" }) => {
        if (method === "GET" && path.test(url)) asked.add(url);
        if (asked.size < count) return;
        this.#answering.heard = () => {};
        this.fault(fault).then(resolve, reject);
      };
    });
  }

  async stop(): Promise<void> {
    await this.#deadPort?.release();
    this.#line.stop();
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
    rmSync(this.#directory, { recursive: true, force: true });
  }

  get #socket(): string {
    return join(this.#directory, "tls.sock");
  }
}
