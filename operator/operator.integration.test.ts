// The operator's process on a real API server: flags, health, conditions for ignored fields, webhooks, and its end.
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { backups, type Restore, restores, type SampleDB, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import { FaultProxy } from "../e2e/faults/fault-proxy.ts";
import { startSuiteAlone } from "../e2e/faults/suite.fixture.ts";
import type { KubeObject } from "../runtime/kube/object.ts";
import type { Resource } from "../runtime/kube/resource.ts";
import { webhookConfigurations } from "../runtime/webhooks/ca-bundles.ts";
import { eventually } from "../tools/eventually.ts";
import { freePort } from "../tools/free-port.ts";
import { webhookNames } from "./names.ts";
import { OperatorProcess } from "./operator-process.fixture.ts";
import { webhookManifest } from "./webhook-manifest.ts";

const samples = join(import.meta.dirname, "../config/samples");
const quiet = ["--health-probe-bind-address=0"];

const { plane, connection } = await startSuiteAlone();
const { client } = connection;
const operators: OperatorProcess[] = [];

beforeAll(async () => {
  await plane.kubectl("apply", "--server-side", "--kustomize", join(import.meta.dirname, "../config/crd"));
  await plane.kubectl("wait", "--for=condition=Established", "crd", "--all");
});

afterEach(async () => {
  for (const operator of operators.splice(0)) await operator.stop();
});

function start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): OperatorProcess {
  const operator = new OperatorProcess(args, { KUBECONFIG: plane.kubeconfig, ENABLE_WEBHOOKS: "false", ...environment });
  operators.push(operator);
  return operator;
}

async function until(operator: OperatorProcess, message: string): Promise<void> {
  await eventually(`the operator says "${message}"`, 60_000, () => {
    if (operator.errors !== "") throw new Error(operator.errors);
    return operator.output.includes(message);
  });
}

function sample<T extends KubeObject>(file: string, name: string): T {
  const object = parse(readFileSync(join(samples, file), "utf8")) as T;
  return { ...object, metadata: { name, namespace: "default" } };
}

describe("the operator ends with one clear line and exit code 1 for", () => {
  const absent = join(tmpdir(), `sampledb-absent-${process.pid}`);
  const nowhere = { KUBECONFIG: absent };
  test.each([
    [["--no-such-flag"], {}, "sampledb-operator: Unknown option '--no-such-flag': --help lists the flags\n"],
    [["--metrics-bind-address=8443"], {}, /^sampledb-operator: --metrics-bind-address must look like .*\n$/],
    [
      ["--metrics-bind-address=:0", "--metrics-secure=false"],
      {},
      /^sampledb-operator: metrics without authentication are served on loopback only.*\n$/,
    ],
    [
      [`--webhook-cert-dir=${absent}`],
      { ENABLE_WEBHOOKS: "true" },
      new RegExp(`^sampledb-operator: no certificate: ${absent} has neither .*\n$`),
    ],
    [[], nowhere, new RegExp(`^sampledb-operator: .*${absent}.*\n$`)],
    [[], { KUBECONFIG: "" }, "sampledb-operator: no cluster is configured: set KUBECONFIG, or run inside of one\n"],
  ])("%j with %j", async (args, environment, line) => {
    const operator = start([...quiet, ...args], environment);
    expect(await operator.ended).toBe(1);
    expect(operator.errors).toMatch(line);
    expect(operator.errors.split("\n")).toHaveLength(2);
  });

  test("an API server that is not there", async () => {
    const proxy = await FaultProxy.start(plane);
    const { kubeconfig, url } = proxy;
    await proxy.refuseConnections(true);
    const operator = start(quiet, { KUBECONFIG: kubeconfig });
    expect(await operator.ended).toBe(1);
    expect(operator.errors).toMatch(new RegExp(`^sampledb-operator: .*${new URL(url).host}.*\\n$`));
    await proxy.stop();
  });
});

test("health and readiness are reported, check by check", async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const operator = start([`--health-probe-bind-address=${address}`]);
  await until(operator, "reconciling");
  const get = async (path: string) => await (await fetch(`http://${address}${path}`)).text();
  expect(await get("/readyz")).toBe("ok");
  expect(await get("/readyz?verbose")).toBe("[+]caches ok\n[+]shutdown ok\n[+]watches ok\n[+]webhooks ok\nreadyz check passed\n");
  expect(await get("/healthz?verbose")).toContain("[+]event-loop ok");
  expect(await operator.stop()).toBe(0);
});

describe("every sample", () => {
  test("is acted on, as a condition says; then the operator is quiet", { timeout: 240_000 }, async () => {
    const proxy = await FaultProxy.start(plane);
    const operator = start([...quiet, "--leader-elect"], { KUBECONFIG: proxy.kubeconfig });
    await until(operator, "reconciling");
    for (const file of readdirSync(samples).filter((name) => name.endsWith(".yaml") && name !== "kustomization.yaml")) {
      const object = sample<KubeObject>(file, file.replace(".yaml", "").replaceAll("_", "-"));
      const resource = [sampledbs, backups, restores].find(({ kind }) => kind === object.kind) as Resource;
      await client.create(resource, object);
    }
    type Told = KubeObject & { status?: { conditions?: { type: string; status: string; reason: string }[] } };
    const notDone = await eventually("every object has its condition", 60_000, async () => {
      const found = await Promise.all([sampledbs, backups, restores].map((resource) => client.list(resource as Resource)));
      const all = found.flatMap(({ items }) => items as Told[]);
      if (!all.every(({ status }) => status?.conditions?.length)) return undefined;
      const isNotDone = ({ status }: Told) => status?.conditions?.some(({ reason }) => reason === "NotSupportedByThisVersion");
      return all.filter(isNotDone).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    });
    expect(notDone).toEqual([]);

    const writes = () =>
      proxy.requests.filter(({ method, resource }) => method !== "GET" && resource !== "leases" && resource !== "events").length;
    // No node runs the databases' Pods, so their objects are all there can be. New settings are reported for ten seconds.
    await eventually("no write for twelve seconds", 120_000, async () => {
      const seen = writes();
      await sleep(12_000);
      return writes() === seen;
    });
    const before = writes();
    const renewals = () => proxy.count({ resource: "leases", verb: "update" });
    const renewed = renewals();
    await eventually("five renewals of the lease go by", 30_000, () => renewals() > renewed + 5);
    expect(writes()).toBe(before);
    expect(await operator.stop()).toBe(0);
    expect(
      (
        await client.raw<{ spec: { holderIdentity: string } }>(
          "GET",
          "/apis/coordination.k8s.io/v1/namespaces/default/leases/sampledb-operator",
        )
      ).spec.holderIdentity,
    ).toBe("");
    await proxy.stop();
  });
});

test("the webhooks refuse what the CRDs can't, with certificates that the operator makes itself", async () => {
  const port = await freePort();
  const configuration = webhookManifest((path) => ({ url: `https://127.0.0.1:${port}${path}` }));
  const resource = webhookConfigurations.ValidatingWebhookConfiguration;
  await client.create(resource, configuration);
  try {
    const operator = start([...quiet, `--webhook-bind-address=127.0.0.1:${port}`], { ENABLE_WEBHOOKS: "true" });
    await until(operator, "reconciling");
    const good = sample<SampleDB>("sampledb_minimal.yaml", "checked");
    await eventually("the API server trusts the webhooks", 30_000, async () => {
      const { webhooks = [] } = await client.get(resource, { namespace: "", name: webhookNames.validating });
      return webhooks.every(({ clientConfig }) => clientConfig.caBundle);
    });
    await eventually(
      "a good SampleDB is let through",
      30_000,
      async () =>
        await client.create(sampledbs, good).then(
          () => true,
          () => false,
        ),
    );
    const bad = {
      ...good,
      metadata: { name: "bad", namespace: "default" },
      spec: { ...good.spec, postgresql: { parameters: { wrok_mem: "4MB" } } },
    };
    await expect(client.create(sampledbs, bad as SampleDB)).rejects.toThrow(/spec.postgresql.parameters\[wrok_mem\]/);

    // The major: the webhook lets through what the rule of the CRD lets through, and a refusal has the rule's words.
    const key = { namespace: "default", name: "checked" };
    const told = (postgresVersion: string) => client.mergePatch(sampledbs, key, { status: { postgresVersion } }, { subresource: "status" });
    const lower = () => client.mergePatch(sampledbs, key, { spec: { postgresVersion: 15 } });
    await told("17.5");
    await expect(lower()).rejects.toThrow(/postgresVersion can't be lowered to 15: the data is of PostgreSQL 17\.5; make a new/);
    await told("15.18");
    expect((await lower()).spec.postgresVersion).toBe(15);

    const unfounded = sample<Restore>("restore_lsn.yaml", "unfounded");
    await expect(client.create(restores, unfounded)).rejects.toThrow(/has no good Backup in this namespace/);
    const nowhere = sample<Restore>("restore_time_in_place.yaml", "nowhere");
    await expect(client.create(restores, nowhere)).rejects.toThrow(/SampleDB with-backups is not there/);
    const restore = sample<Restore>("restore_from_repository.yaml", "checked");
    await client.create(restores, restore);

    // A configuration that is applied again loses the authority, and gets it back at once.
    await client.mergePatch(resource, { namespace: "", name: webhookNames.validating }, { webhooks: configuration.webhooks });
    await eventually("the authority is back", 20_000, async () => {
      const { webhooks = [] } = await client.get(resource, { namespace: "", name: webhookNames.validating });
      return webhooks.every(({ clientConfig }) => clientConfig.caBundle);
    });
  } finally {
    await client.delete(resource, { namespace: "", name: webhookNames.validating });
  }
});
