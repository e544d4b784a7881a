// Faults of networks and API servers: the cache recovers soon, loses nothing, reports nothing twice, and makes no needless list.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test, vi } from "vitest";
import type { ControlPlane } from "../../e2e/cluster/standalone.ts";
import { errorEvent, failure } from "../../e2e/faults/answers.ts";
import { FaultProxy } from "../../e2e/faults/fault-proxy.ts";
import { sharedControlPlane } from "../../e2e/faults/shared-plane.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import { CacheStage } from "./cache-stage.fixture.ts";
import { configMap, configMaps } from "./mutator.fixture.ts";

vi.setConfig({ maxConcurrency: 15 }); // these tests mostly wait

let plane: ControlPlane;

beforeAll(async () => {
  plane = await sharedControlPlane();
});

const watches = { verb: "watch", resource: "configmaps" } as const;

function lists(proxy: FaultProxy): number {
  return proxy.count({ verb: "list", resource: "configmaps" }) + proxy.count({ ...watches, watchList: true });
}

interface Scene {
  readonly proxy: FaultProxy;
  readonly stage: CacheStage;
}

async function openScene(namespace: string, silenceMilliseconds?: number): Promise<Scene & AsyncDisposable> {
  const proxy = await FaultProxy.start(plane);
  const silence = silenceMilliseconds === undefined ? {} : { silenceMilliseconds };
  const stage = await CacheStage.open({ kubeconfig: proxy.kubeconfig, direct: plane.kubeconfig, namespace, ...silence });
  return {
    proxy,
    stage,
    [Symbol.asyncDispose]: async () => {
      await stage[Symbol.asyncDispose]();
      await proxy.stop();
    },
  };
}

/** Ends the present watches and gives new ones this answer for so long. */
async function refuseWatches({ proxy }: Scene, answer: ReturnType<typeof failure>, milliseconds: number): Promise<void> {
  proxy.answer(watches, answer);
  proxy.resetConnections();
  await sleep(milliseconds);
  await proxy.heal();
}

interface Fault {
  readonly name: string;
  readonly make: (scene: Scene) => Promise<void>;
  /** Fewest and most lists because of the fault. */
  readonly lists: readonly [number, number];
  readonly silenceMilliseconds?: number;
}

const faults: readonly Fault[] = [
  {
    name: "connections-reset",
    lists: [0, 0],
    make: async ({ proxy }) => {
      for (let round = 0; round < 3; round++) {
        proxy.resetConnections();
        await sleep(1000);
      }
    },
  },
  {
    name: "cut-in-the-middle-of-a-line",
    lists: [0, 0],
    make: async ({ proxy }) => {
      const cut = proxy.cutMiddle(watches, 3);
      await eventually("three were cut", 15_000, () => cut.hits === 3);
    },
  },
  {
    name: "connections-refused",
    lists: [0, 0],
    make: async ({ proxy }) => {
      await proxy.refuseConnections(true);
      proxy.resetConnections();
      await sleep(2500);
      await proxy.refuseConnections(false);
    },
  },
  {
    name: "black-hole",
    lists: [0, 0],
    silenceMilliseconds: 5000, // a busy machine is silent for a second or two, and two silent watches are followed by a list
    make: async ({ proxy }) => {
      proxy.blackHole(true);
      await sleep(500);
      proxy.blackHole(false);
    },
  },
  { name: "410-once", lists: [1, 1], make: ({ proxy }) => once(proxy, failure(410)) },
  { name: "410-once-as-an-event", lists: [1, 1], make: ({ proxy }) => once(proxy, errorEvent(410)) },
  { name: "410-for-6-s", lists: [2, 4], make: (scene) => refuseWatches(scene, failure(410), 6000) },
  { name: "410-as-an-event-for-6-s", lists: [2, 4], make: (scene) => refuseWatches(scene, errorEvent(410), 6000) },
  { name: "500-for-4-s", lists: [0, 0], make: (scene) => refuseWatches(scene, failure(500), 4000) },
  { name: "500-as-an-event-for-4-s", lists: [0, 0], make: (scene) => refuseWatches(scene, errorEvent(500), 4000) },
  {
    name: "403-for-4-s",
    lists: [0, 0],
    make: async (scene) => {
      const refused = refuseWatches(scene, failure(403), 4000);
      await eventually("the cache says why", 3500, () => /Forbidden/.test(scene.stage.cache.watches()[0]?.problem ?? ""));
      await refused;
      await eventually("it says so no more", 15_000, () => scene.stage.cache.watches()[0]?.problem === undefined);
    },
  },
  {
    name: "slow-bytes",
    lists: [0, 0],
    make: async ({ proxy }) => {
      proxy.slow({ bytesPerSecond: 1000 });
      await sleep(4000);
      proxy.slow(undefined);
    },
  },
];

async function once(proxy: FaultProxy, answer: ReturnType<typeof failure>): Promise<void> {
  const fault = proxy.answer(watches, answer, 1);
  proxy.resetConnections();
  await eventually("it was met", 10_000, () => fault.hits === 1);
}

test.concurrent.for(faults)(
  "the cache recovers from the fault $name",
  async ({ name, make, lists: [least, most], silenceMilliseconds }) => {
    await using scene = await openScene(name.replaceAll(/[^a-z0-9]+/g, "-"), silenceMilliseconds);
    const { proxy, stage } = scene;
    stage.start();
    await stage.cache.synced();
    const listed = lists(proxy);
    const mutator = stage.mutate();
    await sleep(500);
    await make(scene);
    const { changes } = stage.recorder;
    await eventually("changes are told again", 20_000, () => stage.recorder.changes > changes + 5);
    await mutator.stop();
    expect(await stage.caughtUp()).toEqual([]);
    console.log(
      `${name}: ${lists(proxy)} lists, ${proxy.count(watches)} watches, ${mutator.writes} writes, ${stage.recorder.changes} changes`,
    );
    expect(lists(proxy) - listed).toBeGreaterThanOrEqual(least);
    expect(lists(proxy) - listed).toBeLessThanOrEqual(most);
    // A list may have brought the last changes, while the next watch has yet to be opened.
    await eventually("no problem is told any more", 15_000, () => stage.cache.watches().every(({ problem }) => problem === undefined));
  },
);

test.concurrent("after a 429 the cache sends no request before Retry-After is over", async () => {
  await using scene = await openScene("too-many");
  const { proxy, stage } = scene;
  stage.start();
  await stage.cache.synced();
  const mutator = stage.mutate();
  await once(proxy, failure(429, { headers: { "retry-after": "4" } }));
  await eventually("it is watched again", 10_000, () => proxy.inFlight(watches) === 1);
  await mutator.stop();
  expect(await stage.caughtUp()).toEqual([]);
  const [, refused, next] = proxy.requests.filter(({ resource }) => resource === "configmaps");
  expect([refused?.status, next?.verb, next?.status]).toEqual([429, "watch", 200]);
  expect((next?.startedAt ?? 0) - (refused?.startedAt ?? 0)).toBeGreaterThan(4000);
  expect(lists(proxy)).toBe(1);
});

test.concurrent("a cache whose connections are black-holed from the start syncs when they work", async () => {
  await using scene = await openScene("black-hole-at-first", 2000);
  const { proxy, stage } = scene;
  const mutator = stage.mutate();
  proxy.blackHole(true);
  stage.start();
  await eventually("it says why", 8000, () => /nothing was heard on the watch for 2 s/.test(stage.cache.unsynced()[0] ?? ""));
  proxy.blackHole(false);
  await stage.cache.synced();
  await mutator.stop();
  expect(await stage.caughtUp()).toEqual([]);
  expect(lists(proxy)).toBeLessThanOrEqual(2);
});

test.concurrent("an object that was deleted during an outage, with a version too old since, is reported as removed once", async () => {
  await using scene = await openScene("deleted-unheard", 2000);
  const { proxy, stage } = scene;
  for (let i = 0; i < 6; i++) await stage.others.create(configMaps, configMap(stage.namespace, `doomed-${i}`));
  stage.start();
  await stage.cache.synced();
  proxy.blackHole(true);
  for (let i = 0; i < 5; i++) await stage.others.delete(configMaps, { namespace: stage.namespace, name: `doomed-${i}` });
  await stage.others.create(configMaps, configMap(stage.namespace, "doomed-4")); // another object of the same name
  const fault = proxy.answer(watches, failure(410), 1);
  proxy.blackHole(false);
  await eventually("the removals are told", 15_000, () => stage.recorder.removals === 4);
  expect(fault.hits).toBe(1);
  expect(await stage.caughtUp()).toEqual([]);
  expect(lists(proxy)).toBe(2);
});
