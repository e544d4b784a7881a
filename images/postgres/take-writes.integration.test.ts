// Patroni's callback on a real API server: which Pods the read-write Service selects after a change of the leader.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { StandaloneControlPlane } from "../../e2e/cluster/standalone.ts";
import { freePort } from "../../tools/free-port.ts";
import { InstanceAccount, makeObject } from "./instance-account.fixture.ts";

const pods = "/api/v1/namespaces/default/pods";
const configMaps = "/api/v1/namespaces/default/configmaps";

let plane: StandaloneControlPlane;
let account: InstanceAccount;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  account = await InstanceAccount.make(plane, "orders", ["orders-0", "orders-1", "orders-2"]);
});

afterAll(() => plane?.stop());

beforeEach(async () => {
  await plane.request("DELETE", `${pods}?gracePeriodSeconds=0`);
  await plane.request("DELETE", configMaps);
  for (const name of ["orders-0", "orders-1", "orders-2"]) await makePod(name, "orders");
});

async function makePod(name: string, database: string, labels: Record<string, string> = {}): Promise<void> {
  const spec = { containers: [{ name: "database", image: "none" }], terminationGracePeriodSeconds: 0 };
  await makeObject(plane, pods, { metadata: { name, labels: { "sampledb.io/name": database, ...labels } }, spec });
}

async function setPrimary(...names: readonly string[]): Promise<void> {
  const labels = { "sampledb.io/primary": "true" };
  for (const name of names) await plane.request("PATCH", `${pods}/${name}`, { metadata: { labels } });
}

/** As Patroni holds its lock. */
async function setLeader(leader: string): Promise<void> {
  const metadata = { name: "orders-leader", annotations: { leader } };
  const patched = await plane.request("PATCH", `${configMaps}/orders-leader`, { metadata });
  if (patched?.status === 404) await makeObject(plane, configMaps, { metadata });
}

async function primaries(): Promise<string> {
  return plane.kubectl("get", "pods", "-l", "sampledb.io/primary=true", "-o", "jsonpath={.items[*].metadata.name}");
}

interface Run {
  readonly action?: string;
  readonly port?: number;
}

/** Resolves to its log. */
async function takeWrites(pod: string, role: string, { action = "on_role_change", port }: Run = {}): Promise<string> {
  const environment = { HOSTNAME: pod, ...(port === undefined ? {} : { KUBERNETES_SERVICE_PORT: String(port) }) };
  return await account.run("take-writes", [action, role, "orders"], environment);
}

test("a new leader takes the label from Pods that can't give it up themselves", async () => {
  await setPrimary("orders-0", "orders-2");
  await setLeader("orders-1");
  const log = await takeWrites("orders-1", "primary");
  expect(log).toContain("took the label off orders-0, took the label off orders-2, put the label on, in ");
  expect(await primaries()).toBe("orders-1");
});

test("the first leader of a new database", async () => {
  await setLeader("orders-0");
  expect(await takeWrites("orders-0", "primary", { action: "on_start" })).toContain(": put the label on, in ");
  expect(await primaries()).toBe("orders-0");
});

test("what is right already is not written", async () => {
  await setPrimary("orders-1");
  await setLeader("orders-1");
  const before = await plane.request("GET", `${pods}/orders-1`);
  expect(await takeWrites("orders-1", "primary", { action: "on_restart" })).toContain("nothing to change");
  const after = await plane.request("GET", `${pods}/orders-1`);
  expect(after?.body.metadata).toEqual(before?.body.metadata);
});

test.each(["replica", "demoted", "standby_leader"])("as %s a Pod gives the label up and leaves the others alone", async (role) => {
  await setPrimary("orders-0", "orders-1");
  await setLeader("orders-1");
  expect(await takeWrites("orders-0", role)).toContain(": took the label off, in ");
  expect(await primaries()).toBe("orders-1");
});

test("a primary that was killed and comes back keeps the label for as long as it has the lock", async () => {
  await setPrimary("orders-0");
  await setLeader("orders-0");
  const coming = takeWrites("orders-0", "replica", { action: "on_start" });
  await expect(Promise.race([coming, sleep(2000)])).resolves.toBeUndefined();
  expect(await primaries()).toBe("orders-0");
  await setLeader("orders-1");
  expect(await coming).toContain(": took the label off, in ");
  expect(await primaries()).toBe("");
});

test("one that comes back and is not promoted does not keep it for ever", async () => {
  await setPrimary("orders-0");
  await setLeader("orders-0");
  expect(await takeWrites("orders-0", "replica", { action: "on_start" })).toContain(": took the label off, in ");
  expect(await primaries()).toBe("");
});

test("whoever lost the lock again changes nothing", async () => {
  await setPrimary("orders-0");
  await setLeader("orders-2");
  expect(await takeWrites("orders-1", "primary")).toContain("not the leader");
  expect(await primaries()).toBe("orders-0");
});

test("without a lock nobody is the leader", async () => {
  expect(await takeWrites("orders-1", "primary")).toContain("not the leader");
  expect(await primaries()).toBe("");
});

test("the primary of another database keeps its label", async () => {
  await makePod("billing-0", "billing", { "sampledb.io/primary": "true" });
  await setLeader("orders-1");
  await takeWrites("orders-1", "primary");
  expect(await primaries()).toBe("billing-0 orders-1");
});

test("an API server that is away for a moment is asked again", async () => {
  await setPrimary("orders-0");
  await setLeader("orders-1");
  plane.pausePart("kube-apiserver");
  setTimeout(() => plane.resumePart("kube-apiserver"), 3000);
  expect(await takeWrites("orders-1", "primary")).toContain("put the label on");
  expect(await primaries()).toBe("orders-1");
});

test("the label of another that can't be taken off keeps the leader's from being put on; after half a minute it gives up", async () => {
  await makePod("orders-9", "orders", { "sampledb.io/primary": "true" }); // not among those that the role names
  await setLeader("orders-1");
  const nobody = await freePort();
  const began = performance.now();
  await Promise.all([
    expect(takeWrites("orders-1", "primary")).rejects.toThrow(/gave up: .*403.*orders-9.*forbidden/),
    expect(takeWrites("orders-1", "primary", { port: nobody })).rejects.toThrow(/gave up: ConnectionRefusedError/),
  ]);
  expect(performance.now() - began).toBeLessThan(40_000);
  expect(await primaries()).toBe("orders-9");
});
