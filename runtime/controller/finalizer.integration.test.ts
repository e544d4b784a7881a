// The guarantees of `withFinalizer`, one by one.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { ControlPlane } from "../../e2e/cluster/standalone.ts";
import { failure } from "../../e2e/faults/answers.ts";
import { FaultProxy } from "../../e2e/faults/fault-proxy.ts";
import { sharedControlPlane } from "../../e2e/faults/shared-plane.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import { History } from "../election/history.fixture.ts";
import { configMaps, type Site, sites } from "../fixtures/site.ts";
import { type Running, SiteStage } from "../fixtures/stage.ts";
import { ControllerBuilder } from "./builder.ts";
import { finished, withFinalizer } from "./finalizer.ts";
import { after, awaitChange, type Result } from "./result.ts";

let plane: ControlPlane;

beforeAll(async () => {
  plane = await sharedControlPlane();
});

type Stage = SiteStage<FaultProxy>;
type Cleanup = (object: Site) => Promise<Result | typeof finished>;

const ours = "test.sampledb.io/cleanup";
const theirs = "test.sampledb.io/theirs";
const patches = { verb: "patch", resource: "sites" } as const;

async function open(name: string): Promise<Stage> {
  return await SiteStage.open(plane, name, await FaultProxy.start(plane));
}

/** A controller whose side effect is a ConfigMap without an owner, which only its cleanup deletes. */
function run(stage: Stage, cleanup: Cleanup = async () => finished): Running {
  return stage.run({
    define: ({ cache }) =>
      ControllerBuilder.for("finalized", sites).reconcile(async ({ key, client }) => {
        const object = cache.watch(sites).get(key);
        if (!object) return awaitChange;
        const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: key };
        const reconcile = async () => {
          await client.apply(configMaps, configMap);
          return awaitChange;
        };
        return await withFinalizer({ client, resource: sites, object, finalizer: ours, reconcile, cleanup });
      }),
  });
}

const finalizers = ({ states }: History<Site>) => states.map(({ metadata }) => metadata.finalizers ?? []);
const errors = ({ lines }: Running) => lines.filter(({ level }) => level === "error").map(({ error }) => error?.message);

async function gone(stage: Stage, name = "x"): Promise<void> {
  await eventually("it is gone", 20_000, async () => (await stage.client.find(sites, stage.key(name))) === undefined);
}

test.concurrent("the finalizer is on the object before the first side effect, and finalizers of others stay", async () => {
  await using stage = await open("before");
  const history = new History(stage.client, sites, await stage.create("x", {}, { finalizers: [theirs] }));
  const running = run(stage);
  const effect = await eventually("there is an effect", 20_000, () => stage.client.find(configMaps, stage.key("x")));
  await eventually("it is known", 20_000, () => history.states.length > 0);
  expect(finalizers(history)).toEqual([[theirs, ours]]);
  expect(BigInt(history.states[0]?.metadata.resourceVersion ?? 0)).toBeLessThan(BigInt(effect.metadata.resourceVersion ?? 0));

  await stage.client.delete(sites, stage.key("x"));
  await eventually("ours is off", 20_000, () => finalizers(history).at(-1)?.length === 1);
  await sleep(500);
  expect(finalizers(history)).toEqual([[theirs, ours], [theirs, ours], [theirs]]);
  await stage.client.mergePatch(sites, stage.key("x"), { metadata: { finalizers: null } });
  await gone(stage);
  expect(errors(running)).toEqual([]);
  history.end();
});

test.concurrent("without the finalizer on the object there is no side effect", async () => {
  await using stage = await open("refused");
  await stage.create("x");
  const fault = stage.proxy.answer(patches, failure(500, { message: "no" }));
  run(stage);
  await eventually("it was tried", 20_000, () => fault.hits > 3);
  expect(await stage.client.find(configMaps, stage.key("x"))).toBeUndefined();
});

test.concurrent("a cleanup that fails or is not finished keeps the object", async () => {
  await using stage = await open("keeps");
  await stage.create("x");
  const answers: (() => Promise<Result | typeof finished>)[] = [
    async () => Promise.reject(new Error("not yet")),
    async () => after(0.2),
    async () => finished,
  ];
  const seen: boolean[] = [];
  const running = run(stage, async ({ metadata }) => {
    seen.push((await stage.client.get(sites, stage.key("x"))).metadata.finalizers?.includes(ours) ?? false);
    expect(metadata.deletionTimestamp).toBeDefined();
    return await (answers[seen.length - 1] as () => Promise<Result>)();
  });
  await eventually("there is an effect", 20_000, () => stage.client.find(configMaps, stage.key("x")));
  await stage.client.delete(sites, stage.key("x"));
  await gone(stage);
  expect(seen).toEqual([true, true, true]);
  expect(errors(running)).toEqual(["not yet"]);
});

test.concurrent("after a crash between cleanup and removal of the finalizer, the cleanup runs again", async () => {
  await using stage = await open("crash");
  await stage.create("x");
  const cleanups: string[] = [];
  const first = run(stage, async () => {
    cleanups.push("first");
    return finished;
  });
  await eventually("there is an effect", 20_000, () => stage.client.find(configMaps, stage.key("x")));
  const hold = stage.proxy.hold(patches);
  await stage.client.delete(sites, stage.key("x"));
  await eventually("the cleanup is over", 20_000, () => hold.hits > 0);
  stage.proxy.resetConnections();
  await stage.proxy.refuseConnections(true);
  await first.stop();
  hold.remove();
  await stage.proxy.heal();
  expect((await stage.client.get(sites, stage.key("x"))).metadata.finalizers).toEqual([ours]);
  run(stage, async () => {
    cleanups.push("second");
    return finished;
  });
  await gone(stage);
  expect([cleanups[0], cleanups.at(-1)]).toEqual(["first", "second"]);
});

test.concurrent("a finalizer that another writer adds at the same moment is not lost", async () => {
  await using stage = await open("moment");
  await stage.create("x");
  const hold = stage.proxy.hold(patches, 1);
  const running = run(stage);
  await eventually("ours is on its way", 20_000, () => hold.hits === 1);
  await stage.client.mergePatch(sites, stage.key("x"), { metadata: { finalizers: [theirs] } });
  hold.release();
  await eventually("there is an effect", 20_000, () => stage.client.find(configMaps, stage.key("x")));
  expect((await stage.client.get(sites, stage.key("x"))).metadata.finalizers).toEqual([theirs, ours]);
  expect(stage.proxy.requests.find(({ verb }) => verb === "patch")?.status).toBe(409);
  expect(errors(running)).toEqual([]);
});

test.concurrent("no finalizer is added to an object that is being deleted, even before the cache shows the deletion", async () => {
  await using stage = await open("going");
  const history = new History(stage.client, sites, await stage.create("x", {}, { finalizers: [theirs] }));
  await stage.create("gone");
  const hold = stage.proxy.hold(patches);
  const cleanups: string[] = [];
  const running = run(stage, async ({ metadata }) => {
    cleanups.push(metadata.name);
    return finished;
  });
  await eventually("ours is on its way", 20_000, () => hold.hits > 0);
  await stage.client.delete(sites, stage.key("x"));
  await stage.client.delete(sites, stage.key("gone"));
  hold.release();
  await sleep(2000);
  expect(finalizers(history)).toEqual([[theirs]]);
  expect(await stage.client.find(configMaps, stage.key("x"))).toBeUndefined();
  expect(await stage.client.find(configMaps, stage.key("gone"))).toBeUndefined();
  expect([cleanups, errors(running)]).toEqual([[], []]);
  await stage.client.mergePatch(sites, stage.key("x"), { metadata: { finalizers: null } });
  await gone(stage);
  history.end();
});
