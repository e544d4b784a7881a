// A plain S3 client: no retries and no patience, so that a test sees every fault as it is.
import { once } from "node:events";
import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { buffer } from "node:stream/consumers";
import { type AccessKey, encode, signedHeaders } from "./signature.ts";

export interface S3Object {
  readonly key: string;
  readonly size: number;
}

interface S3Answer {
  readonly status: number;
  readonly body: Buffer;
}

interface S3Request {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly signal?: AbortSignal;
}

interface S3ClientOptions extends AccessKey {
  readonly endpoint: string;
  readonly caCertificate?: string;
}

/** A refusal by the store, with S3's name for it. */
export class S3Error extends Error {
  readonly status: number;
  readonly code: string;

  constructor(what: string, { status, body }: S3Answer) {
    const code = element(body.toString(), "Code") ?? body.toString();
    super(`${what}: ${status} ${code}`);
    this.name = "S3Error";
    this.status = status;
    this.code = code;
  }
}

export class S3Client {
  readonly #options: S3ClientOptions;

  constructor(options: S3ClientOptions) {
    this.#options = options;
  }

  async put(bucket: string, key: string, body: Buffer | string, signal?: AbortSignal): Promise<void> {
    await this.call("PUT", objectPath(bucket, key), { body: Buffer.from(body), ...(signal ? { signal } : {}) });
  }

  async get(bucket: string, key: string, signal?: AbortSignal): Promise<Buffer> {
    return await this.call("GET", objectPath(bucket, key), signal ? { signal } : {});
  }

  async delete(bucket: string, key: string): Promise<void> {
    await this.call("DELETE", objectPath(bucket, key));
  }

  /** All of them, in the order of their keys. */
  async list(bucket: string, prefix = ""): Promise<S3Object[]> {
    const objects: S3Object[] = [];
    for (let from: string | undefined = ""; from !== undefined; ) {
      const query = { "list-type": "2", "encoding-type": "url", prefix, ...(from ? { "continuation-token": from } : {}) };
      const page = (await this.call("GET", `/${encode(bucket)}`, { query })).toString();
      for (const [, text = ""] of page.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const key = decodeURIComponent((element(text, "Key") ?? "").replaceAll("+", " "));
        objects.push({ key, size: Number(element(text, "Size")) });
      }
      from = element(page, "NextContinuationToken");
    }
    return objects;
  }

  /** The body of the answer. Rejects with an S3Error unless the store has done as it was asked. */
  async call(method: string, path: string, request: S3Request = {}): Promise<Buffer> {
    const answer = await this.send(method, path, request);
    if (answer.status >= 300) throw new S3Error(`${method} ${path}`, answer);
    return answer.body;
  }

  /** On a connection of its own. Rejects only when there is no complete answer. */
  async send(method: string, path: string, { query = {}, body = Buffer.alloc(0), signal }: S3Request = {}): Promise<S3Answer> {
    const { endpoint, caCertificate: ca, ...key } = this.#options;
    const search = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`);
    const url = new URL(`${endpoint}${path}${search.length > 0 ? `?${search.join("&")}` : ""}`);
    const headers = { ...signedHeaders(method, url, body, key, new Date()), "content-length": body.length };
    const options = { method, headers, agent: false, ...(ca ? { ca } : {}), ...(signal ? { signal } : {}) };
    const call = url.protocol === "https:" ? overHttps(url, options) : overHttp(url, options);
    call.end(body);
    const [answer] = (await once(call, "response")) as [IncomingMessage];
    call.on("error", () => {}); // the answer fails with it
    return { status: answer.statusCode ?? 0, body: await buffer(answer) };
  }
}

function objectPath(bucket: string, key: string): string {
  return `/${encode(bucket)}/${key.split("/").map(encode).join("/")}`;
}

/** The text of the first element of that name. */
function element(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>(.*?)</${name}>`, "s").exec(xml)?.[1];
}
