// API servers and etcds that die, hang and come back: the cache recovers without help.
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startSuiteAlone } from "../../e2e/faults/suite.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import { CacheStage } from "./cache-stage.fixture.ts";
import { configMap, configMaps } from "./mutator.fixture.ts";

const { plane, proxy } = await startSuiteAlone();

const watches = { verb: "watch", resource: "configmaps" } as const;

function lists(): number {
  return proxy.count({ verb: "list", resource: "configmaps" }) + proxy.count({ ...watches, watchList: true });
}

async function openStage(namespace: string, silenceMilliseconds: number): Promise<CacheStage> {
  proxy.resetCounts();
  return await CacheStage.open({ kubeconfig: proxy.kubeconfig, direct: plane.kubeconfig, namespace, silenceMilliseconds });
}

interface Outage {
  readonly name: string;
  readonly make: () => Promise<void>;
  /** Most lists, the first one included. */
  readonly lists: number;
}

const outages: readonly Outage[] = [
  {
    // A restarted API server knows only the versions since its start. Older ones are too old for it as soon as anything was
    // written in between, so every client must list once.
    name: "api-server-killed",
    lists: 2,
    make: async () => {
      await plane.killPart("kube-apiserver");
      await plane.startPart("kube-apiserver");
      await plane.ready();
    },
  },
  {
    name: "api-server-paused",
    lists: 1,
    make: async () => {
      plane.pausePart("kube-apiserver");
      await sleep(4500);
      plane.resumePart("kube-apiserver");
    },
  },
  {
    name: "etcd-killed",
    lists: 2,
    make: async () => {
      await plane.killPart("etcd");
      await sleep(2000);
      await plane.startPart("etcd");
      await plane.ready();
    },
  },
  {
    name: "etcd-paused",
    lists: 2,
    make: async () => {
      plane.pausePart("etcd");
      await sleep(4000);
      plane.resumePart("etcd");
    },
  },
];

test.for(outages)("the cache recovers from the outage $name", async ({ name, make, lists: most }) => {
  await using stage = await openStage(name, 3000);
  stage.start();
  await stage.cache.synced();
  const mutator = stage.mutate();
  await sleep(500);
  await make();
  const { writes } = mutator;
  await eventually("writes are taken again", 20_000, () => mutator.writes > writes + 10);
  const { changes } = stage.recorder;
  await eventually("changes are told again", 20_000, () => stage.recorder.changes > changes + 5);
  await mutator.stop();
  expect(await stage.caughtUp()).toEqual([]);
  console.log(`${name}: ${lists()} lists, ${proxy.count(watches)} watches, ${mutator.writes} writes; ${JSON.stringify(stage.ends)}`);
  expect(lists()).toBeLessThanOrEqual(most);
});

test("after a restore of etcd from a backup, newer objects are reported as removed and new ones are seen", async () => {
  await using stage = await openStage("restored", 2500);
  const [data, backup] = [join(plane.directory, "etcd"), join(plane.directory, "etcd-backup")];
  await stage.others.create(configMaps, configMap("restored", "kept"));
  await plane.killPart("etcd");
  cpSync(data, backup, { recursive: true });
  await plane.startPart("etcd");
  await plane.ready();
  const lost = Array.from({ length: 200 }, (_, i) => configMap("restored", `lost-${i}`));
  await Promise.all(lost.map((object) => stage.others.create(configMaps, object)));
  stage.start();
  await stage.cache.synced();
  expect(stage.configMaps.size).toBeGreaterThan(200);

  for (const part of ["kube-apiserver", "etcd"] as const) await plane.killPart(part);
  rmSync(data, { recursive: true });
  cpSync(backup, data, { recursive: true });
  for (const part of ["etcd", "kube-apiserver"] as const) await plane.startPart(part);
  await plane.ready();
  expect([(await stage.caughtUp(80_000)).slice(0, 3), stage.ends]).toEqual([[], expect.anything()]);
  expect(stage.recorder.removals).toBeGreaterThanOrEqual(200); // plus objects that the controller-manager made late for the namespace
  await stage.others.create(configMaps, configMap("restored", "after"));
  await eventually("it is seen", 5000, () => stage.configMaps.get({ namespace: "restored", name: "after" }) !== undefined);
  console.log(`restored: ${lists()} lists, ${proxy.count(watches)} watches; ${JSON.stringify(stage.ends)}`);
  expect(lists()).toBeLessThanOrEqual(3);
});
