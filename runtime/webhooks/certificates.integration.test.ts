// Webhook certificates on a real API server: shared by replicas, rotated and swapped while the webhook is called all the time.
import { afterAll, beforeAll, expect, test } from "vitest";
import { StandaloneControlPlane } from "../../e2e/cluster/standalone.ts";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import { describeCertificate, splitBundle } from "../certificates/inspect.ts";
import { type CertifiedKey, createAuthority, issueCertificate } from "../certificates/issue.ts";
import { KubeClient } from "../kube/client.ts";
import { Credentials } from "../kube/credentials.ts";
import { Conflict } from "../kube/errors.ts";
import { kubeConfigFromFile } from "../kube/kube-config.ts";
import type { KubeObject } from "../kube/object.ts";
import { namespaced } from "../kube/resource.ts";
import { Transport } from "../kube/transport.ts";
import { createLog } from "../observability/log.ts";
import { KubeletMount } from "../serving/kubelet-mount.fixture.ts";
import { watchMountedCertificates } from "../serving/mounted-certificates.ts";
import { allowed } from "./admission.ts";
import { type ConfigurationName, observeConfigurations, publishBundle, trustedBundles, webhookConfigurations } from "./ca-bundles.ts";
import { keepCertificates, type SelfMadeDependencies } from "./self-made-certificates.ts";
import { WebhookServer } from "./server.ts";
import { configureWebhook, createWidgets, defineWidgets, type Widget, widget, widgetKey, widgets } from "./widget-kind.fixture.ts";

const secrets = namespaced<KubeObject & { data?: Record<string, string> }>("v1", "Secret", "secrets");
const hour = 3_600_000;
let plane: StandaloneControlPlane;
const transports: Transport[] = [];
const servers: WebhookServer[] = [];
let kube: KubeClient;
let lines: string[] = [];

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  kube = replica();
  await defineWidgets(kube);
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await Promise.all(transports.map((transport) => transport.close()));
  await plane?.stop();
});

function replica(): KubeClient {
  const transport = new Transport(new Credentials(() => kubeConfigFromFile(plane.kubeconfig)));
  transports.push(transport);
  return new KubeClient(transport, { fieldManager: "test" });
}

const log = createLog({ level: "info", destination: { write: (line) => lines.push((JSON.parse(line) as { msg: string }).msg) } });

function selfMade(name: string, change: Partial<SelfMadeDependencies> = {}): SelfMadeDependencies {
  const secret = { namespace: "default", name };
  return { kube, secret, configurations: [checking(name)], names: ["127.0.0.1"], commonName: name, now: () => new Date(), log, ...change };
}

function checking(name: string): ConfigurationName {
  return { kind: "ValidatingWebhookConfiguration", name };
}

/** Allows everything. One connection for each request, so that each request sees the present certificate. */
async function serve(name: string, certificate: CertifiedKey): Promise<{ server: WebhookServer; asked: () => number }> {
  let asked = 0;
  const server = new WebhookServer({
    certificate,
    address: { host: "127.0.0.1", port: 0 },
    log,
    requestsPerConnection: 1,
    graceMilliseconds: 0,
    listener: () => asked++,
  });
  server.validate<Widget>("/check", () => allowed());
  servers.push(server);
  const port = await server.listen();
  await configureWebhook(kube, { name: checking(name), port, path: "/check", operatorUsername: "nobody" });
  return { server, asked: () => asked };
}

async function unconfigure(name: string): Promise<void> {
  await kube.delete(webhookConfigurations.ValidatingWebhookConfiguration, { namespace: "", name });
  await eventuallySucceeds("the webhook is forgotten", 20_000, () => kube.create(widgets, widget(`after-${name}`, { size: 1 })));
}

async function authorities(name: string): Promise<string[]> {
  const [bundle = ""] = trustedBundles(await observeConfigurations(kube, [checking(name)]));
  return splitBundle(bundle);
}

test("replicas that start at the same time end with the same certificate", async () => {
  lines = [];
  const kept = await Promise.all([1, 2, 3, 4].map(() => keepCertificates(selfMade("race", { kube: replica(), configurations: [] }))));
  expect(new Set(kept.map(({ serving }) => serving.certificate)).size).toBe(1);
  expect(new Set(kept.map(({ serving }) => serving.key)).size).toBe(1);
  expect(lines.filter((line) => line.includes("first time"))).toHaveLength(1);
});

test("a missing configuration is reported, and filled as soon as it exists; then nothing more is written", async () => {
  const first = await keepCertificates(selfMade("late"));
  expect(first.missing).toEqual(["ValidatingWebhookConfiguration late does not exist: its webhooks are not called until it is applied"]);
  expect(first.problems).toEqual([]);
  await serve("late", first.serving);
  const second = await keepCertificates(selfMade("late"));
  expect(second).toMatchObject({ missing: [], problems: [], serving: first.serving });
  const versions = async () => [
    (await kube.get(secrets, { namespace: "default", name: "late" })).metadata.resourceVersion,
    (await kube.get(webhookConfigurations.ValidatingWebhookConfiguration, { namespace: "", name: "late" })).metadata.resourceVersion,
  ];
  const before = await versions();
  await keepCertificates(selfMade("late", { kube: replica() }));
  expect(await versions()).toEqual(before);
  await unconfigure("late");
});

test("a configuration that has changed since it was read is not overwritten", async () => {
  const { serving } = await keepCertificates(selfMade("stale", { configurations: [] }));
  await serve("stale", serving);
  const observed = await observeConfigurations(kube, [checking("stale")]);
  const key = { namespace: "", name: "stale" };
  await kube.mergePatch(webhookConfigurations.ValidatingWebhookConfiguration, key, { metadata: { labels: { newer: "yes" } } });
  await expect(publishBundle(kube, observed, serving.certificate)).rejects.toThrow(Conflict);
  expect(await authorities("stale")).toEqual([]);
  await unconfigure("stale");
});

test("no request fails during a rotation: new authority with a leaf of the old one, takeover, end of the old one", async () => {
  // The API server uses the real time, so the certificates are backdated: the authority is 6.5 of its 9 hours old.
  const start = Date.now();
  let now = new Date(start - 6.5 * hour);
  const keep = () => keepCertificates(selfMade("turn", { authorityLifetimeMs: 9 * hour, leafLifetimeMs: 9 * hour, now: () => now }));
  const { serving } = await keep();
  const { server, asked } = await serve("turn", serving);
  await keep();
  await eventually("the webhook is asked", 20_000, async () => {
    await kube.delete(widgets, widgetKey("turn-first")).catch(() => {});
    await kube.create(widgets, widget("turn-first", { size: 1 })).catch(() => {});
    return asked() > 0;
  });
  const [old] = await authorities("turn");
  lines = [];
  const at = (hours: number) => async () => {
    now = new Date(start + hours * hour);
    server.useCertificate((await keep()).serving);
  };
  const before = asked();
  const failures = await createWidgets(kube, "turn", 50, { 10: at(-0.8), 20: at(-0.7), 30: at(0.35), 40: at(2.6) });
  expect(failures).toEqual([]);
  expect(asked() - before).toBe(50);
  expect(lines.map((line) => line.split(": ")[1])).toEqual(["add authority", "note trust", "take over", "drop authorities"]);
  const left = await authorities("turn");
  expect(left).toHaveLength(1);
  expect(left).not.toContain(old);
  await unconfigure("turn");
});

test("broken certificates in the Secret are replaced by one of the replicas, and trusted at once", async () => {
  const first = await keepCertificates(selfMade("broken"));
  const { server } = await serve("broken", first.serving);
  await keepCertificates(selfMade("broken"));
  const garbage = { "ca.crt": btoa("garbage"), "ca.key": btoa("garbage"), "tls.crt": btoa("x"), "tls.key": btoa("y") };
  await kube.mergePatch(secrets, { namespace: "default", name: "broken" }, { data: garbage });
  lines = [];
  const kept = await Promise.all([1, 2, 3].map(() => keepCertificates(selfMade("broken", { kube: replica() }))));
  expect(lines).toEqual(["webhook certificates: make anew: ca.crt holds no authority that is valid, and tls.crt can't be read"]);
  expect(kept.flatMap(({ problems }) => problems)).toEqual([]);
  const [serving, ...others] = kept.map((keeping) => keeping.serving);
  expect(others).toEqual([serving, serving]);
  server.useCertificate(serving as CertifiedKey);
  await eventuallySucceeds("the new certificate is trusted", 20_000, () => kube.create(widgets, widget("healed", { size: 1 })));
  await unconfigure("broken");
});

test("no request fails when a mounted certificate is swapped as the kubelet does it", async () => {
  const now = new Date();
  const authority = await createAuthority({ commonName: "cert-manager", lifetimeMs: hour, now });
  const make = () =>
    issueCertificate(authority, { commonName: "w", ipAddresses: ["127.0.0.1"], usages: ["server"], lifetimeMs: hour, now });
  const mount = new KubeletMount(await make());
  const served: string[] = [];
  const onChange = (pair: CertifiedKey) => {
    server.useCertificate(pair);
    served.push(describeCertificate(pair.certificate).fingerprint);
  };
  const mounted = watchMountedCertificates({ directory: mount.directory, log, onChange });
  const { server, asked } = await serve("mounted", mounted.current);
  await publishBundle(kube, await observeConfigurations(kube, [checking("mounted")]), authority.certificate);
  await eventuallySucceeds("the webhook is trusted", 20_000, () => kube.create(widgets, widget("mounted-first", { size: 1 })));
  const before = asked();
  const swapped: string[] = [];
  const step = async () => {
    const pair = await make();
    mount.swap(pair);
    swapped.push(describeCertificate(pair.certificate).fingerprint);
    await eventually("the swap is taken up", 5000, () => served.length === swapped.length);
  };
  expect(await createWidgets(kube, "mounted", 20, { 5: step, 12: step })).toEqual([]);
  expect(asked() - before).toBe(20);
  expect(served).toEqual(swapped);
  mounted.stop();
  mount.remove();
  await unconfigure("mounted");
});
