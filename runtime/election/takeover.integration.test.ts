// Which candidate leads, and when the next one does, on a real API server.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { ControlPlane } from "../../e2e/cluster/standalone.ts";
import { FaultProxy } from "../../e2e/faults/fault-proxy.ts";
import { sharedControlPlane } from "../../e2e/faults/shared-plane.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import { Elector } from "./elector.ts";
import { type LeaseSpec, leases, newLease } from "./lease.ts";
import { Stage, shortTiming } from "./stage.fixture.ts";

const { leaseDuration, retryPeriod } = shortTiming;
/** For a busy machine. */
const slack = 4000;
let plane: ControlPlane;

beforeAll(async () => {
  plane = await sharedControlPlane();
});

async function openProxy(): Promise<{ proxy: FaultProxy } & AsyncDisposable> {
  const proxy = await FaultProxy.start(plane);
  return { proxy, [Symbol.asyncDispose]: () => proxy.stop() };
}

function startElector({ client, namespace }: Stage, identity: string, name = "election"): Elector & AsyncDisposable {
  const elector = new Elector({ client, lease: { namespace, name }, identity, timing: shortTiming });
  elector.start();
  return Object.assign(elector, { [Symbol.asyncDispose]: () => elector.release() });
}

async function find({ client, namespace }: Stage, name = "election"): Promise<LeaseSpec | undefined> {
  return (await client.find(leases, { namespace, name }))?.spec;
}

test.concurrent("one of three candidates leads, and another within a retry period after it released the lease", async () => {
  await using stage = await Stage.open(plane.kubeconfig, "three");
  const candidates = ["a", "b", "c"].map((identity) => startElector(stage, identity, "fresh"));
  const leaders = () => candidates.filter((candidate) => candidate.mayWrite());
  const first = await eventually("one leads", 10_000, () => leaders()[0]);
  await sleep(2 * retryPeriod);
  expect(leaders()).toEqual([first]);
  await first.release();
  const releasedAt = performance.now();
  const next = await Promise.race(candidates.filter((one) => one !== first).map((one) => one.elected.then(() => one)));
  expect(performance.now() - releasedAt).toBeLessThan(retryPeriod + slack);
  expect(leaders()).toEqual([next]);
  expect(await find(stage, "fresh")).toMatchObject({ holderIdentity: next.identity, leaseTransitions: 1 });
  for (const candidate of candidates) await candidate.release();
  expect(await find(stage, "fresh")).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
});

test.concurrent("a leader that is killed is succeeded when its lease has expired, and not before", async () => {
  await using stage = await Stage.open(plane.kubeconfig, "killed");
  const a = stage.candidate("a");
  await a.told("leading");
  const b = stage.candidate("b");
  await b.told("following");
  a.kill("SIGKILL");
  expect(await a.exited).toBe(null);
  await b.told("leading");
  const written = await eventually("the lease is seen to be taken", 5000, () =>
    stage.leases.find((lease) => lease.spec?.holderIdentity === "b"),
  );
  const last = stage.leases.findLast((lease) => lease.spec?.holderIdentity === "a");
  const took = Date.parse(written.spec?.acquireTime ?? "") - Date.parse(last?.spec?.renewTime ?? "");
  expect(took).toBeGreaterThanOrEqual(leaseDuration);
  expect(took).toBeLessThan(leaseDuration + retryPeriod + slack);
  await eventually("b writes", 5000, () => stage.writesOf("b").length > 5);
  expect(stage.turns).toBe("a b");
});

test.concurrent.each([
  ["behind", "2001-01-01T00:00:00.000000Z"],
  ["ahead", "2099-01-01T00:00:00.000000Z"],
])("a holder whose clock is years %s is left alone for as long as any other", async (name, time) => {
  await using stage = await Stage.open(plane.kubeconfig, `clock-${name}`);
  const { client, namespace } = stage;
  const spec = { holderIdentity: "other", leaseDurationSeconds: leaseDuration / 1000, acquireTime: time, renewTime: time };
  await client.create(leases, newLease({ namespace, name: "skewed" }, spec));
  const begin = performance.now();
  await using candidate = startElector(stage, "a", "skewed");
  await candidate.elected;
  const took = performance.now() - begin;
  expect(took).toBeGreaterThanOrEqual(leaseDuration);
  expect(took).toBeLessThan(leaseDuration + slack);
});

test.concurrent("a lease that is deleted by hand is recreated by its leader, with its labels and annotations", async () => {
  await using stage = await Stage.open(plane.kubeconfig, "deleted");
  const { client, namespace } = stage;
  const key = { namespace, name: "election" }; // the fixture created it, without a spec
  await client.mergePatch(leases, key, { metadata: { annotations: { note: "kept" } } });
  await using a = startElector(stage, "a");
  await a.elected;
  await using b = startElector(stage, "b");
  await sleep(2 * retryPeriod);
  const before = await client.get(leases, key);
  await client.delete(leases, key);
  const after = await eventually("the lease is there again", 5000, () => client.find(leases, key));
  await sleep(2 * retryPeriod);
  expect([a.mayWrite(), b.isLeader]).toEqual([true, false]);
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  expect(after.metadata.annotations).toEqual({ note: "kept" });
  const { renewTime: _, ...rest } = before.spec ?? {};
  expect(after.spec).toMatchObject(rest);
});

test.concurrent("a leader only renews, and the other candidates only read", async () => {
  await using stage = await Stage.open(plane.kubeconfig, "traffic");
  await using opened = await openProxy();
  const { proxy } = opened;
  const a = stage.candidate("a", { kubeconfig: proxy.kubeconfig, writeEvery: undefined });
  await a.told("leading");
  stage.candidate("b", { kubeconfig: proxy.kubeconfig });
  await eventually("b looks", 60_000, () => proxy.count({ verb: "get", resource: "leases" }) > 3);
  proxy.resetCounts();
  await sleep(5 * retryPeriod);
  const [updates, gets] = [proxy.count({ verb: "update", resource: "leases" }), proxy.count({ verb: "get", resource: "leases" })];
  expect(proxy.count()).toBe(updates + gets);
  expect(updates).toBeGreaterThanOrEqual(3);
  expect(updates).toBeLessThanOrEqual(6);
  expect(gets).toBeGreaterThanOrEqual(3);
  expect(gets).toBeLessThanOrEqual(8); // up to a fifth more often
});
