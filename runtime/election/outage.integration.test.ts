// Outages of the API server or of etcd: a short one costs nothing, a long one costs the leadership.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StandaloneControlPlane } from "../../e2e/cluster/standalone.ts";
import { eventuallySucceeds } from "../../tools/eventually.ts";
import { Elector } from "./elector.ts";
import { leases } from "./lease.ts";
import { Stage, shortTiming } from "./stage.fixture.ts";
import { defaultTiming } from "./timing.ts";

let plane: StandaloneControlPlane;
let stage: Stage;

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  stage = await Stage.open(plane.kubeconfig, "outage");
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await plane.stop();
});

test("an API server that is killed and back within the deadline does not cost the leadership", async () => {
  const failures: string[] = [];
  const { client, namespace } = stage;
  const key = { namespace, name: "restart" };
  const timing = { ...defaultTiming, leaseDuration: 30_000, renewDeadline: 20_000, retryPeriod: 500 };
  const elector = new Elector({ client, lease: key, timing, listener: { failed: ({ message }) => void failures.push(message) } });
  elector.start();
  await elector.elected;
  await plane.killPart("kube-apiserver");
  await sleep(1000);
  await plane.startPart("kube-apiserver");
  await plane.ready();
  await sleep(2 * timing.retryPeriod);
  const lease = await eventuallySucceeds("the lease is read", 10_000, () => client.get(leases, key));
  expect(failures).not.toEqual([]);
  expect(elector.mayWrite()).toBe(true);
  expect(lease.spec).toMatchObject({ holderIdentity: elector.identity, leaseTransitions: 0 });
  await elector.release();
});

test("an etcd that stands still for longer than the deadline costs the leadership, in time", async () => {
  const { client, namespace } = stage;
  const elector = new Elector({ client, lease: { namespace, name: "still" }, timing: shortTiming });
  elector.start();
  await elector.elected;
  plane.pausePart("etcd");
  try {
    const pausedAt = performance.now();
    const lost = await elector.lost;
    expect(performance.now() - pausedAt).toBeLessThan(shortTiming.leaseDuration);
    expect(lost.message).toMatch(/not renewed within 4 s: .*no answer within/);
    expect(elector.mayWrite()).toBe(false);
  } finally {
    plane.resumePart("etcd");
  }
});
