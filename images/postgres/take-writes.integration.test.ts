// Patroni's callback on a real API server: where the read-write Service leads after a change of the leader.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { StandaloneControlPlane } from "../../e2e/cluster/standalone.ts";
import { freePort } from "../../tools/free-port.ts";
import { InstanceAccount, makeObject } from "./instance-account.fixture.ts";

const pods = "/api/v1/namespaces/default/pods";
const configMaps = "/api/v1/namespaces/default/configmaps";
const slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const names = ["orders-0", "orders-1", "orders-2"] as const;

let plane: StandaloneControlPlane;
let account: InstanceAccount;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  account = await InstanceAccount.make(plane, "orders", names);
  // Kubernetes collects the Pods of a node that is not there, after 40 s.
  await makeObject(plane, "/api/v1/nodes", { metadata: { name: "somewhere" }, spec: { unschedulable: true } });
});

afterAll(() => plane?.stop());

beforeEach(async () => {
  for (const path of [`${pods}?gracePeriodSeconds=0`, configMaps, slices]) await plane.request("DELETE", path);
  await makeSlice("IPv4");
  for (const [index, name] of names.entries()) await makePod(name, `192.0.2.${index}`, `2001:db8::${index}`);
});

async function makeSlice(addressType: string): Promise<void> {
  const port = { name: "postgres", port: 5432, protocol: "TCP" };
  await makeObject(plane, slices, { metadata: { name: "orders-rw" }, addressType, endpoints: [], ports: [port] });
}

async function makePod(name: string, ...addresses: string[]): Promise<void> {
  const spec = { nodeName: "somewhere", containers: [{ name: "database", image: "none" }], terminationGracePeriodSeconds: 0 };
  await makeObject(plane, pods, { metadata: { name }, spec });
  const status = { podIP: addresses[0], podIPs: addresses.map((ip) => ({ ip })) };
  expect(await plane.request("PATCH", `${pods}/${name}/status`, { status })).toMatchObject({ status: 200 });
}

/** As a former leader has written it. */
async function leadTo(name: string, address: string): Promise<void> {
  const targetRef = { kind: "Pod", name, uid: (await plane.request("GET", `${pods}/${name}`))?.body.metadata.uid };
  const endpoints = [{ addresses: [address], conditions: { ready: true }, targetRef }];
  expect(await plane.request("PATCH", `${slices}/orders-rw`, { endpoints })).toMatchObject({ status: 200 });
}

/** As Patroni writes its lock. */
async function setLeader(leader: string): Promise<void> {
  const metadata = { name: "orders-leader", annotations: { leader } };
  const patched = await plane.request("PATCH", `${configMaps}/orders-leader`, { metadata });
  if (patched?.status === 404) await makeObject(plane, configMaps, { metadata });
}

async function writesGoTo(): Promise<string> {
  const endpoint = "{.targetRef.name} {.addresses[*]}";
  return plane.kubectl("get", "endpointslice", "orders-rw", "-o", `jsonpath={range .endpoints[*]}${endpoint}{end}`);
}

interface Run {
  readonly action?: string;
  readonly port?: number;
}

/** Resolves to the program's log. */
async function takeWrites(pod: string, role: string, { action = "on_role_change", port }: Run = {}): Promise<string> {
  const environment = { HOSTNAME: pod, ...(port === undefined ? {} : { KUBERNETES_SERVICE_PORT: String(port) }) };
  return await account.run("take-writes", [action, role, "orders"], environment);
}

test("a new leader takes the writes from a Pod that can't give them up", async () => {
  await leadTo("orders-0", "192.0.2.0");
  await setLeader("orders-1");
  expect(await takeWrites("orders-1", "primary")).toContain(": took the writes, in ");
  expect(await writesGoTo()).toBe("orders-1 192.0.2.1");
});

test("the first leader of a new database takes the writes", async () => {
  await setLeader("orders-0");
  expect(await takeWrites("orders-0", "primary", { action: "on_start" })).toContain(": took the writes, in ");
  expect(await writesGoTo()).toBe("orders-0 192.0.2.0");
});

test("a leader writes its address of the Service's family", async () => {
  await plane.request("DELETE", `${slices}/orders-rw`);
  await makeSlice("IPv6");
  await setLeader("orders-2");
  await takeWrites("orders-2", "primary");
  expect(await writesGoTo()).toBe("orders-2 2001:db8::2");
});

test("a leader that already has the writes does not write again", async () => {
  await setLeader("orders-1");
  await takeWrites("orders-1", "primary");
  const before = await plane.request("GET", `${slices}/orders-rw`);
  expect(await takeWrites("orders-1", "primary", { action: "on_restart" })).toContain("nothing to change");
  const after = await plane.request("GET", `${slices}/orders-rw`);
  expect(after?.body.metadata).toEqual(before?.body.metadata);
});

test("a leader whose address has changed takes the writes again", async () => {
  await leadTo("orders-1", "192.0.2.99");
  await setLeader("orders-1");
  expect(await takeWrites("orders-1", "primary", { action: "on_start" })).toContain(": took the writes, in ");
  expect(await writesGoTo()).toBe("orders-1 192.0.2.1");
});

test.each(["replica", "demoted", "standby_leader"])("as %s a Pod gives the writes up", async (role) => {
  await leadTo("orders-0", "192.0.2.0");
  await setLeader("orders-1");
  expect(await takeWrites("orders-0", role)).toContain(": gave the writes up, in ");
  expect(await writesGoTo()).toBe("");
});

test.each(["replica", "demoted", "standby_leader"])("as %s a Pod leaves another Pod's endpoint alone", async (role) => {
  await leadTo("orders-1", "192.0.2.1");
  await setLeader("orders-1");
  expect(await takeWrites("orders-0", role)).toContain(": nothing to change, in ");
  expect(await writesGoTo()).toBe("orders-1 192.0.2.1");
});

test("a primary that was killed and comes back keeps the writes while it has the lock", async () => {
  await leadTo("orders-0", "192.0.2.0");
  await setLeader("orders-0");
  const coming = takeWrites("orders-0", "replica", { action: "on_start" });
  await expect(Promise.race([coming, sleep(2000)])).resolves.toBeUndefined();
  expect(await writesGoTo()).toBe("orders-0 192.0.2.0");
  await setLeader("orders-1");
  expect(await coming).toContain(": gave the writes up, in ");
  expect(await writesGoTo()).toBe("");
});

test("a primary that comes back and is not promoted gives the writes up after a while", async () => {
  await leadTo("orders-0", "192.0.2.0");
  await setLeader("orders-0");
  expect(await takeWrites("orders-0", "replica", { action: "on_start" })).toContain(": gave the writes up, in ");
  expect(await writesGoTo()).toBe("");
});

test("a Pod that has lost the lock again changes nothing", async () => {
  await leadTo("orders-0", "192.0.2.0");
  await setLeader("orders-2");
  expect(await takeWrites("orders-1", "primary")).toContain("not the leader");
  expect(await writesGoTo()).toBe("orders-0 192.0.2.0");
});

test("of two leaders that follow each other at once, the last one has the writes", async () => {
  for (let round = 0; round < 8; round++) {
    await setLeader("orders-0");
    const earlier = takeWrites("orders-0", "primary");
    await sleep(round * 15); // somewhere in the middle of its requests
    await setLeader("orders-1");
    await Promise.all([earlier, takeWrites("orders-1", "primary")]);
    expect(await writesGoTo()).toBe("orders-1 192.0.2.1");
  }
});

test("a leader whose Pod the API server does not know yet tries again", async () => {
  await setLeader("orders-3");
  const coming = takeWrites("orders-3", "primary");
  await expect(Promise.race([coming, sleep(1000)])).resolves.toBeUndefined();
  await makePod("orders-3", "192.0.2.3");
  expect(await coming).toContain(": took the writes, in ");
  expect(await writesGoTo()).toBe("orders-3 192.0.2.3");
});

test("without a lock no Pod takes the writes", async () => {
  expect(await takeWrites("orders-1", "primary")).toContain("not the leader");
  expect(await writesGoTo()).toBe("");
});

test("take-writes retries while the API server is away for a moment", async () => {
  await leadTo("orders-0", "192.0.2.0");
  await setLeader("orders-1");
  plane.pausePart("kube-apiserver");
  setTimeout(() => plane.resumePart("kube-apiserver"), 3000);
  expect(await takeWrites("orders-1", "primary")).toContain("took the writes");
  expect(await writesGoTo()).toBe("orders-1 192.0.2.1");
});

test("take-writes gives up after half a minute and logs why: the operator continues", async () => {
  await plane.request("DELETE", `${slices}/orders-rw`);
  await setLeader("orders-1");
  const nobody = await freePort();
  const began = performance.now();
  await Promise.all([
    expect(takeWrites("orders-1", "primary")).rejects.toThrow(/gave up: .*no EndpointSlice orders-rw/),
    expect(takeWrites("orders-1", "primary", { port: nobody })).rejects.toThrow(/gave up: ConnectionRefusedError/),
  ]);
  expect(performance.now() - began).toBeLessThan(40_000);
});
