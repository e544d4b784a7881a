// Readers see their own writes at once, whenever the watch brings them, and the writes of others once the watch has.
import { beforeAll, expect, test, vi } from "vitest";
import type { ControlPlane } from "../../e2e/cluster/standalone.ts";
import { FaultProxy } from "../../e2e/faults/fault-proxy.ts";
import { sharedControlPlane } from "../../e2e/faults/shared-plane.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import { type Site, site, siteDefinition, sites } from "../fixtures/site.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Key } from "../kube/object.ts";
import { clusterScoped } from "../kube/resource.ts";
import type { Cached } from "./cache.ts";
import { CacheStage } from "./cache-stage.fixture.ts";

vi.setConfig({ maxConcurrency: 10 }); // these tests mostly wait

let plane: ControlPlane;
const definitions = clusterScoped("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions");

beforeAll(async () => {
  plane = await sharedControlPlane();
  const proxy = await FaultProxy.start(plane);
  await using stage = await CacheStage.open({ kubeconfig: proxy.kubeconfig, direct: plane.kubeconfig, namespace: "setup" });
  await stage.others.apply(definitions, siteDefinition as never); // a file before may have made it
  await eventually("sites are served", 10_000, () => stage.others.serves(sites));
  await proxy.stop();
});

const finalizer = "test.sampledb.io/wait";
const finalized = (namespace: string): Site => {
  const object = site("a", "first", namespace);
  return { ...object, metadata: { ...object.metadata, finalizers: [finalizer] } };
};
const status = { observedGeneration: 7, conditions: [] };

interface Case {
  readonly name: string;
  /** Written by others before, and known to the cache. */
  readonly before?: (namespace: string) => Site;
  readonly write: (client: KubeClient, key: Key) => Promise<unknown>;
  /** What a reader gets right after the write; undefined if nothing. */
  readonly reads: object | undefined;
}

const first = (namespace: string) => site("a", "first", namespace);

const cases: readonly Case[] = [
  { name: "create", write: (client, { namespace }) => client.create(sites, site("a", "own", namespace)), reads: { spec: { text: "own" } } },
  {
    name: "apply",
    before: first,
    write: (client, { namespace }) => client.apply(sites, site("a", "own", namespace)),
    reads: { spec: { text: "own" } },
  },
  {
    name: "patch",
    before: first,
    write: (client, key) => client.mergePatch(sites, key, { spec: { text: "own" } }),
    reads: { spec: { text: "own" } },
  },
  {
    name: "replace",
    before: first,
    write: async (client, key) => client.replace(sites, { ...(await client.get(sites, key)), spec: { text: "own" } }),
    reads: { spec: { text: "own" } },
  },
  {
    name: "status",
    before: first,
    write: (client, key) => client.mergePatch(sites, key, { status }, { subresource: "status" }),
    reads: { status },
  },
  { name: "delete", before: first, write: (client, key) => client.delete(sites, key), reads: undefined },
  {
    name: "delete-with-finalizer",
    before: finalized,
    write: (client, key) => client.delete(sites, key),
    reads: { metadata: { deletionTimestamp: expect.any(String) } },
  },
  {
    name: "last-finalizer",
    before: finalized,
    write: async (client, key) => {
      await client.delete(sites, key);
      await client.mergePatch(sites, key, { metadata: { finalizers: null } });
    },
    reads: undefined,
  },
  {
    name: "create-and-delete",
    write: async (client, key) => {
      await client.create(sites, site("a", "own", key.namespace));
      await client.delete(sites, key);
    },
    reads: undefined,
  },
  {
    name: "delete-and-create",
    before: first,
    write: async (client, key) => {
      await client.delete(sites, key);
      await client.create(sites, site("a", "own", key.namespace));
    },
    reads: { spec: { text: "own" } },
  },
];

const watching = { verb: "watch", resource: "sites" } as const;

test.concurrent.for(cases)("a reader sees its own write: $name", async ({ name, before, write, reads }, { expect }) => {
  const proxy = await FaultProxy.start(plane);
  await using stage = await CacheStage.open({ kubeconfig: proxy.kubeconfig, direct: plane.kubeconfig, namespace: name });
  const cached: Cached<Site> = stage.cache.watch(sites);
  const key = { namespace: name, name: "a" };
  if (before) await stage.others.create(sites, before(name));
  stage.start();
  await stage.cache.synced();
  const check = (when: string) => {
    if (reads) expect(cached.get(key), when).toMatchObject(reads);
    else expect(cached.get(key), when).toBeUndefined();
    expect(cached.list().length, when).toBe(reads ? 1 : 0);
  };

  // The watch resumes when the test allows it; until then it brings nothing.
  const held = proxy.hold(watching);
  proxy.resetConnections();
  await eventually("the watch is held", 5000, () => held.hits > 0);
  await write(stage.client, key);
  check("before the event");
  held.release();
  await eventually("the watch is back", 5000, () => stage.cache.watches().every(({ problem }) => problem === undefined));

  // A later write of another client is seen: the own write does not hide it.
  if (reads) await stage.others.mergePatch(sites, key, { metadata: { labels: { other: "yes" } } });
  else await stage.others.create(sites, site("b", "after", name));
  const told = () => (reads ? cached.get(key)?.metadata.labels?.["other"] === "yes" : cached.get({ ...key, name: "b" }) !== undefined);
  await eventually("the watch has caught up", 5000, told);
  if (reads) check("after the event");
  else expect(cached.list().map(({ metadata }) => metadata.name)).toEqual(["b"]);

  // The event is about as fast as the answer, as nearly always; afterwards another object may have the name.
  await write(stage.client, key).catch(() => undefined);
  await stage.others.mergePatch(sites, key, { metadata: { finalizers: null } }).catch(() => undefined);
  await stage.others.delete(sites, key).catch(() => undefined);
  await stage.others.create(sites, site("a", "another", name));
  await eventually("another is seen", 5000, () => cached.get(key)?.spec.text === "another");
  const lists = proxy.requests.filter(({ resource, watchList, status }) => resource === "sites" && watchList && status === 200);
  expect(lists.length, JSON.stringify(stage.ends)).toBe(1);
  await stage[Symbol.asyncDispose]();
  await proxy.stop();
});
