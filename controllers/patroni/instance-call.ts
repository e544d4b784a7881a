// One HTTPS request to an instance, on a connection of its own: a thousand databases must not cost a thousand open connections.
import { once } from "node:events";
import { type IncomingMessage, request as send } from "node:http";
import type { Duplex } from "node:stream";
import { connect, type TLSSocket } from "node:tls";
import type { CertifiedKey } from "../../runtime/certificates/issue.ts";
import type { Dial, PodAddress } from "./dial.ts";
import { PatroniError, PatroniTimeout, PatroniUnreachable } from "./patroni-errors.ts";

export interface Instance {
  readonly pod: PodAddress;
  readonly port: number;
  readonly dial: Dial;
  /** The database's authorities, PEM. */
  readonly authorities: string;
}

export interface InstanceRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object | undefined;
  /** The operator's client certificate; a request that only reads needs none. */
  readonly identity?: CertifiedKey | undefined;
}

export interface Limits {
  /** Milliseconds for all of it, including the connection and the end of the answer. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
}

export interface InstanceAnswer {
  readonly status: number;
  readonly text: string;
  /** SHA-256 of the instance's certificate. */
  readonly fingerprint: string;
  /** When that certificate expires. */
  readonly expires: Date | undefined;
}

/** Far more than any answer of Patroni. A superuser of the database can answer in Patroni's place, without an end. */
const longestAnswer = 1024 * 1024;

/** Rejects with a PatroniError, or with the signal's reason when that was aborted. */
export async function callInstance(instance: Instance, request: InstanceRequest, limits: Limits): Promise<InstanceAnswer> {
  const what = `${request.method} ${request.path} at ${instance.pod.namespace}/${instance.pod.name}`;
  const end = new AbortController();
  const giveUp = () => end.abort(limits.signal?.reason);
  if (limits.signal?.aborted) giveUp();
  limits.signal?.addEventListener("abort", giveUp, { once: true });
  let sent = false;
  const timer = setTimeout(
    () => end.abort(new PatroniTimeout(`${what}: no answer within ${limits.deadline / 1000} s`, sent)),
    limits.deadline,
  );
  let socket: TLSSocket | undefined;
  try {
    socket = secure(await dialled(instance, end.signal), instance, request.identity);
    await once(socket, "secureConnect", { signal: end.signal });
    const served = socket.getPeerX509Certificate(); // not available once the connection is closed
    const response = await exchange(socket, request, end.signal, () => {
      sent = true;
    });
    const text = await bodyOf(response, what, end.signal);
    return { status: response.statusCode ?? 0, text, fingerprint: served?.fingerprint256 ?? "", expires: served?.validToDate };
  } catch (error) {
    if (end.signal.aborted) throw end.signal.reason;
    if (error instanceof PatroniError) throw error;
    throw new PatroniUnreachable(`${what}: ${reasonOf(error as Error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
    limits.signal?.removeEventListener("abort", giveUp);
    socket?.destroy();
  }
}

/** Waits no longer than the signal, whatever the dialler does; a connection that comes too late is closed. */
async function dialled({ pod, port, dial }: Instance, signal: AbortSignal): Promise<Duplex> {
  const dialling = dial(pod, port, signal);
  const { promise: given, reject: giveUp } = Promise.withResolvers<never>();
  const onAbort = () => giveUp(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  dialling.then(
    (socket) => {
      if (signal.aborted) socket.destroy();
    },
    () => undefined,
  );
  return await Promise.race([dialling, given]).finally(() => signal.removeEventListener("abort", onAbort));
}

/** The authority is the database's own and signs servers of this database only, so names and addresses need no check. */
function secure(socket: Duplex, { authorities }: Instance, identity: CertifiedKey | undefined): TLSSocket {
  const secured = connect({
    socket,
    ca: authorities,
    ...(identity ? { cert: identity.certificate, key: identity.key } : {}),
    checkServerIdentity: () => undefined,
  });
  secured.once("close", () => socket.destroy()); // TLS leaves open a connection that it did not make itself
  socket.on("error", (error) => secured.destroy(error));
  secured.on("error", () => undefined); // reported where it is awaited; an error after the answer does not matter
  return secured;
}

async function exchange(
  socket: TLSSocket,
  { method, path, body }: InstanceRequest,
  signal: AbortSignal,
  onSent: () => void,
): Promise<IncomingMessage> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const headers = payload === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(payload) };
  const request = send({ createConnection: () => socket, host: "patroni", method, path, headers, signal });
  request.once("finish", onSent);
  request.end(payload);
  const [response] = (await once(request, "response", { signal })) as [IncomingMessage];
  request.on("error", () => undefined); // the reader of the body gets the error
  return response;
}

async function bodyOf(response: IncomingMessage, what: string, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestAnswer) throw new PatroniError(`${what}: the answer is longer than ${longestAnswer} bytes`);
    chunks.push(chunk);
  }
  signal.throwIfAborted(); // an answer without a length ends with the connection, which the deadline may have closed
  return Buffer.concat(chunks).toString("utf8");
}

/** OpenSSL's message without its place in OpenSSL's source. */
function reasonOf(error: Error & { readonly reason?: string }): string {
  return error.reason ?? error.message;
}
