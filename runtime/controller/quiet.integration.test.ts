// A converged set causes no requests but its watches.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { ControlPlane } from "../../e2e/cluster/standalone.ts";
import { FaultProxy } from "../../e2e/faults/fault-proxy.ts";
import { sharedControlPlane } from "../../e2e/faults/shared-plane.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import { isReady, sites } from "../fixtures/site.ts";
import { type RunOptions, SiteStage } from "../fixtures/stage.ts";

let plane: ControlPlane;

beforeAll(async () => {
  plane = await sharedControlPlane();
});

const count = 20;

/** All requests within a minute, after everything has settled. */
async function requestsOfAMinute(name: string, options: (stage: SiteStage<FaultProxy>) => RunOptions): Promise<string[]> {
  await using stage = await SiteStage.open(plane, name, await FaultProxy.start(plane));
  for (let index = 0; index < count; index++) await stage.create(`site-${index}`);
  const { manager, runs } = stage.run(options(stage));
  await eventually("all are ready", 60_000, () => manager.cache.watch(sites).list().filter(isReady).length === count);
  await sleep(3000); // Kubernetes' controllers still write to the Jobs and Services
  stage.proxy.resetCounts();
  const before = runs.length;
  await sleep(60_000);
  expect(runs.length).toBe(before);
  return stage.proxy.requests.filter(({ verb }) => verb !== "watch").map(({ verb, resource }) => `${verb} ${resource}`);
}

test.concurrent("a converged set causes no request for a minute", async () => {
  expect(await requestsOfAMinute("quiet", () => ({}))).toEqual([]);
});

test.concurrent("a converged set with an election causes renewals of the lease and no other request", async () => {
  const timing = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2000 };
  const requests = await requestsOfAMinute("quiet-leader", (stage) => ({ elector: stage.elector("a", timing) }));
  expect([...new Set(requests)]).toEqual(["update leases"]);
  expect(requests.length).toBeGreaterThan(20);
  expect(requests.length).toBeLessThan(32);
});
