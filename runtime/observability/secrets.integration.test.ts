// No value of a Secret reaches the log: a real API server refuses Secrets in all known ways, and each refusal is logged in every
// possible way.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StandaloneControlPlane } from "../../e2e/cluster/standalone.ts";
import { KubeClient } from "../kube/client.ts";
import { Credentials } from "../kube/credentials.ts";
import { ApiError } from "../kube/errors.ts";
import { kubeConfigFromFile } from "../kube/kube-config.ts";
import type { KubeObject } from "../kube/object.ts";
import { namespaced } from "../kube/resource.ts";
import { Transport } from "../kube/transport.ts";
import { createLog, type LogFields, logLevels } from "./log.ts";

interface Secret extends KubeObject {
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: unknown;
  readonly stringData?: unknown;
}

const secrets = namespaced<Secret>("v1", "Secret", "secrets");
const marker = "hunter2-marker-hunter2";
const encoded = Buffer.from(marker).toString("base64");
/** Quotes are often cut: any six characters in a row of either count as a leak. */
const pieces = [marker, encoded].flatMap((text) => Array.from({ length: text.length - 5 }, (_, at) => text.slice(at, at + 6)));

let plane: StandaloneControlPlane;
let transport: Transport;
let client: KubeClient;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  transport = new Transport(new Credentials(() => kubeConfigFromFile(plane.kubeconfig)));
  client = new KubeClient(transport, { fieldManager: "test" });
  await client.create(secrets, secret("plain", { data: { password: encoded } }));
  await client.create(secrets, secret("frozen", { immutable: true, data: { password: encoded } }));
  await client.create(secrets, secret("typed", { type: "kubernetes.io/basic-auth", stringData: { password: marker } }));
});

afterAll(async () => {
  await transport?.close();
  await plane?.stop();
});

const secret = (name: string, rest: Partial<Secret>): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "default" },
  ...rest,
});
const key = (name: string) => ({ namespace: "default", name });
const create = (name: string, rest: Partial<Secret>) => client.create(secrets, secret(name, rest));

async function rejection(call: () => Promise<unknown>): Promise<Error> {
  const outcome = await call().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof Error)) throw new Error("it was not refused, so it shows nothing");
  return outcome;
}

/** All that the log writes for an error, at all levels, as JSON and as text. */
function logged(error: unknown, object: object = {}): string {
  const lines: string[] = [];
  const wrapped = new Error("the step failed", { cause: new Error("the write failed", { cause: error }) });
  const nested = new AggregateError([new Error("other"), new AggregateError([error, wrapped], "inner")], "outer");
  for (const pretty of [false, true]) {
    const log = createLog({ level: "debug", pretty, destination: { write: (line) => void lines.push(line) } });
    for (const level of logLevels) {
      for (const fields of [
        { error },
        { error: wrapped },
        { error: nested },
        { error: object },
        { ...object },
        { name: object, reason: error, body: error },
      ]) {
        log[level](fields as LogFields, "it failed");
        log.child(fields as LogFields)[level]({}, "it failed");
      }
      // A field that spreads an error or the object, as a careless log call would.
      log[level]({ ...(error as object), ...object } as LogFields, "it failed");
    }
  }
  return lines.join("");
}

function expectNoPiece(text: string): void {
  expect(text.length).toBeGreaterThan(1000);
  expect(pieces.filter((piece) => text.includes(piece))).toEqual([]);
}

describe("no value of a Secret is logged when the API server refuses", () => {
  test.each<[string, () => Promise<unknown>]>([
    ["a bad key with data", () => create("a", { data: { "bad key!": encoded } })],
    ["a bad key with stringData", () => create("a", { stringData: { "bad/key": marker } })],
    ["data that is no base64", () => create("a", { data: { password: marker } })],
    ["data that is a number's list", () => create("a", { data: { password: [marker] } })],
    ["data that is a text", () => create("a", { data: marker })],
    ["stringData that is an object", () => create("a", { stringData: { password: { is: marker } } })],
    ["a Secret that is too large", () => create("a", { stringData: { password: marker.repeat(60_000) } })],
    ["more than the API server reads", () => create("a", { stringData: { password: marker.repeat(200_000) } })],
    ["a bad name", () => create("Bad_Name", { stringData: { password: marker } })],
    ["a type that lacks its keys", () => create("a", { type: "kubernetes.io/tls", stringData: { password: marker } })],
    [
      "a type with invalid JSON in it",
      () => create("a", { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": marker } }),
    ],
    ["a Secret that exists", () => create("plain", { stringData: { password: marker } })],
    [
      "a namespace that does not exist",
      () => client.create(secrets, { ...secret("a", { data: { p: encoded } }), metadata: { name: "a", namespace: "none" } }),
    ],
    [
      "an immutable one changed",
      () => client.mergePatch(secrets, key("frozen"), { data: { password: Buffer.from(`${marker}!`).toString("base64") } }),
    ],
    [
      "an immutable Secret made mutable",
      () => client.mergePatch(secrets, key("frozen"), { immutable: false, stringData: { password: marker } }),
    ],
    ["a change of the type", () => client.mergePatch(secrets, key("typed"), { type: marker })],
    ["a patch that is no base64", () => client.mergePatch(secrets, key("plain"), { data: { password: marker } })],
    ["a patch of another type", () => client.mergePatch(secrets, key("plain"), { data: marker })],
    [
      "an outdated replace",
      () => client.replace(secrets, { ...secret("plain", { data: { p: encoded } }), metadata: { ...key("plain"), resourceVersion: "1" } }),
    ],
    [
      "a JSON patch whose test fails",
      () => client.jsonPatch(secrets, key("plain"), [{ op: "test", path: "/data/password", value: marker }]),
    ],
    [
      "a JSON patch of a path that is none",
      () => client.jsonPatch(secrets, key("plain"), [{ op: "replace", path: "/data/x/y", value: marker }]),
    ],
    [
      "a JSON patch of an operation that is none",
      () => client.jsonPatch(secrets, key("plain"), [{ op: marker as "add", path: "/data/x", value: marker }]),
    ],
    ["an apply that is no base64", () => client.apply(secrets, secret("plain", { data: { password: marker } }))],
    ["an apply of an object", () => client.apply(secrets, secret("plain", { data: { password: { is: marker } } }))],
    ["an apply of a list", () => client.apply(secrets, secret("plain", { data: [marker] }))],
    ["an apply of a bad key", () => client.apply(secrets, secret("plain", { stringData: { "bad key": marker } }))],
    ["a post of no JSON object", () => client.raw("POST", "/api/v1/namespaces/default/secrets", [marker])],
    [
      "a post of another kind",
      () => client.raw("POST", "/api/v1/namespaces/default/secrets", { ...secret("a", { data: { p: encoded } }), kind: marker }),
    ],
  ])("%s", async (_, call) => {
    const error = await rejection(call);
    expect(error).toBeInstanceOf(ApiError);
    expectNoPiece(logged(error));
  });
});

test("no value is logged when a Secret itself is given as fields", async () => {
  for (const name of ["plain", "frozen", "typed"]) {
    const object = await client.get(secrets, key(name));
    expect(JSON.stringify(object)).toContain(encoded);
    expectNoPiece(logged(new Error("x"), object));
    expectNoPiece(logged(new Error("x"), { ...(object.data as object) }));
  }
});

test.each([
  ["JSON with a piece missing", `{"kind":"Secret","data":{"password":${encoded}"}}`],
  ["the middle of a stream", `${encoded}","other":"x"}}`],
  ["a text", marker],
])("no value is logged of an answer that a proxy has broken: %s", async (_, body) => {
  const proxy = createServer((_request, response) => response.end(`${body}\n`));
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const broken = new Transport({
    current: async () => ({
      server: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      headers: {},
      tls: { options: {}, fingerprint: "" },
    }),
    refresh: () => {},
  } as unknown as Credentials);
  const brokenClient = new KubeClient(broken, { fieldManager: "test" });
  const watched = { timeoutSeconds: 5, initialEvents: true, signal: AbortSignal.timeout(5000) };
  for (const call of [
    () => brokenClient.get(secrets, key("plain")),
    () => brokenClient.apply(secrets, secret("plain", { data: { password: encoded } })),
    () => brokenClient.watch(secrets, watched, () => {}),
  ]) {
    expectNoPiece(logged(await rejection(call)));
  }
  await broken.close();
  proxy.close();
});
