// PodMonitors on a real API server. The tests run in order: first without the kind, then with it, then without it again.
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

/** The requests that the action made to the API server. */
async function requests(act: () => Promise<void>): Promise<string[]> {
  proxy.resetCounts();
  await act();
  return proxy.requests.map(({ method, path }) => `${method} ${path.split("?")[0]?.replace(/^.*monitoring.coreos.com.v1/, "")}`);
}

beforeEach(() => {
  time += 7 * hour;
});

test("where the kind is not served, the API server is asked once an hour, and nothing is written", async () => {
  const ensure = () => requests(() => monitors.ensure(one, client));
  expect(await ensure()).toEqual(["GET "]);
  expect(await ensure()).toEqual([]);
  expect(await requests(() => monitors.ensure(database("2"), client))).toEqual([]);
  time += hour;
  expect(await ensure()).toEqual(["GET "]);
});

test("once the kind is served, each SampleDB gets its PodMonitor, and then there are no requests", async () => {
  await client.create(definitions, podMonitorDefinition);
  await eventuallySucceeds("the kind is served", 30_000, () => client.list(podMonitors));
  await monitors.ensure(one, client);
  expect(await found(one)).toMatchObject({ metadata: podMonitor(one, {}).metadata, spec: podMonitor(one, {}).spec });
  expect(await requests(() => monitors.ensure(one, client))).toEqual([]);
  time += 7 * hour;
  expect(await requests(() => monitors.ensure(one, client))).toEqual(["GET ", "GET /namespaces/default/podmonitors/1"]);
});

test("a PodMonitor's labels come and go with the flag, and a deleted PodMonitor is back after some hours", async () => {
  await new Monitors({ labels: { release: "prometheus" }, now }).ensure(one, client);
  expect((await found(one))?.metadata.labels).toMatchObject({ release: "prometheus" });
  await monitors.ensure(one, client);
  expect((await found(one))?.metadata.labels).not.toHaveProperty("release");
  await client.delete(podMonitors, { namespace: "default", name: "1" });
  time += 7 * hour;
  await monitors.ensure(one, client);
  expect(await found(one)).toBeDefined();
});

test("a PodMonitor that someone else made is left alone, and not read again at once", async () => {
  const other = database("3");
  const theirs = { ...podMonitor(other, {}), metadata: { name: "3", namespace: "default" } };
  await client.create(podMonitors, theirs);
  await expect(monitors.ensure(other, client)).rejects.toThrow(Occupied);
  expect(await requests(() => monitors.ensure(other, client))).toEqual([]);
  expect((await found(other))?.metadata.ownerReferences).toBeUndefined();
});

test("a kind that is removed from the API server is no error", async () => {
  await monitors.ensure(one, client);
  await client.delete(definitions, { namespace: "", name: podMonitorDefinition.metadata.name });
  await eventually("the kind is gone", 60_000, async () => !(await client.serves(podMonitors)));
  await monitors.ensure(database("4"), client);
  await monitors.ensure(database("4"), client);
  expect(await requests(() => monitors.ensure(database("4"), client))).toEqual([]);
});
