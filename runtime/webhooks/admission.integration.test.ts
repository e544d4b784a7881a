// Webhooks with a real API server: what its callers see, which requests skip the webhook, and what a dead server blocks.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StandaloneControlPlane } from "../../e2e/cluster/standalone.ts";
import { eventuallySucceeds } from "../../tools/eventually.ts";
import { KubeClient } from "../kube/client.ts";
import { Credentials } from "../kube/credentials.ts";
import { ApiError, Forbidden, Invalid } from "../kube/errors.ts";
import { kubeConfigFromFile } from "../kube/kube-config.ts";
import { Transport } from "../kube/transport.ts";
import { createLog } from "../observability/log.ts";
import { keepCertificates } from "./self-made-certificates.ts";
import { WebhookServer } from "./server.ts";
import { configureWebhook, defineWidgets, serveWidgets, widget, widgetKey, widgets } from "./widget-kind.fixture.ts";

const log = createLog({ level: "error", destination: { write: () => {} } });
const account = { namespace: "default", name: "operator" };
const operatorUsername = "system:serviceaccount:default:operator";
const checking = { kind: "ValidatingWebhookConfiguration", name: "checking" } as const;
const coloring = { kind: "MutatingWebhookConfiguration", name: "coloring" } as const;
const secondHalf = "; the fault is the operator's, not the object's";

let plane: StandaloneControlPlane;
let transport: Transport;
let operatorTransport: Transport | undefined;
let kube: KubeClient;
let server: WebhookServer;
let counted: string[] = [];

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  transport = new Transport(new Credentials(() => kubeConfigFromFile(plane.kubeconfig)));
  kube = new KubeClient(transport, { fieldManager: "test" });
  await defineWidgets(kube);
  const deps = {
    kube,
    secret: { namespace: "default", name: "hooks" },
    commonName: "hooks",
    names: ["127.0.0.1"],
    now: () => new Date(),
    log,
  };
  const { serving } = await keepCertificates({ ...deps, configurations: [] });
  server = new WebhookServer({
    certificate: serving,
    address: { host: "127.0.0.1", port: 0 },
    log,
    listener: (path, code) => counted.push(`${path} ${code}`),
  });
  serveWidgets(server);
  const port = await server.listen();
  await configureWebhook(kube, { name: checking, port, path: "/check", operatorUsername, operations: ["CREATE", "UPDATE", "DELETE"] });
  await configureWebhook(kube, { name: coloring, port, path: "/color", operatorUsername });
  expect((await keepCertificates({ ...deps, configurations: [checking, coloring] })).problems).toEqual([]);
  await eventuallySucceeds("both webhooks are asked", 20_000, async () => {
    counted = [];
    await kube.create(widgets, widget("probe", { size: 1 })).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
    });
    await kube.delete(widgets, widgetKey("probe"));
    expect(new Set(counted)).toEqual(new Set(["/check 200", "/color 200"]));
  });
});

afterAll(async () => {
  await server?.stop();
  await operatorTransport?.close();
  await transport?.close();
  await plane?.stop();
});

describe("while the webhook is served,", () => {
  test("an invalid object is refused with message and causes", async () => {
    const error = await kube.create(widgets, widget("big", { size: 101 })).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Invalid);
    expect((error as Invalid).message).toContain(
      'admission webhook "checking.test.example.com" denied the request: spec.size: 101 is too big',
    );
    expect((error as Invalid).causes).toEqual([{ reason: "FieldValueInvalid", field: "spec.size", message: "100 at most" }]);
  });

  test("kubectl names the object and the field", async () => {
    const patch = JSON.stringify({ spec: { size: 101 } });
    await kube.create(widgets, widget("patched", { size: 1 }));
    await expect(plane.kubectl("patch", "widget", "patched", "--type=merge", `--patch=${patch}`)).rejects.toThrow(
      /The Widget "patched" is invalid: spec\.size: 100 at most/,
    );
  });

  test("a mutation sets a missing field, and leaves one that is set", async () => {
    expect((await kube.create(widgets, widget("grey", { size: 1 }))).spec).toEqual({ size: 1, color: "grey" });
    expect((await kube.create(widgets, widget("red", { size: 1, color: "red" }))).spec).toEqual({ size: 1, color: "red" });
  });

  test("warnings reach the caller", async () => {
    const body = JSON.stringify(widget("biggish", { size: 51 }));
    const path = "/apis/test.example.com/v1/namespaces/default/widgets";
    const { status, headers } = await transport.send({ method: "POST", path, body, deadline: 10_000, pool: "calls" });
    expect([status, headers["warning"]]).toEqual([201, '299 - "this is rather big"']);
  });

  test("the handler gets the old object of an update and of a deletion", async () => {
    await kube.create(widgets, widget("protected", { size: 9 }));
    await expect(kube.mergePatch(widgets, widgetKey("protected"), { spec: { size: 8 } })).rejects.toThrow(/a widget never shrinks/);
    await expect(kube.delete(widgets, widgetKey("protected"))).rejects.toThrow(Forbidden);
  });

  test("a handler that throws refuses, and names the operator as the cause", async () => {
    const refused = kube.create(widgets, widget("thrown", { size: 500 }));
    await expect(refused).rejects.toThrow(`${secondHalf}: no such table`);
    await expect(refused).rejects.toMatchObject({ code: 500, reason: "InternalError" });
    expect(counted.at(-1)).toBe("/check 500");
  });

  test("a handler that hangs refuses before the API server times out", async () => {
    const begin = performance.now();
    const refused = kube.create(widgets, widget("hung", { size: 504 }));
    await expect(refused).rejects.toThrow(`${secondHalf}: it did not decide within 4 s`);
    expect(performance.now() - begin).toBeLessThan(5000);
    expect(counted.at(-1)).toBe("/check 504");
  });

  test("a change of metadata skips it, a change of the spec does not", async () => {
    await kube.create(widgets, widget("quiet", { size: 2 }));
    counted = [];
    await kube.mergePatch(widgets, widgetKey("quiet"), { metadata: { labels: { a: "b" }, finalizers: ["test.example.com/keep"] } });
    expect(counted).toEqual([]);
    await kube.mergePatch(widgets, widgetKey("quiet"), { spec: { size: 3 } });
    expect(counted).toEqual(["/color 200", "/check 200"]);
  });

  test("an object may have no spec, before or after an update", async () => {
    await kube.create(widgets, widget("bare"));
    counted = [];
    await kube.mergePatch(widgets, widgetKey("bare"), { metadata: { labels: { a: "b" } } });
    expect(counted).toEqual([]);
    for (const spec of [{ color: "red" }, null]) {
      counted = [];
      await kube.mergePatch(widgets, widgetKey("bare"), { spec });
      // Both in this order, for each try of the API server: it repeats a patch when its copy was behind.
      expect(counted.join(", ")).toMatch(/^\/color 200, \/check 200(, \/color 200, \/check 200)*$/);
    }
  });
});

describe("while the webhook is not served,", () => {
  let operator: KubeClient;

  beforeAll(async () => {
    operator = await operatorClient();
    await kube.create(widgets, widget("waiting", { size: 1 }, { finalizers: ["test.example.com/keep"] }));
    await kube.create(widgets, widget("left", { size: 1 }));
    await kube.delete(widgets, widgetKey("waiting"));
    await server.stop();
  });

  test.each([
    ["a creation", () => kube.create(widgets, widget("new", { size: 1 }))],
    ["a change of the spec", () => kube.mergePatch(widgets, widgetKey("left"), { spec: { size: 2 } })],
    ["a deletion, where that is asked about", () => kube.delete(widgets, widgetKey("left"))],
  ])("%s is refused", async (_, change) => {
    await expect(change()).rejects.toThrow(/failed calling webhook "(checking|coloring)\.test\.example\.com".*connection refused/);
  });

  test("labels can change, and the last finalizer can be removed, which deletes the object", async () => {
    await kube.mergePatch(widgets, widgetKey("left"), { metadata: { labels: { a: "b" } } });
    await kube.mergePatch(widgets, widgetKey("waiting"), { metadata: { finalizers: null } });
    expect(await kube.find(widgets, widgetKey("waiting"))).toBeUndefined();
  });

  test("the operator itself can create, change and delete", async () => {
    await operator.create(widgets, widget("own", { size: 1000 }));
    await operator.mergePatch(widgets, widgetKey("own"), { spec: { size: 2 } });
    await operator.delete(widgets, widgetKey("own"));
    expect(await kube.find(widgets, widgetKey("own"))).toBeUndefined();
  });
});

async function operatorClient(): Promise<KubeClient> {
  await plane.kubectl("create", "serviceaccount", account.name);
  await plane.kubectl(
    "create",
    "clusterrolebinding",
    "operator",
    "--clusterrole=cluster-admin",
    `--serviceaccount=default:${account.name}`,
  );
  const token = (await plane.kubectl("create", "token", account.name)).trim();
  const load = () => {
    const config = kubeConfigFromFile(plane.kubeconfig);
    const cluster = config.getCurrentCluster();
    if (cluster) config.loadFromClusterAndUser(cluster, { name: account.name, token });
    return config;
  };
  operatorTransport = new Transport(new Credentials(load));
  const client = new KubeClient(operatorTransport, { fieldManager: "operator" });
  await eventuallySucceeds("the operator's account may write", 10_000, () => client.list(widgets));
  return client;
}
