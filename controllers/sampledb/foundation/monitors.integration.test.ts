// PodMonitors on a real API server, which serves their kind or does not, in this order.
import { beforeEach, expect, test } from "vitest";
import { startSuite } from "../../../e2e/faults/suite.fixture.ts";
import { Occupied } from "../../../runtime/controller/objects.ts";
import { eventually, eventuallySucceeds } from "../../../tools/eventually.ts";
import { podMonitor } from "../../desired/monitoring.ts";
import { podMonitors } from "../../kinds/kubernetes.ts";
import type { SampleDB } from "../../kinds/sampledb-io.ts";
import { Monitors } from "./monitors.ts";
import { definitions, podMonitorDefinition } from "./pod-monitor-definition.fixture.ts";

const { proxy, connection } = await startSuite();
const { client } = connection;
const hour = 3_600_000;

let time = Date.parse("2026-01-01T00:00:00Z");
const now = () => new Date(time);
const monitors = new Monitors({ labels: {}, now });

function database(name: string): SampleDB {
  const metadata = { name, namespace: "default", uid: `00000000-0000-0000-0000-${name.padStart(12, "0")}` };
  return { apiVersion: "sampledb.io/v1alpha1", kind: "SampleDB", metadata, spec: {} as SampleDB["spec"] };
}

const one = database("1");
const found = (db: SampleDB) => client.find(podMonitors, { namespace: "default", name: db.metadata.name });

/** What it asked the API server for. */
async function requests(act: () => Promise<void>): Promise<string[]> {
  proxy.resetCounts();
  await act();
  return proxy.requests.map(({ method, path }) => `${method} ${path.split("?")[0]?.replace(/^.*monitoring.coreos.com.v1/, "")}`);
}

beforeEach(() => {
  time += 7 * hour;
});

test("where the kind is not served, that is asked once an hour, and nothing is written", async () => {
  const ensure = () => requests(() => monitors.ensure(one, client));
  expect(await ensure()).toEqual(["GET "]);
  expect(await ensure()).toEqual([]);
  expect(await requests(() => monitors.ensure(database("2"), client))).toEqual([]);
  time += hour;
  expect(await ensure()).toEqual(["GET "]);
});

test("once the kind is there, each gets its own, and then it is quiet", async () => {
  await client.create(definitions, podMonitorDefinition);
  await eventuallySucceeds("the kind is served", 30_000, () => client.list(podMonitors));
  await monitors.ensure(one, client);
  expect(await found(one)).toMatchObject({ metadata: podMonitor(one, {}).metadata, spec: podMonitor(one, {}).spec });
  expect(await requests(() => monitors.ensure(one, client))).toEqual([]);
  time += 7 * hour;
  expect(await requests(() => monitors.ensure(one, client))).toEqual(["GET ", "GET /namespaces/default/podmonitors/1"]);
});

test("labels come and go with the flag, and what was changed by hand is mended after some hours", async () => {
  await new Monitors({ labels: { release: "prometheus" }, now }).ensure(one, client);
  expect((await found(one))?.metadata.labels).toMatchObject({ release: "prometheus" });
  await monitors.ensure(one, client);
  expect((await found(one))?.metadata.labels).not.toHaveProperty("release");
  await client.delete(podMonitors, { namespace: "default", name: "1" });
  time += 7 * hour;
  await monitors.ensure(one, client);
  expect(await found(one)).toBeDefined();
});

test("someone else's is left alone, and not asked for again at once", async () => {
  const other = database("3");
  const theirs = { ...podMonitor(other, {}), metadata: { name: "3", namespace: "default" } };
  await client.create(podMonitors, theirs);
  await expect(monitors.ensure(other, client)).rejects.toThrow(Occupied);
  expect(await requests(() => monitors.ensure(other, client))).toEqual([]);
  expect((await found(other))?.metadata.ownerReferences).toBeUndefined();
});

test("a kind that is taken away is no error", async () => {
  await monitors.ensure(one, client);
  await client.delete(definitions, { namespace: "", name: podMonitorDefinition.metadata.name });
  await eventually("the kind is gone", 60_000, async () => !(await client.serves(podMonitors)));
  await monitors.ensure(database("4"), client);
  await monitors.ensure(database("4"), client);
  expect(await requests(() => monitors.ensure(database("4"), client))).toEqual([]);
});
