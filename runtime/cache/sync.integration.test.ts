// The content of a cache once it is synced, by each way to get there.
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { V1ConfigMap } from "@kubernetes/client-node";
import { beforeEach, expect, test } from "vitest";
import { failure } from "../../e2e/faults/answers.ts";
import { startSuiteAlone } from "../../e2e/faults/suite.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import { site, siteDefinition, sites } from "../fixtures/site.ts";
import type { Model } from "../kube/object.ts";
import { clusterScoped } from "../kube/resource.ts";
import type { WatchedKind } from "./cache.ts";
import { CacheStage } from "./cache-stage.fixture.ts";
import { configMap, configMaps } from "./mutator.fixture.ts";

const { plane, proxy } = await startSuiteAlone();

beforeEach(async () => {
  await proxy.heal();
  proxy.resetCounts();
});

const lists = { verb: "list", resource: "configmaps" } as const;
const watches = { verb: "watch", resource: "configmaps" } as const;

async function openStage(namespace: string, watched?: WatchedKind<Model<V1ConfigMap>>): Promise<CacheStage> {
  return await CacheStage.open({ kubeconfig: proxy.kubeconfig, direct: plane.kubeconfig, namespace, ...(watched ? { watched } : {}) });
}

function names(stage: CacheStage): string[] {
  const made = stage.configMaps.list().map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  return made.filter((name) => !name.endsWith("/kube-root-ca.crt")).sort();
}

test("5,000 objects sync by one stream, or in pages where the server refuses it, and the event loop is not blocked", async () => {
  const stage = await openStage("many");
  const text = "x".repeat(1000);
  let next = 0;
  const make = async () => {
    while (next < 5000) await stage.others.create(configMaps, configMap("many", `many-${next++}`, { text }));
  };
  await Promise.all(Array.from({ length: 32 }, make));

  for (const way of ["WatchList", "LIST"]) {
    await using one = way === "WatchList" ? stage : await openStage("many-again", { namespaces: ["many"] });
    proxy.resetCounts();
    if (way === "LIST") proxy.answer({ ...watches, watchList: true }, failure(422));
    const lag = monitorEventLoopDelay({ resolution: 1 });
    lag.enable();
    const begin = performance.now();
    one.start();
    await one.cache.synced();
    const took = performance.now() - begin;
    lag.disable();
    console.log(`${way}: ${Math.round(took)} ms; lag p99 ${lag.percentile(99) / 1e6} ms, most ${lag.max / 1e6} ms`);
    expect(one.configMaps.size).toBeGreaterThanOrEqual(5000);
    expect(names(one)).toHaveLength(5000);
    expect(proxy.count(lists)).toBe(way === "LIST" ? 11 : 0); // pages of 500
    expect(proxy.count({ ...watches, watchList: true })).toBe(1);
    expect(lag.percentile(99) / 1e6).toBeLessThan(2000);
    expect(one.recorder.mistakes).toEqual([]);
    if (way === "LIST") {
      await one.others.delete(configMaps, { namespace: "many", name: "many-7" });
      await eventually(
        "the watch goes on from the list",
        5000,
        () => one.configMaps.get({ namespace: "many", name: "many-7" }) === undefined,
      );
      expect(proxy.count(lists)).toBe(11);
    } else expect(await one.caughtUp()).toEqual([]);
  }
});

test("two namespaces have two watches and one store, without objects of others", async () => {
  await using stage = await openStage("one", { namespaces: ["one", "two", "two"] });
  for (const namespace of ["two", "three"]) await stage.createNamespace(namespace);
  for (const namespace of ["one", "two", "three"]) await stage.others.create(configMaps, configMap(namespace, "before"));
  stage.start();
  await stage.cache.synced();
  for (const namespace of ["one", "two", "three"]) await stage.others.create(configMaps, configMap(namespace, "after"));
  await stage.client.create(configMaps, configMap("three", "own"));
  await eventually("both are told", 5000, () => names(stage).length === 4);
  expect(names(stage)).toEqual(["one/after", "one/before", "two/after", "two/before"]);
  expect(stage.configMaps.list("two").map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(["before", "after"]));
  expect([proxy.count(watches), proxy.inFlight(watches)]).toEqual([2, 2]);
});

test("an object that leaves the selection is reported as removed, one that enters it as added", async () => {
  await using stage = await openStage("selected", { labelSelector: "color in (red),!hidden", fieldSelector: "metadata.name!=never" });
  const { others, namespace } = stage;
  const told: string[] = [];
  for (const name of ["in", "never"]) await others.create(configMaps, configMap(namespace, name, {}, { color: "red" }));
  await others.create(configMaps, configMap(namespace, "out", {}, { color: "blue" }));
  stage.configMaps.subscribe(({ type, object }) => told.push(`${type} ${object.metadata.name}`));
  stage.start();
  await stage.cache.synced();
  expect(names(stage)).toEqual(["selected/in"]);
  await others.mergePatch(configMaps, { namespace, name: "out" }, { metadata: { labels: { color: "red" } } });
  await others.mergePatch(configMaps, { namespace, name: "in" }, { metadata: { labels: { color: null } } });
  await eventually("both are told", 5000, () => told.length === 3);
  expect(told).toEqual(["added in", "added out", "removed in"]);

  // An own write that is not selected is not shown, not even for a moment.
  await stage.client.create(configMaps, configMap(namespace, "own", {}, { color: "blue" }));
  await stage.client.mergePatch(configMaps, { namespace, name: "out" }, { metadata: { labels: { hidden: "yes" } } });
  expect(names(stage)).toEqual([]);
  await stage.client.mergePatch(configMaps, { namespace, name: "own" }, { metadata: { labels: { color: "red" } } });
  expect(names(stage)).toEqual(["selected/own"]);
  await eventually("the watch has brought it", 5000, () => told.length === 5);
  expect(told.slice(3)).toEqual(["removed out", "added own"]);
});

test("a kind that does not exist yet is reported with the reason, and syncs once it exists", async () => {
  await using stage = await openStage("not-yet");
  const cached = stage.cache.watch(sites);
  stage.start();
  await eventually("it says why", 10_000, () => stage.cache.unsynced().some((text) => /^sites\.test\.sampledb\.io \(.*\)$/.test(text)));
  let synced = false;
  void stage.cache.synced().then(() => {
    synced = true;
  });
  const definitions = clusterScoped("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions");
  await stage.others.create(definitions, siteDefinition as never);
  await eventually("it is served", 10_000, () => stage.others.serves(sites));
  expect(synced).toBe(false);
  await stage.others.create(sites, site("home", "hello", "not-yet"));
  await eventually("it is there", 30_000, () => cached.get({ namespace: "not-yet", name: "home" })?.spec.text === "hello");
  await eventually("and synchronized", 1000, () => synced);
  expect(stage.cache.unsynced()).toEqual([]);
});

test("a handler, an index or a trim that throws does not disturb other readers", async () => {
  const broken = ({ data }: { data?: Record<string, string> }): never => {
    throw new Error(`broken by ${data?.["text"]}`);
  };
  const only = ({ data, ...rest }: Model<V1ConfigMap>) =>
    data?.["text"] === "odd" ? broken({ data }) : { ...rest, data: { text: "trimmed" } };
  const index = ({ metadata, data }: Model<V1ConfigMap>) => (data?.["text"] === "odd" ? broken({ data }) : [metadata.name]);
  await using stage = await openStage("broken", { trim: only, indexes: { name: index } });
  stage.configMaps.subscribe(({ object }) => broken(object));
  const told: string[] = [];
  stage.configMaps.subscribe(({ type, object }) => told.push(`${type} ${object.metadata.name}`));
  stage.start();
  await stage.cache.synced();
  for (const name of ["odd", "even"]) await stage.others.create(configMaps, configMap("broken", name, { text: name }));
  await eventually("both are told", 5000, () => told.includes("added even"));
  expect(told).toContain("added odd");
  expect(stage.configMaps.listBy("name", "even")).toMatchObject([{ data: { text: "trimmed" } }]);
  expect(stage.configMaps.get({ namespace: "broken", name: "odd" })).toMatchObject({ data: { text: "odd" } });
  const { metadata } = stage.configMaps.get({ namespace: "broken", name: "even" }) ?? {};
  expect(metadata).not.toHaveProperty("managedFields", expect.anything());
  expect(stage.failures).toEqual(
    expect.arrayContaining(["configmaps broken/odd: broken by odd", "configmaps broken/even: broken by trimmed"]),
  );
  expect([proxy.count(watches), stage.ends]).toEqual([1, []]);
});

test("a stopped cache ends at once and sends no more requests", async () => {
  await using stage = await openStage("stopping");
  stage.start();
  await stage.cache.synced();
  const begin = performance.now();
  await stage.end();
  expect(performance.now() - begin).toBeLessThan(5000);
  await eventually("the watch is closed", 1000, () => proxy.inFlight(watches) === 0);
  expect(proxy.count(watches)).toBe(1);
});
