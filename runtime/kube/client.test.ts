import { expect, test } from "vitest";
import { KubeClient } from "./client.ts";
import { WriteRefused } from "./errors.ts";
import type { HttpRequest } from "./exchange.ts";
import { configMap, configMaps, inDefault } from "./test-connection.fixture.ts";
import type { Transport } from "./transport.ts";

/** The request that a call causes; the answer is an empty list. */
async function requestOf(call: (client: KubeClient) => Promise<unknown>): Promise<HttpRequest> {
  const sent: HttpRequest[] = [];
  const send: Transport["send"] = async (request) => {
    sent.push(request);
    return { status: 200, headers: {}, text: '{"kind":"List","metadata":{"resourceVersion":"1"},"items":null}' };
  };
  await call(new KubeClient({ send } as Transport, { fieldManager: "me" }));
  const [request] = sent;
  if (request === undefined || sent.length > 1) throw new Error(`${sent.length} requests were sent`);
  return request;
}

const signal = new AbortController().signal;
const watch = { timeoutSeconds: 300, signal };

test.each<[string, (client: KubeClient) => Promise<unknown>, number]>([
  ["a call", (client) => client.get(configMaps, inDefault("a")), 15_000],
  ["a list, which may be long", (client) => client.list(configMaps), 60_000],
  ["a call with its own deadline", (client) => client.apply(configMaps, configMap("a"), { deadline: 2000 }), 2000],
  [
    "a watch: longer than the server should take",
    (client) => client.watch(configMaps, { ...watch, initialEvents: false }, () => {}),
    330_000,
  ],
])("the deadline of %s", async (_, call, deadline) => {
  expect((await requestOf(call)).deadline).toBe(deadline);
});

test.each<[string, (client: KubeClient) => Promise<unknown>, string]>([
  [
    "selectors, of which an empty one is none",
    (client) => client.list(configMaps, { namespace: "", labelSelector: "a=b,c!=d", fieldSelector: "" }),
    "/api/v1/configmaps?labelSelector=a%3Db%2Cc%21%3Dd",
  ],
  [
    "a version and a limit",
    (client) => client.list(configMaps, { namespace: "n", resourceVersion: "0", limit: 1 }),
    "/api/v1/namespaces/n/configmaps?limit=1&resourceVersion=0",
  ],
  [
    "a watch from a version",
    (client) => client.watch(configMaps, { ...watch, resourceVersion: "7", initialEvents: false }, () => {}),
    "/api/v1/configmaps?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300",
  ],
  [
    "a watch of everything",
    (client) => client.watch(configMaps, { ...watch, initialEvents: true }, () => {}),
    "/api/v1/configmaps?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
  ],
  [
    "an apply",
    (client) => client.apply(configMaps, configMap("a"), { subresource: "status" }),
    "/api/v1/namespaces/default/configmaps/a/status?fieldManager=me&force=true",
  ],
])("the path of %s", async (_, call, path) => {
  expect((await requestOf(call)).path).toBe(path);
});

test("watches have connections of their own, and only a watch streams", async () => {
  const [watching, calling] = await Promise.all([
    requestOf((client) => client.watch(configMaps, { ...watch, initialEvents: false }, () => {})),
    requestOf((client) => client.list(configMaps)),
  ]);
  expect([watching.pool, calling.pool]).toEqual(["watches", "calls"]);
  expect([watching.onData, calling.onData]).toEqual([expect.any(Function), undefined]);
});

test.each<[string, (client: KubeClient) => Promise<unknown>]>([
  ["a create", (client) => client.create(configMaps, configMap("a"))],
  ["a delete", (client) => client.delete(configMaps, inDefault("a"))],
  ["a POST to any other path, such as an eviction", (client) => client.raw("POST", "/api/v1/namespaces/default/pods/a/eviction", {})],
])("%s is not sent by a client that may not write", async (_, call) => {
  const client = new KubeClient({ send: () => Promise.reject(new Error("sent")) } as unknown as Transport, {
    fieldManager: "me",
    mayWrite: () => false,
  });
  await expect(call(client)).rejects.toThrow(WriteRefused);
});
