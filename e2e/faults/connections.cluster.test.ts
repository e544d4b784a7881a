// The faults of connections do what their names say.
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "../../tools/eventually.ts";
import { StandaloneControlPlane } from "../cluster/standalone.ts";
import { failure } from "./answers.ts";
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

test("connections that are reset end at once; new ones work", async () => {
  const watch = await watchConfigMaps(plane, client);
  const bare = connect(Number(new URL(proxy.url).port), "127.0.0.1");
  const ending = new Promise((resolve) => bare.on("error", resolve).on("end", () => resolve("closed without a reset")));
  await eventually("both are connected", 10_000, () => proxy.openConnections === 2);
  proxy.resetConnections();
  expect(await ending).toMatchObject({ code: "ECONNRESET" });
  expect((await watch.ended()).ending).toBe("ECONNRESET");
  expect(await client.call("GET", configMaps)).toMatchObject({ status: 200 });
});

test("connections that are refused are refused on the same port until they no longer are; a watch goes on", async () => {
  const watch = await watchConfigMaps(plane, client);
  await proxy.refuseConnections(true);
  expect(await client.call("GET", configMaps)).toMatchObject({ ending: "ECONNREFUSED" });
  await create(plane, "while-refused");
  await eventually("the event has come", 10_000, () => watch.text.includes("while-refused"));
  await proxy.refuseConnections(false);
  expect(await client.call("GET", configMaps)).toMatchObject({ status: 200 });
});

test("connections in a black hole stay open and silent for ever; those that come after it work", async () => {
  const watch = await watchConfigMaps(plane, client);
  const kept = newClient({ keepAlive: true, maxSockets: 1 });
  await kept.call("GET", "/version");
  proxy.blackHole(true);
  const during = [client.send("GET", configMaps), kept.send("POST", configMaps, configMap("never-arrives"))];
  await create(plane, "unseen");
  await sleep(700);
  proxy.blackHole(false);
  await create(plane, "unseen-as-well");
  expect(await client.call("GET", configMaps)).toMatchObject({ status: 200 });
  await sleep(700);
  expect(watch).toMatchObject({ text: "", ending: undefined });
  for (const exchange of during) expect(exchange).toMatchObject({ status: undefined, ending: undefined });
  expect(await exists(plane, "never-arrives")).toBe(false);
  expect(proxy.count()).toBe(3); // what was sent into the hole never came
  kept.stop();
});

test("connections are as slow as they are said to be, until they no longer are", async () => {
  await create(plane, "big", { text: "x".repeat(100_000) });
  proxy.slow({ bytesPerSecond: 50_000 });
  const begin = performance.now();
  const slowly = client.send("GET", `${configMaps}/big`);
  await eventually("some of it has come", 10_000, () => slowly.text !== "");
  expect(slowly.text.length).toBeLessThan(60_000);
  expect((await slowly.ended()).status).toBe(200);
  expect(performance.now() - begin).toBeGreaterThan(1900);
  proxy.slow(undefined);
  const again = performance.now();
  expect((await client.call("GET", `${configMaps}/big`)).text).toBe(slowly.text);
  expect(performance.now() - again).toBeLessThan(1900);
});

test("connections of a watch are cut in the middle of a line, that of one under way as well", async () => {
  const watch = await watchConfigMaps(plane, client);
  await create(plane, "whole");
  await eventually("the first event has come", 10_000, () => watch.lines.length === 1);
  proxy.cutMiddle({ verb: "watch", resource: "configmaps" }, 1);
  await create(plane, "cut");
  expect((await watch.ended()).ending).toBe("ECONNRESET");
  const rest = watch.text.split("\n").at(-1) ?? "";
  expect(rest).toMatch(/^\{"type":"ADDED"/);
  expect(() => JSON.parse(rest)).toThrow();
  expect(watch.lines).toHaveLength(1);
});

test("connections heal from everything", async () => {
  proxy.answer({}, failure(500));
  proxy.blackHole(true);
  proxy.slow({ bytesPerSecond: 1 });
  await proxy.refuseConnections(true);
  await proxy.heal();
  expect(await client.call("GET", configMaps)).toMatchObject({ status: 200 });
});
