// Digests from registries that want a token, and from those that refuse.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { imageDigest } from "./registry.ts";

const manifest = '{"schemaVersion":2}';
const digest = `sha256:${createHash("sha256").update(manifest).digest("hex")}`;

/** Resolves to host and port. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse, host: string) => void): Promise<string> {
  const server = createServer((request, response) => answer(request, response, request.headers.host ?? ""));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("the digest is that of the manifest, whatever the registry says", async () => {
  const host = await serve((_, response) => response.writeHead(200, { "docker-content-digest": "sha256:other" }).end(manifest));
  expect(await imageDigest(`${host}/team/sampledb/operator:1.0.0`)).toBe(digest);
});

test("a registry that gives a token to everybody is asked with it", async () => {
  const host = await serve(({ url, headers }, response, host) => {
    if (url?.startsWith("/token")) response.end(JSON.stringify({ token: decodeURIComponent(url.split("?")[1] ?? "") }));
    else if (headers.authorization === "Bearer service=images&scope=repository:team/one:pull") response.end(manifest);
    else {
      const challenge = `Bearer realm="http://${host}/token",service="images",scope="repository:team/one:pull"`;
      response.writeHead(401, { "www-authenticate": challenge }).end();
    }
  });
  expect(await imageDigest(`${host}/team/one:17`)).toBe(digest);
});

test.each([
  [401, "does not let everybody read"],
  [403, "does not let everybody read"],
  [404, "run make docker-push with the same IMAGE_REGISTRY first"],
  [500, "answers 500"],
])("status %i is refused in one sentence", async (status, sentence) => {
  const host = await serve((_, response) => response.writeHead(status).end());
  await expect(imageDigest(`${host}/team/one:17`)).rejects.toThrow(sentence);
});

test("a name without a registry is refused", async () => {
  await expect(imageDigest("operator:17")).rejects.toThrow("not the whole name of an image");
});
