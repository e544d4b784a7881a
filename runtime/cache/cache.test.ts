import { expect, onTestFinished, test } from "vitest";
import { FakeClock } from "../fake-clock.fixture.ts";
import type { KubeClient } from "../kube/client.ts";
import { clusterScoped } from "../kube/resource.ts";
import { Cache, type CacheOptions } from "./cache.ts";
import { ScriptedServer } from "./scripted-server.fixture.ts";
import { type Thing, thing, things } from "./thing.fixture.ts";

const clusterThings = clusterScoped<Thing>("test.sampledb.io/v1", "ClusterThing", "clusterthings");

function stage(options: Partial<CacheOptions> = {}) {
  const clock = new FakeClock();
  const server = new ScriptedServer();
  const cache = new Cache({ client: server.client as KubeClient, clock, ...options });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return { clock, server, cache, stop };
}

test("a second watch of a kind returns the same view, and refuses other options", () => {
  const { cache } = stage();
  const cached = cache.watch(things, { labelSelector: "a=b" });
  expect(cache.watch(things)).toBe(cached);
  expect(() => cache.watch(things, { labelSelector: "a=c" })).toThrow("things.test.sampledb.io is watched already");
});

test("kinds that are requested after the start are watched too, and end with the others", async () => {
  const { clock, server, cache, stop } = stage();
  cache.watch(things);
  cache.start(stop.signal);
  cache.watch(clusterThings);
  await clock.advance(0);
  expect(server.watches).toHaveLength(2);
  expect(cache.unsynced()).toEqual(["things.test.sampledb.io", "clusterthings.test.sampledb.io"]);
  for (const watch of server.watches) watch.open().initial(10);
  await cache.synced();
  expect(cache.unsynced()).toEqual([]);
  stop.abort();
  await cache.stopped();
  expect(clock.armed).toBe(0);
});

test("a kind is synced when every namespace is, and has the problem of any namespace", async () => {
  const { clock, server, cache, stop } = stage({ namespaces: ["one", "two"] });
  cache.watch(things);
  cache.start(stop.signal);
  await clock.advance(0);
  server.watches[0]?.open().initial(10, thing("a", { namespace: "one" }));
  server.watches[1]?.end(new Error("not now"));
  await clock.advance(1);
  expect(cache.unsynced()).toEqual(["things.test.sampledb.io (not now)"]);
  expect(cache.watches()).toMatchObject([{ resource: "things.test.sampledb.io", objects: 1 }]);
});

test.each([
  ["none are given", {}, [undefined]],
  ["an empty name is given", { namespaces: ["", "one"] }, [undefined]],
  ["some are given", { namespaces: ["one", "two", "one"] }, ["one", "two"]],
])("namespaces, when %s", async (_, options, expected) => {
  const { clock, server, cache, stop } = stage(options);
  cache.watch(things);
  cache.watch(clusterThings);
  cache.start(stop.signal);
  await clock.advance(0);
  expect(server.watches.map(({ options }) => options.namespace)).toEqual([...expected, undefined]);
});

test("own writes are shown where kind and namespace are watched, and reported only with their event", async () => {
  const { clock, server, cache, stop } = stage({ namespaces: ["one"] });
  const cached = cache.watch(things);
  cache.start(stop.signal);
  await clock.advance(0);
  server.latest.open().initial(10);
  for (const namespace of ["one", "two"]) cache.begin(things, { namespace, name: "a" }).settled(thing("a", { namespace, version: 11 }));
  cache.begin(clusterThings, { namespace: "", name: "a" }).settled(thing("a"));
  expect(cached.list().map(({ metadata }) => metadata.namespace)).toEqual(["one"]);
  const told: string[] = [];
  cached.subscribe(({ type, object }) => told.push(`${type} ${object.metadata.name}`));
  expect(told).toEqual([]);
  server.latest.send("ADDED", thing("a", { namespace: "one", version: 11 }));
  expect(told).toEqual(["added a"]);
});

test("a late subscriber gets the existing objects, as initial", async () => {
  const { clock, server, cache, stop } = stage();
  const cached = cache.watch(things);
  cache.start(stop.signal);
  await clock.advance(0);
  server.latest.open().initial(10, thing("a"), thing("b"));
  const told: unknown[] = [];
  cached.subscribe((change) => told.push([change.type, change.object.metadata.name, change.type === "added" && change.initial]));
  server.latest.send("ADDED", thing("c", { version: 12 }));
  expect(told).toEqual([
    ["added", "a", true],
    ["added", "b", true],
    ["added", "c", false],
  ]);
});
