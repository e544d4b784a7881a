// The metrics of SampleDBs from two replicas of the operator, on an API server without nodes.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { podMonitors } from "../controllers/kinds/kubernetes.ts";
import { type SampleDB, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import { definitions, podMonitorDefinition } from "../controllers/sampledb/foundation/pod-monitor-definition.fixture.ts";
import { startSuiteAlone } from "../e2e/faults/suite.fixture.ts";
import { samples } from "../runtime/observability/metric-samples.fixture.ts";
import { eventually, eventuallySucceeds } from "../tools/eventually.ts";
import { freePort } from "../tools/free-port.ts";
import { OperatorProcess } from "./operator-process.fixture.ts";

const { plane, connection } = await startSuiteAlone();
const { client } = connection;
const replicas: { readonly operator: OperatorProcess; readonly told: () => Promise<Record<string, number>> }[] = [];

async function start(): Promise<void> {
  const address = `127.0.0.1:${await freePort()}`;
  const metrics = [`--metrics-bind-address=${address}`, "--metrics-secure=false", "--pod-monitor-labels=release=prometheus"];
  const operator = new OperatorProcess([...metrics, "--health-probe-bind-address=0", "--leader-elect"], {
    KUBECONFIG: plane.kubeconfig,
    ENABLE_WEBHOOKS: "false",
  });
  const text = () => fetch(`http://${address}/metrics`).then((response) => response.text());
  const ofDatabases = ([name]: readonly [string, number]) => /^sampledb_(?!runtime_)/.test(name);
  replicas.push({ operator, told: async () => Object.fromEntries(Object.entries(await samples({ text })).filter(ofDatabases)) });
  await eventually("its caches are filled", 60_000, () => operator.output.includes("caches are filled"));
}

beforeAll(async () => {
  await plane.kubectl("apply", "--server-side", "--kustomize", join(import.meta.dirname, "../config/crd"));
  await plane.kubectl("wait", "--for=condition=Established", "crd", "--all");
  for (let count = 0; count < 2; count++) await start();
});

afterAll(() => Promise.all(replicas.map(({ operator }) => operator.stop())));

async function create(name: string): Promise<void> {
  const spec = { postgresVersion: 17, replicas: 2, deletionPolicy: "Delete", storage: { size: "1Gi" } } as SampleDB["spec"];
  await client.create(sampledbs, {
    apiVersion: sampledbs.apiVersion,
    kind: sampledbs.kind,
    metadata: { name, namespace: "default" },
    spec,
  });
}

/** The Ready condition shows that a reconcile ran all of its steps. */
async function reconciled(name: string): Promise<void> {
  await eventually(
    `${name} has a status`,
    60_000,
    async () => (await client.get(sampledbs, { namespace: "default", name })).status?.conditions,
  );
}

test("the leader reports metrics of each SampleDB, a standby of none, and a deleted SampleDB has none", async () => {
  await create("orders");
  await reconciled("orders");
  const [leader, standby] = replicas.toSorted((a) => (a.operator.output.includes("reconciling") ? -1 : 1));
  const of = 'namespace="default",name="orders"';
  expect(await leader?.told()).toEqual({
    [`sampledb_replicas_wanted{${of}}`]: 2,
    [`sampledb_replicas_ready{${of}}`]: 0,
    [`sampledb_ready{${of}}`]: 0,
    [`sampledb_primary_available{${of}}`]: 0,
    sampledb_time_to_ready_seconds_count: 0,
    sampledb_time_to_ready_seconds_sum: 0,
  });
  const nothing = { sampledb_time_to_ready_seconds_count: 0, sampledb_time_to_ready_seconds_sum: 0 };
  expect(await standby?.told()).toEqual(nothing);
  await client.delete(sampledbs, { namespace: "default", name: "orders" });
  await eventually(
    "nothing is told of it",
    60_000,
    async () => !Object.keys((await leader?.told()) ?? {}).some((name) => name.includes(of)),
  );
  expect(await leader?.told()).toEqual(nothing);
});

test("an operator that starts where PodMonitors are served creates them", async () => {
  await create("bills");
  await reconciled("bills");
  await client.create(definitions, podMonitorDefinition);
  const { items } = await eventuallySucceeds("the kind is served", 30_000, () => client.list(podMonitors));
  expect(items).toEqual([]); // the operator asked not long ago whether the kind is served
  for (const { operator } of replicas.splice(0)) await operator.stop();
  await start();
  const monitor = await eventually("it is made", 60_000, () => client.find(podMonitors, { namespace: "default", name: "bills" }));
  expect(monitor.metadata).toMatchObject({
    labels: { release: "prometheus", "app.kubernetes.io/managed-by": "sampledb-operator" },
    ownerReferences: [{ kind: "SampleDB", name: "bills" }],
  });
});
