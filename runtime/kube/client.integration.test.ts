// Reads and writes of the client on a real API server.
import { describe, expect, test } from "vitest";
import { failure } from "../../e2e/faults/answers.ts";
import { startSuite } from "../../e2e/faults/suite.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import type { KubeClient } from "./client.ts";
import { ApiError, Gone, Invalid } from "./errors.ts";
import type { KubeObject } from "./object.ts";
import { clusterScoped, namespaced } from "./resource.ts";
import { configMap, configMaps, inDefault, TestConnection } from "./test-connection.fixture.ts";

const namespaces = clusterScoped("v1", "Namespace", "namespaces");
const definitions = clusterScoped<KubeObject & { spec: unknown }>(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  "customresourcedefinitions",
);

interface Widget extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

const widgets = namespaced<Widget>("example.com/v1", "Widget", "widgets");

function namespace(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

const { plane, proxy, connection } = await startSuite();

describe("raw JSON", () => {
  test("a NetworkPolicy's `from`, which the client library loses, comes back as it was sent", async () => {
    const policies = namespaced<KubeObject & { spec: unknown }>("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies");
    const spec = {
      podSelector: {},
      ingress: [{ from: [{ podSelector: { matchLabels: { role: "client" } } }], ports: [{ protocol: "TCP", port: 5432 }] }],
      policyTypes: ["Ingress"],
    };
    const policy = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: inDefault("some"), spec };
    expect((await connection.client.apply(policies, policy)).spec).toEqual(spec);
    expect((await connection.client.get(policies, inDefault("some"))).spec).toEqual(spec);
  });

  test("x-kubernetes-* fields of a definition and unknown fields of a resource survive; status is written separately", async () => {
    const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const size = { "x-kubernetes-int-or-string": true };
    const rule = { rule: "self.size != 13", message: "not thirteen" };
    const properties = { spec: { ...open, properties: { size }, "x-kubernetes-validations": [rule] }, status: open };
    const spec = {
      group: "example.com",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      scope: "Namespaced",
      versions: [
        {
          ...{ name: "v1", served: true, storage: true, subresources: { status: {} } },
          schema: { openAPIV3Schema: { type: "object", properties } },
        },
      ],
    };
    const { client } = connection;
    expect(await client.serves(widgets)).toBe(false);
    const metadata = { name: "widgets.example.com" };
    await client.apply(definitions, { apiVersion: definitions.apiVersion, kind: definitions.kind, metadata, spec });
    expect((await client.get(definitions, { namespace: "", name: metadata.name })).spec).toMatchObject({ versions: spec.versions });
    await eventually("Widgets are served", 20_000, () => client.serves(widgets));

    const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: inDefault("w"), spec: { size: "1", later: { than: ["we"] } } };
    const made = await eventually("a Widget can be made", 20_000, () =>
      client.apply(widgets, { ...widget, status: { lost: true } }).catch(() => false as const),
    );
    expect(made).toMatchObject({ spec: widget.spec });
    expect(made.status).toBeUndefined();
    await client.mergePatch(widgets, inDefault("w"), { spec: { size: 7 }, status: { phase: "Ready" } }, { subresource: "status" });
    await client.apply(widgets, { ...widget, spec: undefined, status: { more: "x" } }, { subresource: "status" });
    expect(await client.get(widgets, inDefault("w"))).toMatchObject({ spec: widget.spec, status: { phase: "Ready", more: "x" } });
    await expect(client.mergePatch(widgets, inDefault("w"), { spec: { size: 13 } })).rejects.toThrow(/not thirteen/);

    // The history of a kind begins when it is first served.
    const tooOld = { resourceVersion: "1", timeoutSeconds: 5, initialEvents: false, signal: new AbortController().signal };
    await expect(client.watch(widgets, tooOld, () => {})).rejects.toThrow(Gone);
  });
});

test("1,200 objects come in three pages, each once, with the kind that a list leaves out of its items", async () => {
  const { client } = connection;
  await using direct = new TestConnection(plane.kubeconfig);
  await client.create(namespaces, namespace("crowd"));
  const names = Array.from({ length: 1200 }, (_, index) => `m-${index}`);
  await Promise.all(
    names.map((name) =>
      direct.client.create(
        configMaps,
        { ...configMap(name), metadata: { namespace: "crowd", name, labels: { crowd: "yes" } } },
        { deadline: 60_000 },
      ),
    ),
  );
  proxy.resetCounts();
  const listed: string[] = [];
  const versions = new Set<string>();
  for await (const page of client.pages(configMaps, { namespace: "crowd", labelSelector: "crowd=yes" })) {
    expect(page.items.length).toBeLessThanOrEqual(500);
    expect(page.items[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
    versions.add(page.resourceVersion);
    listed.push(...page.items.map(({ metadata }) => metadata.name));
  }
  expect(listed.sort()).toEqual(names.sort());
  expect(versions.size).toBe(1); // a consistent snapshot, however long the reading takes
  expect(proxy.count({ verb: "list", resource: "configmaps" })).toBe(3);
  const one = await client.list(configMaps, { namespace: "crowd", fieldSelector: "metadata.name=m-7" });
  expect(one.items.map(({ metadata }) => metadata.name)).toEqual(["m-7"]);
});

test("serves is true for kinds of existing groups, and false for those of others", async () => {
  const leases = namespaced("coordination.k8s.io/v1", "Lease", "leases");
  const asked = [configMaps, leases, { ...leases, plural: "leashes" }, { ...leases, apiVersion: "example.org/v1" }];
  expect(await Promise.all(asked.map((resource) => connection.client.serves(resource)))).toEqual([true, true, false, false]);
});

describe("the error class for", () => {
  test.each<[string, string, (client: KubeClient) => Promise<unknown>]>([
    ["an object that does not exist", "NotFound", (client) => client.get(configMaps, inDefault("nobody"))],
    ["a kind that is not served", "NotFound", (client) => client.list(namespaced("example.org/v1", "None", "nones"))],
    ["an object that already exists", "AlreadyExists", (client) => client.create(namespaces, namespace("default"))],
    ["an object that can't be parsed", "ApiError", (client) => client.create(configMaps, { ...configMap("a"), data: [] as never })],
    ["an unknown path, answered in plain text", "NotFound", (client) => client.raw("GET", "/healthz/none")],
  ])("%s: %s", async (_, name, act) => {
    const error: unknown = await act(connection.client).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ name });
  });

  test.each([
    ["410", "Gone", failure(410), { code: 410, reason: "Expired" }],
    ["429", "TryLater", failure(429, { headers: { "retry-after": "2" } }), { code: 429, retryAfterMilliseconds: 2000 }],
    ["503 that says when", "TryLater", failure(503, { headers: { "retry-after": "3" } }), { retryAfterMilliseconds: 3000 }],
    ["500", "ApiError", failure(500, { message: "etcd is away" }), { code: 500, message: expect.stringContaining("etcd is away") }],
    ["a redirect, which is not followed", "ApiError", { status: 302, headers: { location: "/version" }, body: {} }, { code: 302 }],
  ])("an answer of %s is %s", async (_, name, answer, details) => {
    proxy.answer({ verb: "list", resource: "configmaps" }, answer, 1);
    await expect(connection.client.list(configMaps)).rejects.toMatchObject({ name, ...details });
  });

  test("an invalid object has causes that name its fields", async () => {
    const error: unknown = await connection.client.create(configMaps, configMap("Not_A_Name")).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Invalid);
    expect(error).toMatchObject({
      causes: [{ field: "metadata.name", reason: "FieldValueInvalid", message: expect.stringMatching(/RFC 1123/) }],
    });
  });

  test.each([
    ["a value that is no base64", { password: "hunter2!" }, "ApiError", /400|BadRequest/],
    ["a key that is none", { "hunter2!": "aHVudGVyMg==" }, "Invalid", /Invalid \(data\[hunter2!\]\)/],
  ])("a Secret with %s shows none of its values", async (_, data, name, message) => {
    const secrets = namespaced<KubeObject & { data: object }>("v1", "Secret", "secrets");
    const secret = { apiVersion: "v1", kind: "Secret", metadata: inDefault("refused"), data };
    const error = await connection.client.create(secrets, secret).catch((error: Error) => error);
    expect(error).toMatchObject({ name, message: expect.stringMatching(message) });
    expect(JSON.stringify(error)).not.toContain("aHVudGVyMg==");
    if (name === "ApiError") expect(String(error)).not.toContain("hunter2");
  });
});
