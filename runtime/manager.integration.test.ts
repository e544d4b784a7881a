// The order in which a manager starts and ends, and which of several leads.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { ControlPlane } from "../e2e/cluster/standalone.ts";
import { failure } from "../e2e/faults/answers.ts";
import { FaultProxy } from "../e2e/faults/fault-proxy.ts";
import { sharedControlPlane } from "../e2e/faults/shared-plane.fixture.ts";
import { eventually } from "../tools/eventually.ts";
import type { Request } from "./controller/builder.ts";
import type { EventContent } from "./controller/events.ts";
import { leases } from "./election/lease.ts";
import type { Timing } from "./election/timing.ts";
import { configMaps, isReady, sites } from "./fixtures/site.ts";
import { type Running, SiteStage } from "./fixtures/stage.ts";
import type { KubeObject } from "./kube/object.ts";
import { namespaced } from "./kube/resource.ts";

let plane: ControlPlane;

beforeAll(async () => {
  plane = await sharedControlPlane();
});

type Stage = SiteStage<FaultProxy>;

async function open(name: string): Promise<Stage> {
  return await SiteStage.open(plane, name, await FaultProxy.start(plane));
}

async function ready({ manager }: Running, count = 1): Promise<void> {
  await eventually("all are ready", 30_000, () => manager.cache.watch(sites).list().filter(isReady).length === count);
}

/** Writes of the controllers: no reads, and no writes of the lease. */
function writes({ proxy }: Stage) {
  return proxy.requests.filter(({ method, resource }) => method !== "GET" && resource !== "leases");
}

async function holder(stage: Stage): Promise<string> {
  return (await stage.client.find(leases, stage.key("election")))?.spec?.holderIdentity ?? "";
}

const events = namespaced<KubeObject & { readonly regarding: KubeObject }>("events.k8s.io/v1", "Event", "events");
const said: EventContent = { type: "Normal", reason: "Made", action: "Make", note: "It is made." };
const forever = new Promise<never>(() => {});
/** On a busy machine, too, the leader renews in time. A lease that is released is taken at the next try, and not when it is over. */
const patient: Timing = { leaseDuration: 25_000, renewDeadline: 20_000, retryPeriod: 500 };

test.concurrent("a manager that is stopped lets its reconciles end, sends their events, then releases the lease", async () => {
  await using stage = await open("order");
  for (const name of ["x", "y", "z"]) await stage.create(name);
  const go = Promise.withResolvers<void>();
  const elector = stage.elector("a");
  stage.proxy.delay({ resource: "events" }, 1500);
  const running = stage.run({
    elector,
    before: async ({ key }) => {
      await go.promise;
      const site = await stage.client.get(sites, key);
      running.manager.events.record(site, said);
    },
  });
  await eventually("one is under way", 20_000, () => running.runs.length === 1);
  const stopped = running.stop();
  await sleep(1000);
  expect([writes(stage), await holder(stage)]).toEqual([[], "a"]);
  go.resolve();
  await stopped;
  expect(running.runs).toEqual(["x"]);
  expect(
    writes(stage)
      .map(({ resource }) => resource)
      .sort(),
  ).toEqual(["configmaps", "events", "jobs", "services", "sites"]);
  const released = stage.proxy.requests.findLast(({ verb, resource }) => verb === "update" && resource === "leases");
  for (const { startedAt } of writes(stage)) expect(startedAt).toBeLessThan(released?.startedAt ?? 0);
  const { items } = await stage.client.list(events, { namespace: stage.namespace });
  expect(items.filter(({ regarding }) => regarding.kind === "Site")).toHaveLength(1); // Kubernetes records events about the Jobs
  expect([await holder(stage), elector.mayWrite()]).toEqual(["", false]);
  await eventually("no watch is left", 5000, () => stage.proxy.inFlight() === 0);
});

test.concurrent("a manager that is stopped aborts a hanging reconcile after the grace period and leaves the lease to expire", async () => {
  await using stage = await open("grace");
  await stage.create("x");
  const requests: Request[] = [];
  const running = stage.run({
    elector: stage.elector("a"),
    graceMilliseconds: 700,
    before: (request) => {
      requests.push(request);
      return forever;
    },
  });
  await eventually("it hangs", 20_000, () => requests.length === 1);
  const begin = performance.now();
  const stopped = running.stop();
  await sleep(300);
  expect(requests[0]?.signal.aborted).toBe(false);
  await stopped;
  expect(performance.now() - begin).toBeGreaterThan(690);
  expect(performance.now() - begin).toBeLessThan(5000);
  expect(requests[0]?.signal.aborted).toBe(true);
  await expect(requests[0]?.client.delete(configMaps, stage.key("x"))).rejects.toThrow(/given up/);
  expect([await holder(stage), writes(stage)]).toEqual(["a", []]);
  expect(running.lines.filter(({ level }) => level === "warn").map(({ msg }) => msg)).toEqual([
    "reconciles did not end in time: the lease is left to expire",
  ]);
});

test.concurrent("a manager that is stopped before it has synced or leads ends at once", async () => {
  await using stage = await open("early");
  await stage.proxy.refuseConnections(true);
  const running = stage.run({ elector: stage.elector("a") });
  await sleep(300);
  await running.stop();
  expect(running.runs).toEqual([]);
  expect(await stage.client.find(leases, stage.key("election"))).toBeUndefined();
});

test.concurrent("a manager that can't read does not stand for election", async () => {
  await using stage = await open("blind");
  await stage.create("x");
  const refusal = stage.proxy.answer({ resource: "jobs" }, failure(403));
  const running = stage.run({ elector: stage.elector("a") });
  await eventually("it was refused", 20_000, () => refusal.hits > 1);
  expect([running.runs, await holder(stage)]).toEqual([[], ""]);
  refusal.remove();
  await ready(running);
  expect(await holder(stage)).toBe("a");
});

test.concurrent("a standby has filled caches, writes nothing, and takes over within about a retry period", async () => {
  await using stage = await open("standby");
  for (let index = 0; index < 10; index++) await stage.create(`site-${index}`);
  const leader = stage.elector("a", patient);
  leader.start();
  await leader.elected;
  const standby = stage.run({ elector: stage.elector("b", patient) });
  await eventually("it has read everything", 20_000, () => standby.manager.cache.watch(sites).size === 10);
  await stage.create("later");
  const depth = /workqueue_depth\{[^}]*\} (\d+)/g;
  await eventually("its queue is full", 20_000, async () => {
    const depths = [...(await standby.metrics.text()).matchAll(depth)].map(([, value]) => Number(value));
    return depths.reduce((sum, value) => sum + value, 0) === 11;
  });
  expect([standby.manager.cache.unsynced(), writes(stage), standby.runs]).toEqual([[], [], []]);
  await leader.release();
  const released = performance.now();
  await ready(standby, 11);
  const first = writes(stage)[0]?.startedAt ?? 0;
  expect(first - released).toBeLessThan(patient.leaseDuration);
  expect(await holder(stage)).toBe("b");
});

test.concurrent.each([
  ["works", async () => {}],
  ["ends", (running: Running) => void running.stop().catch(() => {})],
])("a manager that loses the leadership while it %s aborts its reconciles, writes nothing more, and run rejects", async (doing, before) => {
  await using stage = await open(`lost-while-it-${doing}`);
  for (let index = 0; index < 5; index++) await stage.create(`site-${index}`);
  const requests: Request[] = [];
  const running = stage.run({
    elector: stage.elector("a"),
    graceMilliseconds: 60_000,
    before: async (request) => {
      if (requests.push(request) === 2) await forever;
    },
  });
  await eventually("one is made and another hangs", 20_000, () => requests.length === 2);
  await before(running);
  const fault = stage.proxy.answer({ resource: "leases" }, failure(500));
  await expect(running.ended).rejects.toThrow(/was not renewed within 4 s/);
  expect(fault.hits).toBeGreaterThan(0);
  expect(requests[1]?.signal.reason).toMatchObject({ name: "GivenUp", cause: { name: "LeadershipLost" } });
  const made = writes(stage).length;
  await expect(requests[1]?.client.delete(configMaps, stage.key("x"))).rejects.toThrow();
  running.manager.events.record(await stage.client.get(sites, stage.key("site-0")), said);
  await sleep(1000);
  expect([writes(stage).length, running.runs.length, stage.proxy.inFlight({ verb: "watch" })]).toEqual([made, 2, 0]);
});

test.concurrent("of two managers one leads; the other continues where it ended and repeats nothing", async () => {
  await using stage = await open("two");
  const first = stage.run({ elector: stage.elector("a", patient) });
  await eventually("a leads", 20_000, async () => (await holder(stage)) === "a");
  const second = stage.run({ elector: stage.elector("b", patient) });
  for (let index = 0; index < 10; index++) await stage.create(`site-${index}`);
  await ready(first, 10);
  await ready(second, 10);
  expect([second.runs, writes(stage).length]).toEqual([[], 40]);
  const changing = stage.client.mergePatch(sites, stage.key("site-3"), { spec: { text: "changed" } });
  const begin = performance.now();
  await Promise.all([first.stop(), changing]);
  await eventually("b leads", 20_000, () => second.runs.length > 0);
  expect(performance.now() - begin).toBeLessThan(patient.leaseDuration);
  await ready(second, 10);
  await sleep(1000);
  expect(
    writes(stage)
      .slice(40)
      .map(({ resource, name }) => `${resource} ${name}`),
  ).toEqual(["configmaps site-3", "sites site-3"]);
});
