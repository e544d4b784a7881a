// The proxy passes on what it should, counts it, and the faults of requests do what their names say.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { run } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";
import { programsDirectory } from "../cluster/programs.ts";
import { StandaloneControlPlane } from "../cluster/standalone.ts";
import { errorEvent, failure } from "./answers.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { configMap, configMaps, create, exists, TestClient, watchConfigMaps } from "./test-client.fixture.ts";

let plane: StandaloneControlPlane;
let proxy: FaultProxy;
let client: TestClient;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
});

afterAll(() => plane.stop());

beforeEach(async () => {
  proxy = await FaultProxy.start(plane);
  client = newClient();
});

afterEach(async () => {
  client.stop();
  await proxy.stop();
});

function newClient(options?: ConstructorParameters<typeof TestClient>[2]): TestClient {
  return new TestClient(proxy.url, join(plane.directory, "pki"), options);
}

describe("without a fault", () => {
  test("kubectl works with the written kubeconfig, and its requests are counted", async () => {
    const kubectl = async (...args: string[]) =>
      run(join(await programsDirectory(), "kubectl"), args, { env: { KUBECONFIG: proxy.kubeconfig } });
    await kubectl("create", "configmap", "by-kubectl");
    expect(await kubectl("get", "configmaps", "by-kubectl", "--output=name")).toBe("configmap/by-kubectl\n");
    await kubectl("get", "configmaps");
    await kubectl("delete", "configmap", "by-kubectl", "--wait=false");
    await expect(kubectl("get", "configmap", "by-kubectl")).rejects.toThrow(/NotFound/);

    const counts = ["create", "get", "list", "watch", "delete"] as const;
    expect(counts.map((verb) => proxy.count({ verb, resource: "configmaps" }))).toEqual([1, 2, 1, 0, 1]);
    expect(proxy.requests.filter(({ resource }) => resource === "configmaps").map(({ status }) => status)).toEqual([
      201, 200, 200, 200, 404,
    ]);
    proxy.resetCounts();
    expect(proxy.count()).toBe(0);
  });

  test("who asks stays who asks: a token, an impersonated user, and the administrator otherwise", async () => {
    const token = (await plane.kubectl("create", "token", "default")).trim();
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const whoAmI = async (headers: Record<string, string>) => {
      const { status, text } = await client.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, headers);
      return status === 201 ? JSON.parse(text).status.userInfo.username : status;
    };
    expect(await whoAmI({})).toBe("kubernetes-admin");
    expect(await whoAmI({ authorization: `Bearer ${token}` })).toBe("system:serviceaccount:default:default");
    expect(await whoAmI({ "impersonate-user": "somebody" })).toBe("somebody");
    expect(await whoAmI({ authorization: "Bearer wrong" })).toBe(401);
  });

  test("a watch streams each event when it happens, and ends at the API server when the client goes", async () => {
    const watch = await watchConfigMaps(plane, client);
    expect([watch.status, proxy.inFlight({ verb: "watch", resource: "configmaps" })]).toEqual([200, 1]);
    for (const name of ["streamed-1", "streamed-2"]) {
      await create(plane, name);
      await eventually(`${name} has come`, 10_000, () => watch.text.includes(`"name":"${name}"`));
    }
    expect(watch.lines).toHaveLength(2);
    const before = await watchesAtTheApiServer();
    watch.abort();
    await eventually("the API server has a watch less", 10_000, async () => (await watchesAtTheApiServer()) === before - 1);
    expect(proxy.inFlight()).toBe(0);
    expect(proxy.requests).toMatchObject([{ verb: "watch", status: 200, endedAt: expect.any(Number) }]);
  });

  async function watchesAtTheApiServer(): Promise<number> {
    const metrics = await plane.kubectl("get", "--raw", "/metrics");
    return Number(/^apiserver_longrunning_requests\{.*resource="configmaps".*scope="namespace".* (\d+)$/m.exec(metrics)?.[1] ?? 0);
  }

  test("hundreds of requests at once, on connections that are kept", async () => {
    const many = newClient({ keepAlive: true, maxSockets: 50 });
    const answers = await Promise.all(Array.from({ length: 400 }, () => many.call("GET", `${configMaps}?limit=1`)));
    expect(new Set(answers.map(({ status, ending }) => `${status} ${ending}`))).toEqual(new Set(["200 complete"]));
    expect(proxy.count({ verb: "list", resource: "configmaps" })).toBe(400);
    expect(proxy.openConnections).toBe(50);
    many.stop();
    await eventually("the connections are closed", 10_000, () => proxy.openConnections === 0);
  });

  test("an API server that is gone answers nothing, and is there again when it is back", async () => {
    const watch = await watchConfigMaps(plane, client);
    await plane.killPart("kube-apiserver");
    expect((await watch.ended()).ending).toBe("ECONNRESET");
    expect(await client.call("GET", configMaps)).toMatchObject({ status: undefined, ending: "ECONNRESET" });
    await plane.startPart("kube-apiserver");
    await plane.ready();
    expect(await client.call("GET", configMaps)).toMatchObject({ status: 200 });
  });
});

describe("an answer in place of the API server's", () => {
  test.each([
    ["410 on every watch", failure(410), { status: 410, body: { kind: "Status", reason: "Expired", code: 410 } }],
    ["410 as an event", errorEvent(410), { status: 200, body: { type: "ERROR", object: { kind: "Status", code: 410 } } }],
    ["429", failure(429, { headers: { "retry-after": "2" } }), { status: 429, body: { reason: "TooManyRequests" } }],
    ["500", failure(500, { message: "etcd is away" }), { status: 500, body: { message: "etcd is away", code: 500 } }],
    ["403", failure(403), { status: 403, body: { status: "Failure", reason: "Forbidden" } }],
  ])("%s", async (_, answer, expected) => {
    const fault = proxy.answer({ verb: "watch", resource: "configmaps" }, answer);
    for (let round = 1; round <= 2; round++) {
      const watch = await client.call("GET", `${configMaps}?watch=true`);
      expect({ status: watch.status, body: watch.lines[0] }).toMatchObject(expected);
      expect(watch.headers).toMatchObject(answer.headers ?? {});
      expect(watch.ending).toBe("complete");
    }
    expect(fault.hits).toBe(2);
    expect(await client.call("GET", configMaps)).toMatchObject({ status: 200 }); // a list is no watch
    fault.remove();
    expect(await client.call("GET", `${configMaps}?watch=true&timeoutSeconds=1`)).toMatchObject({ status: 200, ending: "complete" });
    expect(proxy.count({ verb: "watch" })).toBe(3);
  });

  test("so many times; the API server does not hear of it", async () => {
    proxy.answer({ verb: "create" }, failure(500), 2);
    const statuses = [];
    for (let round = 1; round <= 3; round++) {
      statuses.push((await client.call("POST", configMaps, configMap("third-time"))).status);
      if (round === 2) expect(await exists(plane, "third-time")).toBe(false);
    }
    expect(statuses).toEqual([500, 500, 201]);
    expect(proxy.requests.map(({ status }) => status)).toEqual([500, 500, 201]);
  });
});

describe("a request", () => {
  test("held goes on when it is released, but not for a client that has gone", async () => {
    await create(plane, "kept");
    const hold = proxy.hold({ resource: "configmaps" });
    const [patient, impatient] = [client.send("POST", configMaps, configMap("patient")), client.send("DELETE", `${configMaps}/kept`)];
    await eventually("both are held", 10_000, () => hold.hits === 2);
    expect(proxy.requests.map(({ status }) => status)).toEqual([undefined, undefined]);
    expect(await client.call("GET", "/version")).toMatchObject({ status: 200 });
    expect(await exists(plane, "patient")).toBe(false);
    impatient.abort();
    await eventually("one is gone", 10_000, () => proxy.inFlight() === 1);
    hold.release();
    expect(await patient.ended()).toMatchObject({ status: 201 });
    expect(await client.call("POST", configMaps, configMap("afterwards"))).toMatchObject({ status: 201 });
    expect(await exists(plane, "kept")).toBe(true);
  });

  test("delayed is answered later", async () => {
    proxy.delay({ resource: "configmaps" }, 500, 1);
    const begin = performance.now();
    expect(await client.call("GET", configMaps)).toMatchObject({ status: 200 });
    expect(performance.now() - begin).toBeGreaterThan(490);
  });

  test("whose answer is lost was done all the same", async () => {
    proxy.loseAnswer({ verb: "create" }, 1);
    expect(await client.call("POST", configMaps, configMap("lost"))).toMatchObject({ status: undefined, ending: "ECONNRESET" });
    expect(await exists(plane, "lost")).toBe(true);
    expect(await client.call("POST", configMaps, configMap("lost"))).toMatchObject({ status: 409 });
  });
});

test("nothing is left when it stops, whatever was going on", async () => {
  const openFiles = () => readdirSync("/proc/self/fd").length;
  const before = openFiles();
  const another = await FaultProxy.start(plane);
  const itsClient = new TestClient(another.url, join(plane.directory, "pki"));
  const hold = another.hold({ verb: "list" });
  const pending = [itsClient.send("GET", configMaps), itsClient.send("GET", `${configMaps}?watch=true`)];
  await pending[1]?.started();
  await eventually("one is held", 10_000, () => hold.hits === 1);
  await itsClient.call("GET", "/version"); // leaves a free connection to the API server
  another.blackHole(true);
  pending.push(itsClient.send("GET", "/version"));
  await sleep(100);
  another.slow({ bytesPerSecond: 1 });
  await another.stop();
  for (const exchange of pending) expect((await exchange.ended()).ending).toMatch(/ECONNRESET|socket hang up/);
  expect(await itsClient.call("GET", "/version")).toMatchObject({ ending: "ECONNREFUSED" });
  await eventually("no socket is left", 10_000, () => openFiles() <= before);
});
