// The HTTPS server that the API server asks.
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
 * Told of every request to a registered path. `code` is that of the HTTP answer, except that a decision which failed or took
 * too long counts as 500 or 504, though its refusal travels in a 200.
 */
export type WebhookListener = (path: string, code: number, seconds: number) => void;

export interface ServerOptions {
  readonly certificate: CertifiedKey;
  /** Port 9443 of all addresses unless told; port 0 takes a free one. */
  readonly address?: Address;
  /** The flag that said so, for messages. */
  readonly flag?: string;
  readonly graceMilliseconds?: number;
  readonly log: Log;
  readonly listener?: WebhookListener;
  /** 4 s unless told: the API server gives up after 5, and would say only that. */
  readonly handlerTimeoutMs?: number;
  /** After so many it is closed, 1000 unless told: an API server that never lets go of a connection would never see a new replica. */
  readonly requestsPerConnection?: number;
}

interface Answer {
  readonly code: number;
  readonly body: object | string;
  /** Counted in place of the code. */
  readonly counted?: number;
}

/** An object has at most 1.5 MiB in etcd and more as JSON, and an update brings two. */
const bodyLimit = 8 * 1024 * 1024;
/** The API server lets go of an idle connection after 90 s. If we were first, a request that just sets out would fail. */
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

  /** New connections get it; those that are open go on. Throws when certificate and key don't fit, and keeps the ones before. */
  useCertificate(certificate: CertifiedKey): void {
    if (certificate.certificate === this.#certificate.certificate && certificate.key === this.#certificate.key) return;
    this.#server.setSecureContext(tlsOptions(certificate));
    this.#certificate = certificate;
  }

  /**
   * Each further answer is the last of its connection. The API server keeps connections and sends the next request on one of them
   * whatever the Service says; one that we close just then is a write refused.
   */
  retire(): void {
    this.#retiring = true;
  }

  /** Takes no new connection, and resolves when what was asked is answered, or broken off after the grace. */
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
    // What was not read to its end can't be followed by another request.
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
