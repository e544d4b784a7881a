// The address of the API server and this process's identity, kept current: the tokens, certificates and authorities of
// kubeconfigs, in-cluster files and exec plugins change while the process runs.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { RequestOptions } from "node:https";
import type { KubeConfig } from "@kubernetes/client-node";

/** All that a connection needs. Identities with the same `tls.fingerprint` can share connections. */
export interface Identity {
  readonly server: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
  readonly proxy?: string;
}

export interface TlsMaterial {
  readonly options: Pick<RequestOptions, "ca" | "cert" | "key" | "passphrase" | "pfx" | "servername" | "rejectUnauthorized">;
  readonly fingerprint: string;
}

/** Tokens of service accounts live for an hour and are replaced early; client-go also reads them every minute. */
const refreshMilliseconds = 60_000;
/** Every failed call refreshes; while the API server does not answer, this bounds how often. */
const leastMilliseconds = 1000;

export class Credentials {
  readonly #load: () => KubeConfig;
  #current: Promise<Identity> | undefined;
  /** A refresh in the background. */
  #next: Promise<void> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  /** `load` is called for every refresh, so that a kubeconfig that was rewritten is picked up. */
  constructor(load: () => KubeConfig) {
    this.#load = load;
  }

  /** Returns the known identity during a periodic refresh: an exec plugin that hangs must not delay the renewal of a lease. */
  async current(): Promise<Identity> {
    if (this.#current === undefined) this.#read();
    else if (performance.now() - this.#readAt > refreshMilliseconds) this.#readBeside();
    return await (this.#current as Promise<Identity>);
  }

  /** Reads everything again: the API server refused our identity, or its certificate does not fit our authority. */
  refresh(): void {
    if (performance.now() - this.#readAt > leastMilliseconds) this.#read();
  }

  #readBeside(): void {
    this.#readAt = performance.now();
    this.#next ??= readIdentity(this.#load)
      .then((identity) => {
        this.#current = Promise.resolve(identity);
      })
      .catch(() => undefined) // the known identity may still be valid; if not, the API server refuses it
      .finally(() => {
        this.#next = undefined;
      });
  }

  #read(): void {
    const previous = this.#current;
    this.#readAt = performance.now();
    // A file that is being replaced, or an exec plugin that fails once, must not discard an identity that may still be valid.
    this.#current = readIdentity(this.#load).catch((error: unknown) => {
      if (previous === undefined) throw error;
      return previous;
    });
    this.#current.catch(() => {
      this.#current = undefined; // the very first read failed: the next call tries again
    });
  }
}

async function readIdentity(load: () => KubeConfig): Promise<Identity> {
  const config = load();
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error("no cluster is configured: set KUBECONFIG, or run inside of one");
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, passphrase, pfx, servername, rejectUnauthorized } = options;
  const tls = defined({ ca, cert, key, passphrase, pfx, servername, rejectUnauthorized });
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value);
  if (options.auth) headers["authorization"] = `Basic ${Buffer.from(options.auth).toString("base64")}`;
  // The library caches a token file for a minute, and would go on with a token that was just refused.
  const tokenFile: unknown = config.getCurrentUser()?.authProvider?.config?.tokenFile;
  if (typeof tokenFile === "string") headers["authorization"] = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`;
  return {
    server: cluster.server.replace(/\/+$/, ""),
    headers,
    tls: { options: tls, fingerprint: fingerprint({ server: cluster.server, proxy: cluster.proxyUrl, ...tls }) },
    ...(cluster.proxyUrl ? { proxy: cluster.proxyUrl } : {}),
  };
}

function fingerprint(connection: object): string {
  const hash = createHash("sha256");
  for (const [name, value] of Object.entries(connection)) hash.update(`\0${name}\0`).update(String(value));
  return hash.digest("hex");
}

/** Drops undefined values: an explicit undefined would switch off a default. */
function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
