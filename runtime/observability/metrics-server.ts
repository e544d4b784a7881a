// Serves /metrics: over HTTPS to users whom the cluster allows it, or for development to everyone on this machine.
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import type { CertifiedKey } from "../certificates/issue.ts";
import { type Clock, systemClock } from "../clock.ts";
import { type Address, isLoopback, parseAddress } from "../serving/address.ts";
import { watchMountedCertificates } from "../serving/mounted-certificates.ts";
import { type Answer, answering, listen, type Serving, serverLimits } from "../serving/serving.ts";
import { Access, type Reviewer, type Verdict } from "./access.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { selfMadeCertificate } from "./self-made-certificate.ts";

export type MetricsSecurity =
  /** `client` must be allowed to create TokenReviews and SubjectAccessReviews. */
  | { readonly kind: "https"; readonly client: Reviewer; readonly certificateDirectory?: string | undefined }
  /** Plain HTTP without authentication, so on loopback only. */
  | { readonly kind: "http" };

export interface MetricsServerOptions {
  /** For example `:8443`; `0` for no server. */
  readonly address: string;
  readonly flag?: string;
  readonly metrics: Pick<Metrics, "text" | "contentType">;
  readonly security: MetricsSecurity;
  readonly log: Log;
  readonly clock?: Clock;
}

const path = "/metrics";

/** Undefined when the address is `0`. */
export async function startMetricsServer(options: MetricsServerOptions): Promise<Serving | undefined> {
  const { flag = "--metrics-bind-address", security, log, clock = systemClock } = options;
  const address = parseAddress(flag, options.address);
  if (address === undefined) return undefined;
  if (security.kind === "https") return await serveSecurely(options, security, { address, flag, log, clock });
  if (!isLoopback(address)) {
    throw new Error(
      `metrics without authentication are served on loopback only: ${flag} must look like 127.0.0.1:8080, and is ${options.address}`,
    );
  }
  const handler = answering(log, async (_, { pathname }) => (pathname === path ? await exposition(options) : notFound));
  return await listen(createHttpServer(serverLimits, handler), { address, flag, log, clock });
}

interface Place {
  readonly address: Address;
  readonly flag: string;
  readonly log: Log;
  readonly clock: Clock;
}

async function serveSecurely(
  options: MetricsServerOptions,
  { client, certificateDirectory: directory }: MetricsSecurity & { readonly kind: "https" },
  place: Place,
): Promise<Serving> {
  const { log, clock } = place;
  const access = new Access(client, path, clock);
  const handler = answering(log, async (request, { pathname }) => {
    if (pathname !== path) return notFound;
    const verdict = await access.review(request.headers.authorization);
    if (verdict.kind === "allowed") return await exposition(options);
    log.debug({ reason: verdict.kind, ...(verdict.kind === "forbidden" ? { user: verdict.user } : {}) }, "metrics were refused");
    return refusal(verdict);
  });
  const context = ({ certificate, key }: CertifiedKey) => ({ cert: certificate, key, minVersion: "TLSv1.2" as const });
  let server: HttpsServer | undefined;
  const onChange = (next: CertifiedKey) => server?.setSecureContext(context(next));
  const mounted = directory === undefined ? undefined : watchMountedCertificates({ directory, onChange, log, clock });
  const tls = { ...context(mounted?.current ?? (await selfMadeCertificate())), ALPNProtocols: ["http/1.1"], handshakeTimeout: 10_000 };
  server = createHttpsServer({ ...serverLimits, ...tls }, handler);
  try {
    const serving = await listen(server, place);
    return {
      port: serving.port,
      stop: async () => {
        mounted?.stop();
        await serving.stop();
      },
    };
  } catch (error) {
    mounted?.stop();
    throw error;
  }
}

async function exposition({ metrics }: MetricsServerOptions): Promise<Answer> {
  return { status: 200, text: await metrics.text(), headers: { "content-type": metrics.contentType } };
}

const notFound: Answer = { status: 404, text: "404 page not found\n" };

function refusal(verdict: Exclude<Verdict, { kind: "allowed" }>): Answer {
  switch (verdict.kind) {
    case "unauthenticated":
      return { status: 401, text: "Unauthorized\n", headers: { "www-authenticate": "Bearer" } };
    case "forbidden":
      return { status: 403, text: `Authorization denied for user ${verdict.user}\n` };
    case "busy":
      return { status: 503, text: "Too many tokens are being reviewed\n", headers: { "retry-after": "1" } };
  }
}
