// Events as `kubectl` shows them.
import { beforeAll, expect, test } from "vitest";
import type { ControlPlane } from "../../e2e/cluster/standalone.ts";
import { failure } from "../../e2e/faults/answers.ts";
import { FaultProxy } from "../../e2e/faults/fault-proxy.ts";
import { sharedControlPlane } from "../../e2e/faults/shared-plane.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import { isReady, sites } from "../fixtures/site.ts";
import { SiteStage } from "../fixtures/stage.ts";
import type { KubeObject } from "../kube/object.ts";
import { namespaced } from "../kube/resource.ts";
import type { EventContent } from "./events.ts";

let plane: ControlPlane;

beforeAll(async () => {
  plane = await sharedControlPlane();
});

interface Event extends KubeObject {
  readonly regarding: { readonly kind: string };
  readonly reason: string;
  readonly note: string;
  readonly series?: { readonly count: number };
}

const events = namespaced<Event>("events.k8s.io/v1", "Event", "events");
const said: EventContent = { type: "Warning", reason: "DiskFull", action: "Grow", note: "The disk is full: make it larger." };

async function open(name: string): Promise<SiteStage<FaultProxy>> {
  return await SiteStage.open(plane, name, await FaultProxy.start(plane));
}

/** Events about Sites: Kubernetes records some about their Jobs. */
async function recorded({ client, namespace }: SiteStage<FaultProxy>): Promise<Event[]> {
  return (await client.list(events, { namespace })).items.filter(({ regarding }) => regarding.kind === "Site");
}

test.concurrent("a repeated event is one event with a count, which kubectl shows", async () => {
  await using stage = await open("series");
  const site = await stage.create("x");
  const { manager } = stage.run();
  for (let index = 0; index < 50; index++) manager.events.record(site, said);
  await manager.events.flushed();
  const items = await recorded(stage);
  expect(items).toMatchObject([{ reason: "DiskFull", note: said.note, type: "Warning", series: { count: 2 } }]);
  expect(stage.proxy.requests.filter(({ resource }) => resource === "events").map(({ verb }) => verb)).toEqual(["create", "patch"]);
  const told = /Warning\s+DiskFull\s+.*The disk is full: make it larger/;
  expect(await plane.kubectl("events", "-n", stage.namespace, "--for", "site.test.sampledb.io/x")).toMatch(told);
  expect(await plane.kubectl("describe", "-n", stage.namespace, "site", "x")).toMatch(told);
});

test.concurrent("the API server accepts the longest name and the longest note", async () => {
  await using stage = await open("longest");
  const site = await stage.create(`${"x".repeat(199)}-${"y".repeat(53)}`);
  const { manager } = stage.run();
  manager.events.record(site, { ...said, note: "ä".repeat(5000) });
  await manager.events.flushed();
  const items = await recorded(stage);
  expect(items.map(({ note }) => Buffer.byteLength(note))).toEqual([1023]);
});

test.concurrent("a loop that records ever new events is limited", async () => {
  await using stage = await open("bounded");
  const site = await stage.create("x");
  const { manager } = stage.run();
  for (let index = 0; index < 200; index++) manager.events.record(site, { ...said, note: `${index} bytes are left.` });
  await manager.events.flushed();
  expect(await recorded(stage)).toHaveLength(25);
});

test.concurrent("a reconcile does not fail when its events are refused", async () => {
  await using stage = await open("refused");
  const site = await stage.create("x");
  const refusal = stage.proxy.answer({ resource: "events" }, failure(403));
  const { manager, lines } = stage.run({ before: () => manager.events.record(site, said) });
  await eventually("it is ready", 20_000, () => manager.cache.watch(sites).list().some(isReady));
  expect(refusal.hits).toBeGreaterThan(0);
  expect(lines.filter(({ level }) => level !== "info")).toEqual([]);
});
