// The HTTPS server for the API server's webhook calls.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { CertifiedKey } from "../certificates/issue.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Log } from "../observability/log.ts";
import type { Address } from "../serving/address.ts";
import { listen, type Serving } from "../serving/serving.ts";
import { type AdmissionRequest, type MutateHandler, NotAReview, parseReview, reviewResponse, type ValidateHandler } from "./admission.ts";
import { readBody } from "./body.ts";
import { decide, type Handler } from "./decision.ts";

/**
 * Called for every request to a registered path. `code` is the HTTP status, except that a decision that failed or took too long
 * counts as 500 or 504, although its refusal is sent with 200.
 */
export type WebhookListener = (path: string, code: number, seconds: number) => void;

export interface ServerOptions {
  readonly certificate: CertifiedKey;
  /** Default: port 9443 of all addresses; port 0 takes a free one. */
  readonly address?: Address;
  /** The flag with the address, for messages. */
  readonly flag?: string;
  readonly graceMilliseconds?: number;
  readonly log: Log;
  readonly listener?: WebhookListener;
  /** Default: 4 s. The API server times out after 5, without a reason for the user. */
  readonly handlerTimeoutMs?: number;
  /** Closes a connection after so many requests, by default 1000: an API server that keeps its connection would never use a new replica. */
  readonly requestsPerConnection?: number;
}

interface Answer {
  readonly code: number;
  readonly body: object | string;
  /** Counted in the metrics in place of the code. */
  readonly counted?: number;
}

/** An object has at most 1.5 MiB in etcd, which stores it as JSON, and an update contains two. Reading more would only take time. */
const bodyLimit = 4 * 1024 * 1024;
/** The API server closes an idle connection after 90 s. If we closed it first, a request that is just being sent would fail. */
const keepAliveMs = 150_000;
const receiveMs = 10_000;

export class WebhookServer {
  readonly #options: ServerOptions;
  readonly #handlers = new Map<string, Handler>();
  readonly #server: Server;
  #certificate: CertifiedKey;
  #serving: Serving | undefined;
  #retiring = false;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#certificate = options.certificate;
    this.#server = createServer(
      { ...tlsOptions(options.certificate), keepAliveTimeout: keepAliveMs, requestTimeout: receiveMs, handshakeTimeout: receiveMs },
      (request, response) => {
        this.#serve(request, response).catch((error: unknown) => {
          options.log.error({ path: request.url, error }, "a webhook request broke off");
          response.destroy();
        });
      },
    );
    this.#server.maxRequestsPerSocket = options.requestsPerConnection ?? 1000;
  }

  validate<T extends KubeObject>(path: string, handler: ValidateHandler<T>): void {
    this.#register(path, handler as Handler);
  }

  mutate<T extends KubeObject>(path: string, handler: MutateHandler<T>): void {
    this.#register(path, handler as Handler);
  }

  /** Resolves to the port. */
  async listen(): Promise<number> {
    const { address = { host: undefined, port: 9443 }, flag = "--webhook-bind-address", log, graceMilliseconds = 10_000 } = this.#options;
    this.#serving = await listen(this.#server, { address, flag, log, graceMilliseconds });
    return this.#serving.port;
  }

  /** Used for new connections; open ones continue. Throws when certificate and key don't match, and keeps the former pair. */
  useCertificate(certificate: CertifiedKey): void {
    if (certificate.certificate === this.#certificate.certificate && certificate.key === this.#certificate.key) return;
    this.#server.setSecureContext(tlsOptions(certificate));
    this.#certificate = certificate;
  }

  /**
   * Makes each further answer the last on its connection. The API server keeps connections and sends requests on them whatever
   * the Service says; if we closed one at that moment, a user's write would be refused.
   */
  retire(): void {
    this.#retiring = true;
  }

  /** Accepts no new connection; resolves when all requests are answered, or cut off after the grace. */
  async stop(): Promise<void> {
    this.retire();
    await this.#serving?.stop();
  }

  #register(path: string, handler: Handler): void {
    if (this.#handlers.has(path)) throw new Error(`two webhooks for ${path}`);
    this.#handlers.set(path, handler);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const begin = performance.now();
    const [path = ""] = (request.url ?? "").split("?", 1); // the API server adds ?timeout=5s
    const handler = this.#handlers.get(path);
    const {
      code,
      body,
      counted = code,
    } = handler ? await this.#answer(path, handler, request) : { code: 404, body: `no webhook at ${path}` };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    // A body that was not read to its end can't be followed by another request.
    if (this.#retiring || !request.complete) response.setHeader("connection", "close");
    response.writeHead(code, {
      "content-type": typeof body === "string" ? "text/plain" : "application/json",
      ...(code === 405 ? { allow: "POST" } : {}),
    });
    response.end(text);
    if (handler) this.#options.listener?.(path, counted, (performance.now() - begin) / 1000);
  }

  async #answer(path: string, handler: Handler, request: IncomingMessage): Promise<Answer> {
    if (request.method !== "POST") return { code: 405, body: `${request.method} is not allowed: an AdmissionReview is sent by POST` };
    const type = request.headers["content-type"] ?? "";
    if (!/^application\/json\s*(;|$)/i.test(type))
      return { code: 415, body: `content type "${type}": only application/json is understood` };
    const body = await readBody(request, bodyLimit);
    if (body === undefined) return { code: 413, body: `the body is larger than ${bodyLimit} bytes` };
    let admission: AdmissionRequest;
    try {
      admission = parseReview(body);
    } catch (error) {
      if (error instanceof NotAReview) return { code: 400, body: error.message };
      throw error;
    }
    const { verdict, failure } = await decide(handler, admission, this.#options.handlerTimeoutMs ?? 4000);
    if (failure) this.#options.log.error({ path, error: failure.error }, `webhook: ${failure.message}`);
    return { code: 200, body: reviewResponse(admission, verdict), ...(failure ? { counted: failure.code } : {}) };
  }
}

function tlsOptions({ certificate, key }: CertifiedKey) {
  return { cert: certificate, key, minVersion: "TLSv1.2" as const };
}
