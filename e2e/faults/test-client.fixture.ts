// A client for tests of the proxy: what has come so far and how it ended are values, whatever goes wrong. Beside it, the
// ConfigMaps that these tests make past the proxy.
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { eventually } from "../../tools/eventually.ts";
import type { StandaloneControlPlane } from "../cluster/standalone.ts";

export class Exchange {
  status: number | undefined;
  headers: IncomingHttpHeaders = {};
  text = "";
  /** Undefined while it goes on; `complete` or the code of the error. */
  ending: string | undefined;
  readonly #abort: () => void;

  constructor(abort: () => void) {
    this.#abort = abort;
  }

  /** The lines that came whole, as JSON. */
  get lines(): unknown[] {
    return this.text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  abort(): void {
    this.#abort();
  }

  async ended(): Promise<this> {
    await eventually("the exchange has ended", 10_000, () => this.ending !== undefined);
    return this;
  }

  async started(): Promise<this> {
    await eventually("an answer has begun", 10_000, () => this.status !== undefined);
    return this;
  }
}

export class TestClient {
  readonly #url: string;
  readonly #agent: Agent;

  /** Each request has a connection of its own unless connections are kept. */
  constructor(url: string, pki: string, options: { readonly keepAlive?: boolean; readonly maxSockets?: number } = {}) {
    this.#url = url;
    this.#agent = new Agent({ ca: readFileSync(join(pki, "ca.crt")), keepAlive: false, ...options });
  }

  send(method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}): Exchange {
    const type = { "content-type": "application/json", accept: "application/json" };
    const call = request(`${this.#url}${path}`, { method, agent: this.#agent, headers: { ...type, ...headers } });
    const exchange = new Exchange(() => call.destroy());
    const fail = (error: NodeJS.ErrnoException) => {
      exchange.ending ??= error.code ?? error.message;
    };
    call.on("error", fail).on("response", (answer) => {
      exchange.status = answer.statusCode;
      exchange.headers = answer.headers;
      answer.setEncoding("utf8").on("data", (text: string) => {
        exchange.text += text;
      });
      answer.on("error", fail).on("end", () => {
        exchange.ending ??= "complete";
      });
    });
    call.end(body === undefined ? undefined : JSON.stringify(body));
    return exchange;
  }

  /** A request and its answer to the end. */
  async call(method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<Exchange> {
    return await this.send(method, path, body, headers).ended();
  }

  stop(): void {
    this.#agent.destroy();
  }
}

export const configMaps = "/api/v1/namespaces/default/configmaps";

export function configMap(name: string, data: Readonly<Record<string, string>> = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

export async function create(plane: StandaloneControlPlane, name: string, data?: Readonly<Record<string, string>>): Promise<void> {
  const answer = await plane.request("POST", configMaps, configMap(name, data));
  if (answer?.status !== 201) throw new Error(`${name} could not be made: ${JSON.stringify(answer)}`);
}

export async function exists(plane: StandaloneControlPlane, name: string): Promise<boolean> {
  return (await plane.request("GET", `${configMaps}/${name}`))?.status === 200;
}

/** A watch from now on. */
export async function watchConfigMaps(plane: StandaloneControlPlane, client: TestClient): Promise<Exchange> {
  const resourceVersion = (await plane.request("GET", configMaps))?.body["metadata"].resourceVersion;
  return await client.send("GET", `${configMaps}?watch=true&resourceVersion=${resourceVersion}`).started();
}
