// Signs requests as S3 wants it (AWS Signature Version 4).
import { createHash, createHmac } from "node:crypto";

export interface AccessKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** MinIO's, which knows only one. */
export const region = "us-east-1";

/** The headers that a request needs. The path and the query of the URL must be encoded by `encode`. */
export function signedHeaders(method: string, url: URL, body: Buffer, key: AccessKey, now: Date): Record<string, string> {
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const scope = `${day}/${region}/s3/aws4_request`;
  const headers = { host: url.host, "x-amz-content-sha256": sha256(body), "x-amz-date": time };
  const names = Object.keys(headers).join(";");
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const query = url.search.slice(1).split("&").sort().join("&");
  const request = [method, url.pathname, query, lines.join(""), names, headers["x-amz-content-sha256"]].join("\n");
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(request)].join("\n");
  const signingKey = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${key.secretAccessKey}`);
  const signature = hmac(signingKey, text).toString("hex");
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope},SignedHeaders=${names},Signature=${signature}`,
  };
}

/** Encodes all but letters, digits and `-._~`, as the signature wants it. */
export function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac("sha256", key).update(data).digest();
}
