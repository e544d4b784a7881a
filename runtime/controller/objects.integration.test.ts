// The writes of `Objects` on a real API server, counted at a proxy.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { ControlPlane } from "../../e2e/cluster/standalone.ts";
import { FaultProxy } from "../../e2e/faults/fault-proxy.ts";
import { sharedControlPlane } from "../../e2e/faults/shared-plane.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import { child, configMaps, isReady, jobs, type Site, services, sites } from "../fixtures/site.ts";
import { type Running, SiteStage } from "../fixtures/stage.ts";
import { Conflict } from "../kube/errors.ts";
import { controlledBy, type KubeObject, keyOf } from "../kube/object.ts";
import { ControllerBuilder } from "./builder.ts";
import { wanted } from "./kept.ts";
import { awaitChange } from "./result.ts";

let plane: ControlPlane;

beforeAll(async () => {
  plane = await sharedControlPlane();
});

type Stage = SiteStage<FaultProxy>;

async function open(name: string): Promise<Stage> {
  return await SiteStage.open(plane, name, await FaultProxy.start(plane));
}

/** Writes since the last reset, `patch configmaps`. */
function writes({ proxy }: Stage): string[] {
  return proxy.requests.filter(({ method }) => method !== "GET").map(({ verb, resource }) => `${verb} ${resource}`);
}

async function ready({ manager }: Running, count = 1): Promise<void> {
  await eventually("all are ready", 60_000, () => manager.cache.watch(sites).list().filter(isReady).length === count);
}

/** Long enough for a write to come back on the watch and to be reconciled. */
async function echoed(): Promise<void> {
  await sleep(1500);
}

test.concurrent("a hundred Sites cost four writes each, even while the watches lag far behind; a restart costs none", async () => {
  await using stage = await open("fleet");
  const count = 100;
  for (let index = 0; index < count; index++) await stage.create(`site-${index}`);
  stage.proxy.slow({ bytesPerSecond: 60_000 });
  const first = stage.run({ maxConcurrentReconciles: 8 });
  await ready(first, count);
  expect(first.manager.cache.watch(jobs).size).toBeLessThan(count);
  await stage.proxy.heal();
  await eventually("the watches have caught up", 60_000, () => first.manager.cache.watch(jobs).size === count);
  await echoed();
  const expected = ["patch configmaps", "patch jobs", "patch services", "patch sites"].flatMap((write) => Array(count).fill(write));
  expect(writes(stage).sort()).toEqual(expected);
  expect(first.runs.length).toBeGreaterThan(count);
  await first.stop();

  stage.proxy.resetCounts();
  const second = stage.run({ maxConcurrentReconciles: 8 });
  await eventually("all were looked at", 30_000, () => new Set(second.runs).size === count);
  await echoed();
  expect(writes(stage)).toEqual([]);
});

test.concurrent("drift is repaired with one write; additions of others stay, and objects that are no longer wanted go", async () => {
  await using stage = await open("drift");
  await stage.create("x", { note: "for now" });
  const running = stage.run();
  await ready(running);
  await echoed();
  const key = stage.key("x");
  const find = () => stage.client.find(configMaps, key);
  const mended = async (what: string, isMended: (object: Awaited<ReturnType<typeof find>>) => boolean, expected: string[]) => {
    await eventually(what, 20_000, async () => isMended(await find()));
    await echoed();
    expect(writes(stage)).toEqual(expected);
    stage.proxy.resetCounts();
  };

  stage.proxy.resetCounts();
  await stage.client.mergePatch(configMaps, key, { data: { text: "drifted" } });
  await mended("a change is mended", (object) => object?.data?.["text"] === "hello", ["patch configmaps"]);

  const before = await find();
  await stage.client.delete(configMaps, key);
  await mended("a deletion is mended", (object) => object !== undefined && object.metadata.uid !== before?.metadata.uid, [
    "patch configmaps",
  ]);

  await stage.client.mergePatch(configMaps, key, { data: { theirs: "stays" }, metadata: { labels: { theirs: "stays" } } });
  await stage.client.mergePatch(services, key, { spec: { selector: { narrower: "yes" } } });
  await eventually("the selector is mended", 20_000, async () => {
    return (await stage.client.get(services, key)).spec?.selector?.["narrower"] === undefined;
  });
  await mended("what others add stays", (object) => object?.data?.["theirs"] === "stays", ["patch services"]);

  await stage.client.mergePatch(sites, key, { spec: { note: null } });
  await mended("the note is gone", (object) => object?.data?.["note"] === undefined, ["patch configmaps", "patch sites"]);
  expect((await find())?.data).toEqual({ text: "hello", theirs: "stays" });
});

test.concurrent("objects that follow from a cause are built again only when the cause or an object has changed", async () => {
  await using stage = await open("kept");
  await stage.create("x");
  const key = stage.key("x");
  let builds = 0;
  const build = (site: Site) => {
    builds++;
    return [wanted(configMaps, { ...child(site, "v1", "ConfigMap"), data: { text: site.spec.text } })];
  };
  const running = stage.run({
    define: ({ cache }) =>
      ControllerBuilder.for("kept", sites)
        .owns(configMaps)
        .reconcile(async ({ key, objects }) => {
          const site = cache.watch(sites).get(key);
          if (site) await objects.keep(site, "text", site.spec.text, () => build(site));
          return awaitChange;
        }),
  });
  const text = async () => (await stage.client.find(configMaps, key))?.data?.["text"];
  const becomes = async (wish: string) => {
    await eventually(`the text is ${wish}`, 20_000, async () => (await text()) === wish);
    await echoed();
  };
  await becomes("hello");
  const [runs, once] = [running.runs.length, builds];
  await stage.client.mergePatch(sites, key, { metadata: { labels: { touched: "yes" } } });
  await eventually("it was looked at again", 20_000, () => running.runs.length > runs);
  await echoed();
  expect(builds).toBe(once);

  await stage.client.mergePatch(configMaps, key, { data: { text: "drifted" } });
  await becomes("hello");
  await stage.client.delete(configMaps, key);
  await becomes("hello");
  await stage.client.mergePatch(sites, key, { spec: { text: "bye" } });
  await becomes("bye");
  expect(builds).toBeGreaterThanOrEqual(once + 3);
});

test.concurrent("a state that the API server stores in another form is written again only after a change or a restart", async () => {
  await using stage = await open("settled");
  await stage.create("x");
  const odd = (site: Site) => ({ ...child(site, "v1", "Service"), spec: { clusterIP: "", ports: [{ port: 80 }] } });
  const run = () =>
    stage.run({
      define: ({ cache }) =>
        ControllerBuilder.for("odd", sites)
          .owns(services)
          .reconcile(async ({ key, objects }) => {
            const site = cache.watch(sites).get(key);
            if (!site) return awaitChange;
            await objects.apply(services, odd(site));
            await objects.applyStatus(sites, site, { observedGeneration: 1, conditions: [], filled: {} });
            return awaitChange;
          }),
    });
  const running = run();
  await eventually("it is there", 20_000, () => stage.client.find(services, stage.key("x")));
  await echoed();
  for (let index = 0; index < 3; index++) {
    const before = running.runs.length;
    await stage.client.mergePatch(sites, stage.key("x"), { metadata: { labels: { touched: String(index) } } });
    await eventually("it was looked at again", 20_000, () => running.runs.length > before);
  }
  await stage.client.mergePatch(services, stage.key("x"), { status: { loadBalancer: {} } }, { subresource: "status" });
  await echoed();
  expect(writes(stage)).toEqual(["patch services", "patch sites"]);
  await stage.client.mergePatch(services, stage.key("x"), { metadata: { labels: { theirs: "x" } } });
  await echoed();
  expect(writes(stage)).toEqual(["patch services", "patch sites", "patch services"]);

  await running.stop();
  stage.proxy.resetCounts();
  run();
  await eventually("it was looked at", 20_000, () => writes(stage).length === 2);
  await echoed();
  expect(writes(stage)).toEqual(["patch services", "patch sites"]);
});

test.concurrent("an existing object that another owner or none controls is left alone", async () => {
  await using stage = await open("occupied");
  const metadata = { ...stage.key("x"), labels: { whose: "theirs" } };
  const theirs = await stage.client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data: { text: "theirs" } });
  const ownerReferences = [controlledBy(theirs)];
  const service = await stage.client.create(services, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { ...metadata, ownerReferences },
    spec: { ports: [{ port: 1 }] },
  });
  await stage.create("x");
  const running = stage.run();
  const reasons = () => running.lines.flatMap(({ error }) => error?.message ?? []);
  await eventually("it failed for both", 20_000, () => new Set(reasons()).size === 2);
  expect([...new Set(reasons())].sort()).toEqual([
    `service: Service ${stage.namespace}/x is there already and not controlled by Site x`,
    `text: ConfigMap ${stage.namespace}/x is there already and not controlled by Site x`,
  ]);
  await stage.client.mergePatch(sites, stage.key("x"), { spec: { serve: false } });
  await eventually("it was seen", 20_000, async () => (await stage.client.get(sites, stage.key("x"))).status?.observedGeneration === 2);
  const unchanged = async (object: KubeObject, now: KubeObject) =>
    expect(now.metadata.resourceVersion).toBe(object.metadata.resourceVersion);
  await unchanged(theirs, await stage.client.get(configMaps, stage.key("x")));
  await unchanged(service, await stage.client.get(services, stage.key("x")));

  await stage.client.delete(configMaps, keyOf(theirs));
  await ready(running);
});

test.concurrent("an object that follows from its own last state is written onto that version only", async () => {
  await using stage = await open("onto");
  await stage.create("x");
  const texts: (string | undefined)[] = [];
  const running = stage.run({
    define: ({ cache }) =>
      ControllerBuilder.for("onto", sites)
        .owns(configMaps)
        .reconcile(async ({ key, objects }) => {
          const site = cache.watch(sites).get(key);
          if (!site || texts.length > 0) return awaitChange;
          const write = (text: string, onto?: string) =>
            objects.apply(configMaps, { ...child(site, "v1", "ConfigMap"), data: { text } }, onto);
          const first = await write("first");
          const second = await write("second", first.metadata.resourceVersion);
          const behind = await write("third", first.metadata.resourceVersion).catch((error: unknown) => error);
          const third = await write("third", second.metadata.resourceVersion);
          texts.push(
            first.data?.["text"],
            second.data?.["text"],
            behind instanceof Conflict ? "conflict" : "written",
            third.data?.["text"],
          );
          return awaitChange;
        }),
  });
  await eventually("it has written", 20_000, () => texts.length > 0);
  expect(texts).toEqual(["first", "second", "conflict", "third"]);
  await running.stop();
});

test.concurrent("the owner's object that is not wanted is deleted, once", async () => {
  await using stage = await open("removed");
  await stage.create("x");
  const running = stage.run();
  await ready(running);
  await echoed();
  stage.proxy.resetCounts();
  await stage.client.mergePatch(sites, stage.key("x"), { spec: { serve: false } });
  await eventually("it is gone", 20_000, async () => (await stage.client.find(services, stage.key("x"))) === undefined);
  await echoed();
  expect(writes(stage)).toEqual(["delete services", "patch sites"]);
  expect(running.lines.filter(({ level }) => level === "error")).toEqual([]);
});
