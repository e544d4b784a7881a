// How reconciles end, on a real API server with injected faults.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { ControlPlane } from "../../e2e/cluster/standalone.ts";
import { failure } from "../../e2e/faults/answers.ts";
import { FaultProxy } from "../../e2e/faults/fault-proxy.ts";
import { sharedControlPlane } from "../../e2e/faults/shared-plane.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import { History } from "../election/history.fixture.ts";
import { child, configMaps, isReady, sites } from "../fixtures/site.ts";
import { type Running, SiteStage } from "../fixtures/stage.ts";
import { Aborted } from "../kube/errors.ts";
import type { Request } from "./builder.ts";
import { TerminalError } from "./result.ts";

let plane: ControlPlane;

beforeAll(async () => {
  plane = await sharedControlPlane();
});

async function open(name: string): Promise<SiteStage<FaultProxy>> {
  return await SiteStage.open(plane, name, await FaultProxy.start(plane));
}

async function ready({ manager }: Running, count = 1): Promise<void> {
  await eventually("all are ready", 30_000, () => manager.cache.watch(sites).list().filter(isReady).length === count);
}

const complaints = ({ lines }: Running) => lines.filter(({ level }) => level === "error" || level === "warn");
const texts = { verb: "patch", resource: "configmaps" } as const;
const statuses = { verb: "patch", resource: "sites", subresource: "status" } as const;

test.concurrent("a reconcile that hangs is aborted, and its later writes never leave the process", async () => {
  await using stage = await open("zombie");
  await stage.create("x");
  const hanging: Request[] = [];
  const wake = Promise.withResolvers<void>();
  const late = Promise.withResolvers<unknown>();
  const running = stage.run({
    timeoutSeconds: 3,
    before: async (request) => {
      if (hanging.push(request) > 1) return;
      await wake.promise;
      const object = { ...child(await stage.client.get(sites, request.key), "v1", "ConfigMap"), data: { text: "late" } };
      await request.objects.apply(configMaps, object).catch(late.resolve);
    },
  });
  await ready(running);
  expect(hanging[0]?.signal.aborted).toBe(true);
  expect(await running.metrics.text()).toContain('controller_runtime_reconcile_timeouts_total{controller="site"} 1');
  await sleep(1000);
  stage.proxy.resetCounts();
  wake.resolve();
  expect(await late.promise).toBeInstanceOf(Aborted);
  await sleep(500);
  expect(stage.proxy.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  expect((await stage.client.get(configMaps, stage.key("x"))).data).toEqual({ text: "hello" });
});

test.concurrent("a write without an answer ends with its reconcile", async () => {
  await using stage = await open("unanswered");
  await stage.create("x");
  const hold = stage.proxy.hold(texts, 1);
  const running = stage.run({ timeoutSeconds: 3 });
  await ready(running);
  hold.release();
  await sleep(500);
  expect(stage.proxy.requests.filter(({ verb, resource }) => verb === "patch" && resource === "configmaps")).toMatchObject([
    { status: undefined },
    { status: 201 },
  ]);
});

test.concurrent("a busy API server gets the pause that it asks for", async () => {
  await using stage = await open("busy");
  await stage.create("x");
  stage.proxy.answer(texts, failure(429, { headers: { "retry-after": "2" } }), 1);
  const running = stage.run();
  await ready(running);
  const [refused, taken] = stage.proxy.requests.filter(({ verb, resource }) => verb === "patch" && resource === "configmaps");
  expect([refused?.status, taken?.status]).toEqual([429, 201]);
  const waited = (taken?.startedAt ?? 0) - (refused?.endedAt ?? 0);
  expect(waited).toBeGreaterThan(1990);
  expect(waited).toBeLessThan(10_000);
  expect(complaints(running)).toEqual([]);
});

test.concurrent("a conflict is retried without a warning", async () => {
  await using stage = await open("conflict");
  await stage.create("x");
  const fault = stage.proxy.answer(statuses, failure(409), 3);
  const running = stage.run();
  await ready(running);
  expect(fault.hits).toBe(3);
  expect(complaints(running)).toEqual([]);
  expect(await running.metrics.text()).toContain('controller_runtime_reconcile_errors_total{controller="site"} 0');
});

test.concurrent("an error that is no conflict is logged with its step, and the other steps run", async () => {
  await using stage = await open("refused");
  await stage.create("x");
  stage.proxy.answer(texts, failure(500, { message: "no" }), 2);
  const running = stage.run();
  await ready(running);
  const said = complaints(running).map(({ error }) => error?.message);
  expect(said).toEqual(Array(2).fill(expect.stringMatching(/^text: PATCH .*configmaps\/x: no$/)));
  const first = stage.proxy.requests.filter(({ verb }) => verb === "patch").slice(0, 4);
  expect(first.map(({ resource }) => resource)).toEqual(["configmaps", "services", "jobs", "sites"]);
});

test.concurrent("after a terminal error the key waits for a change", async () => {
  await using stage = await open("terminal");
  await stage.create("x", { text: "bad" });
  const running = stage.run({
    before: async ({ key }) => {
      if ((await stage.client.get(sites, key)).spec.text === "bad") throw new TerminalError("bad text");
    },
  });
  await eventually("it was tried", 20_000, () => running.runs.length > 0);
  await sleep(1500);
  expect([running.runs.length, complaints(running).length]).toEqual([1, 1]);
  await stage.client.mergePatch(sites, stage.key("x"), { spec: { text: "good" } });
  await ready(running);
});

test.concurrent("a controller runs as many reconciles at once as it may", async () => {
  await using stage = await open("concurrency");
  for (let index = 0; index < 10; index++) await stage.create(`site-${index}`);
  const hold = stage.proxy.hold(texts);
  const running = stage.run({ maxConcurrentReconciles: 3 });
  await eventually("some are under way", 20_000, () => stage.proxy.inFlight(texts) === 3);
  await sleep(500);
  expect(stage.proxy.inFlight(texts)).toBe(3);
  expect(new Set(running.runs).size).toBe(3);
  hold.release();
  await ready(running, 10);
});

test.concurrent("a status is written once for each change, with the observed generation", async () => {
  await using stage = await open("status");
  const history = new History(stage.client, sites, await stage.create("x"));
  const running = stage.run();
  await ready(running);
  await stage.client.mergePatch(sites, stage.key("x"), { spec: { text: "second" } });
  await eventually("it was seen", 20_000, async () => (await stage.client.get(sites, stage.key("x"))).status?.observedGeneration === 2);
  await sleep(1000);
  history.end();
  expect(stage.proxy.count(statuses)).toBe(2);
  expect(history.states.map(({ metadata, status }) => [metadata.generation, status?.observedGeneration])).toEqual([
    [1, 1],
    [2, 1],
    [2, 2],
  ]);
  const times = history.states.map(({ status }) => status?.conditions[0]?.lastTransitionTime);
  expect(new Set(times).size).toBe(1);
});

test.concurrent("an object that replaced another of its name does not get the other's status", async () => {
  await using stage = await open("replaced");
  await stage.create("x");
  await stage.client.mergePatch(sites, stage.key("x"), { spec: { text: "second" } });
  const hold = stage.proxy.hold(statuses, 1);
  const running = stage.run();
  await eventually("a status is on its way", 20_000, () => hold.hits === 1);
  await stage.client.delete(sites, stage.key("x"));
  const history = new History(stage.client, sites, await stage.create("x"));
  hold.release();
  await eventually("the other has a status", 30_000, () => history.states.some(({ status }) => status !== undefined));
  history.end();
  expect(running.runs.length).toBeGreaterThan(1);
  expect(stage.proxy.requests.find(({ subresource }) => subresource === "status")?.status).toBe(409);
  expect(history.states.filter(({ status }) => status?.observedGeneration === 2)).toEqual([]);
});

test.concurrent("an object that is deleted during its reconcile is no failure", async () => {
  await using stage = await open("gone");
  await stage.create("x");
  const hold = stage.proxy.hold(statuses, 1);
  const running = stage.run();
  await eventually("a status is on its way", 20_000, () => hold.hits === 1);
  await stage.client.delete(sites, stage.key("x"));
  hold.release();
  await eventually("it is known", 20_000, () => running.manager.cache.watch(sites).size === 0);
  await sleep(500);
  expect(complaints(running)).toEqual([]);
});
