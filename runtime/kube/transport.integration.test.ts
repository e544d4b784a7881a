// Connections, deadlines and aborts on a real API server and on failing networks.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { kubeconfig } from "../../e2e/cluster/kubeconfig.ts";
import { startSuiteAlone } from "../../e2e/faults/suite.fixture.ts";
import { run } from "../../tools/command.ts";
import { eventually } from "../../tools/eventually.ts";
import { Aborted, DeadlineExceeded, Unreachable } from "./errors.ts";
import { kubeConfigFromFile } from "./kube-config.ts";
import { configMap, configMaps, inDefault, TestConnection } from "./test-connection.fixture.ts";

const { plane, proxy } = await startSuiteAlone();

beforeEach(async () => {
  await proxy.heal();
  proxy.resetCounts();
});

/** The administrator's kubeconfig for another address of the API server. */
function kubeconfigFor(url: string): string {
  const file = join(plane.directory, `at-${new URL(url).port}.kubeconfig`);
  writeFileSync(file, kubeconfig(url, "other", join(plane.directory, "pki"), "admin"));
  return file;
}

/** Passes TCP on to the API server, whatever the protocol, and counts connections. */
async function countingRelay() {
  const relay = { count: 0 };
  const server = createTcpServer((client) => {
    relay.count++;
    const behind = connect(Number(new URL(plane.url).port), "127.0.0.1");
    client.on("error", () => behind.destroy()).pipe(behind);
    behind.on("error", () => client.destroy()).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const file = kubeconfigFor(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return Object.assign(relay, { kubeconfig: file, [Symbol.dispose]: () => void server.close() });
}

describe("connections", () => {
  test("are shared by 200 calls in a row, then by 20 and 200 at once; each watch has its own", async () => {
    using relay = await countingRelay();
    await using connection = new TestConnection(relay.kubeconfig);
    const { client } = connection;
    const get = () => client.find(configMaps, inDefault("none"));
    for (let call = 0; call < 200; call++) await get();
    expect(relay.count).toBeLessThanOrEqual(3);
    await Promise.all(Array.from({ length: 20 }, get));
    expect(relay.count).toBeLessThanOrEqual(23);
    await Promise.all(Array.from({ length: 200 }, get));
    expect(relay.count).toBeLessThanOrEqual(32);
    const before = relay.count;
    const options = { namespace: "default", timeoutSeconds: 1, initialEvents: false, signal: new AbortController().signal };
    await Promise.all(Array.from({ length: 5 }, () => client.watch(configMaps, options, () => {})));
    expect(relay.count - before).toBe(5); // one lost connection must not silence them all
  });

  test("go through the proxy that the kubeconfig names", async () => {
    const tunnels: string[] = [];
    const proxying: Server = createServer().on("connect", (request, socket) => {
      tunnels.push(request.url ?? "");
      const behind = connect(Number(new URL(plane.url).port), "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
      socket.on("error", () => behind.destroy()).pipe(behind);
      behind.on("error", () => socket.destroy()).pipe(socket);
    });
    await once(proxying.listen(0, "127.0.0.1"), "listening");
    const connection = new TestConnection(() => {
      const config = kubeConfigFromFile(plane.kubeconfig);
      Object.assign(config.getCurrentCluster() ?? {}, { proxyUrl: `http://127.0.0.1:${(proxying.address() as AddressInfo).port}` });
      return config;
    });
    for (let call = 0; call < 5; call++) expect((await connection.client.list(configMaps, { namespace: "default" })).items).toHaveLength(1);
    expect(new Set(tunnels)).toEqual(new Set([new URL(plane.url).host]));
    expect(tunnels.length).toBeLessThanOrEqual(2);
    await connection.transport.close();
    await new Promise((resolve) => proxying.close(resolve)); // the client keeps no connection to it
  });

  test.each([
    ["refused", () => proxy.refuseConnections(true)],
    ["reset under way", async () => void setTimeout(() => proxy.resetConnections(), 200)],
  ])("that are %s cause an error, and the next call works", async (_, breakIt) => {
    await using connection = new TestConnection(proxy.kubeconfig);
    proxy.hold({ name: "broken" });
    await breakIt();
    await expect(connection.client.get(configMaps, inDefault("broken"))).rejects.toThrow(Unreachable);
    await proxy.heal();
    expect(await connection.client.find(configMaps, inDefault("broken"))).toBeUndefined();
  });
});

describe("a deadline", () => {
  test("ends a call without an answer, at about that time", async () => {
    await using connection = new TestConnection(proxy.kubeconfig);
    const hold = proxy.hold({ name: "held" });
    const begin = performance.now();
    await expect(connection.client.get(configMaps, inDefault("held"), { deadline: 400 })).rejects.toThrow(DeadlineExceeded);
    expect(performance.now() - begin).toBeGreaterThan(390);
    expect(performance.now() - begin).toBeLessThan(10_000);
    hold.release();
    expect(await connection.client.find(configMaps, inDefault("held"))).toBeUndefined();
  });

  test("that passes for one call counts all connections as dead: the next call gets a new one", async () => {
    await using connection = new TestConnection(proxy.kubeconfig);
    const find = (deadline: number) => connection.client.find(configMaps, inDefault("any"), { deadline });
    await Promise.all(Array.from({ length: 8 }, () => find(5000)));
    proxy.blackHole(true);
    const during = await Promise.allSettled([find(300), find(300), find(300)]);
    expect(during.map((result) => result.status === "rejected" && result.reason)).toEqual(Array(3).fill(expect.any(DeadlineExceeded)));
    proxy.blackHole(false);
    expect(await Promise.all(Array.from({ length: 8 }, () => find(1000)))).toEqual(Array(8).fill(undefined));
  });

  test("runs while the credentials are still being read", async () => {
    await using connection = new TestConnection(() => {
      const config = kubeConfigFromFile(proxy.kubeconfig);
      Object.assign(config.getCurrentUser() ?? {}, {
        exec: { apiVersion: "client.authentication.k8s.io/v1", command: "sleep", args: ["3"] },
      });
      return config;
    });
    await expect(connection.client.list(configMaps, { deadline: 200 })).rejects.toThrow(DeadlineExceeded);
    const given = connection.client.list(configMaps, { signal: AbortSignal.timeout(100) });
    await expect(given).rejects.toThrow(Aborted);
    expect(proxy.count()).toBe(0);
  });
});

describe("a call that is aborted", () => {
  test("before it began never begins", async () => {
    await using connection = new TestConnection(proxy.kubeconfig);
    const signal = AbortSignal.abort(new Error("stopping"));
    const stopped = connection.client.with({ signal });
    const calls = [connection.client.create(configMaps, configMap("early"), { signal }), stopped.create(configMaps, configMap("early"))];
    for (const call of calls) await expect(call).rejects.toMatchObject({ name: "Aborted", cause: { message: "stopping" } });
    expect([proxy.count(), proxy.openConnections]).toEqual([0, 0]);
  });

  test("while it waits for a connection is never sent", async () => {
    await using connection = new TestConnection(proxy.kubeconfig);
    const { client } = connection;
    const hold = proxy.hold({ name: "slow" });
    const reads = Array.from({ length: 32 }, () => client.find(configMaps, inDefault("slow")));
    await eventually("every connection is taken", 10_000, () => hold.hits === 32);
    const controller = new AbortController();
    const writes = [client.with({ signal: controller.signal }), client].map((each) =>
      each.create(configMaps, configMap("queued"), { signal: controller.signal }),
    );
    await sleep(50); // the calls are in the queue
    controller.abort();
    for (const write of writes) await expect(write).rejects.toThrow(Aborted); // at once, without waiting for a connection
    hold.release();
    await Promise.all(reads);
    expect(await client.find(configMaps, inDefault("queued"))).toBeUndefined();
    expect(proxy.count({ verb: "create" })).toBe(0);
  });

  test("while it waits for its answer releases its connection", async () => {
    await using connection = new TestConnection(proxy.kubeconfig);
    const hold = proxy.hold({ name: "held" });
    const controller = new AbortController();
    const call = connection.client.get(configMaps, inDefault("held"), { signal: controller.signal });
    await eventually("it is held", 5000, () => hold.hits === 1);
    controller.abort();
    await expect(call).rejects.toThrow(Aborted);
    await eventually("it has gone", 5000, () => proxy.inFlight() === 0);
  });
});

test("close aborts the calls under way, and no call begins afterwards", async () => {
  const { client, transport } = new TestConnection(proxy.kubeconfig);
  const hold = proxy.hold({ verb: "get" });
  const signal = new AbortController().signal;
  const watch = client.watch(configMaps, { timeoutSeconds: 60, initialEvents: false, signal }, () => {});
  const calls = Array.from({ length: 40 }, () => client.get(configMaps, inDefault("held"))); // more than there are connections
  const ends = [watch, ...calls].map((call) =>
    expect(call).rejects.toMatchObject({ name: "Aborted", message: expect.stringMatching(/closed/) }),
  );
  await eventually("all that can be are under way", 10_000, () => hold.hits === 32 && proxy.inFlight({ verb: "watch" }) === 1);
  await transport.close();
  await Promise.all(ends);
  await eventually("no connection is left", 2000, () => proxy.openConnections === 0);
  await expect(client.get(configMaps, inDefault("held"))).rejects.toThrow(/closed/);
});

test("a process that closes its transport exits, even while it is connecting", async () => {
  const silent = createTcpServer((socket) => void socket.on("error", () => {}).resume()).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const script = `
    import { TestConnection, configMaps } from "${join(import.meta.dirname, "test-connection.fixture.ts")}";
    const { client, transport } = new TestConnection("${kubeconfigFor(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`)}");
    const call = client.list(configMaps).catch((error) => error.name);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await transport.close();
    const closed = Date.now();
    process.on("exit", () => console.log(Date.now() - closed < 2000 ? "at once" : "late"));
    console.log(await call);`;
  expect(await run(process.execPath, ["--input-type=module-typescript", "--eval", script])).toBe("Aborted\nat once\n");
  silent.close();
});

test("every exchange is reported with its code, and every warning of the API server", async () => {
  const told: string[] = [];
  const warned: string[] = [];
  await using connection = new TestConnection(proxy.kubeconfig, {
    listener: ({ method }, server, code, milliseconds) => told.push(`${method} ${server === proxy.url} ${code} ${milliseconds > 0}`),
    onWarning: ({ path }, text) => warned.push(`${path}: ${text}`),
  });
  await connection.client.raw("GET", "/api/v1/componentstatuses");
  await connection.client.find(configMaps, inDefault("none"));
  proxy.loseAnswer({ name: "none" }, 1);
  await expect(connection.client.delete(configMaps, inDefault("none"))).rejects.toThrow(Unreachable);
  expect(told).toEqual(["GET true 200 true", "GET true 404 true", "DELETE true <error> true"]);
  expect(warned).toEqual(["/api/v1/componentstatuses: v1 ComponentStatus is deprecated in v1.19+"]);
});
