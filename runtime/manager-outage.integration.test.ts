// Convergence when the API server is killed while objects change, and comes back.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StandaloneControlPlane } from "../e2e/cluster/standalone.ts";
import { FaultProxy } from "../e2e/faults/fault-proxy.ts";
import { eventually, eventuallySucceeds } from "../tools/eventually.ts";
import { configMaps, isReady, jobs, services, sites } from "./fixtures/site.ts";
import { SiteStage } from "./fixtures/stage.ts";

let plane: StandaloneControlPlane;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
});

afterAll(() => plane.stop());

const count = 50;

test("the API server is killed while fifty Sites change: all converge after it is back, with few lists", async () => {
  await using stage = await SiteStage.open(plane, "outage", await FaultProxy.start(plane));
  for (let index = 0; index < count; index++) await stage.create(`site-${index}`);
  const { manager, runs } = stage.run({ maxConcurrentReconciles: 4 });
  const cached = manager.cache.watch(sites);
  await eventually("all are ready", 60_000, () => cached.list().filter(isReady).length === count);
  stage.proxy.resetCounts();

  const changing = Array.from({ length: count }, async (_, index) => {
    await sleep(index * 20);
    const change = () => stage.client.mergePatch(sites, stage.key(`site-${index}`), { spec: { text: "changed" } }, { deadline: 5000 });
    await eventuallySucceeds(`site-${index} is changed`, 90_000, change);
  });
  await sleep(count * 10);
  await plane.killPart("kube-apiserver");
  await sleep(2000);
  await plane.startPart("kube-apiserver");
  await plane.ready();
  await Promise.all(changing);
  await eventually("all are ready again", 90_000, () => {
    return cached.list().filter((site) => isReady(site) && site.metadata.generation === 2).length === count;
  });

  const text = ({ data }: { data?: { [key: string]: string } }) => data?.["text"];
  const { items } = await stage.client.list(configMaps, { namespace: stage.namespace, labelSelector: "site" });
  expect(items.map(text)).toEqual(Array(count).fill("changed"));
  expect((await stage.client.list(services, { namespace: stage.namespace })).items).toHaveLength(count);
  expect((await stage.client.list(jobs, { namespace: stage.namespace })).items).toHaveLength(count);

  // Watches resume from their last version. A kind is listed again, once, only if the restarted server has forgotten that version.
  const { proxy } = stage;
  const lists = proxy.count({ verb: "list" }) + proxy.count({ verb: "watch", watchList: true });
  expect(lists).toBeLessThanOrEqual(6);
  expect(proxy.count({ verb: "watch" })).toBeLessThan(60);

  const before = runs.length;
  proxy.resetCounts();
  await sleep(2000);
  expect(proxy.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  expect(runs.length - before).toBeLessThan(count);
});
