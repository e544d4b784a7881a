// What the controller leaves alone, and what it says then.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { startSuite } from "../../e2e/faults/suite.fixture.ts";
import type { KubeObject } from "../../runtime/kube/object.ts";
import { namespaced, type Resource } from "../../runtime/kube/resource.ts";
import { TestConnection } from "../../runtime/kube/test-connection.fixture.ts";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
import * as kinds from "../kinds/kubernetes.ts";
import { sampledbs } from "../kinds/sampledb-io.ts";
import { DatabaseStage, installKinds } from "./stage.fixture.ts";

const { plane, proxy } = await startSuite();
const { client } = new TestConnection(plane.kubeconfig);

beforeAll(() => installKinds(plane, client));

describe("an object of a needed name that someone else made", () => {
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const selector = { app: "theirs" };
  test.each<[string, Resource, string, object]>([
    ["secret", kinds.secrets, "orders-app", { stringData: { password: "theirs" } }],
    ["service", kinds.services, "orders-rw", { spec: { selector, ports: [{ port: 80 }] } }],
    ["config", kinds.configMaps, "orders-config", { data: { mine: "yes" } }],
    ["lock", kinds.configMaps, "orders-leader", { data: { mine: "yes" } }],
    ["patroni", kinds.configMaps, "orders-patroni", { data: { "patroni.yaml": "bootstrap: {}" } }],
    ["slice", kinds.endpointSlices, "orders-rw", { addressType: "IPv4", endpoints: [], ports: [] }],
    ["account", kinds.serviceAccounts, "orders-instance", {}],
    ["claim", kinds.persistentVolumeClaims, "data-orders-0", { spec }],
    ["budget", kinds.podDisruptionBudgets, "orders", { spec: { maxUnavailable: 1, selector: { matchLabels: selector } } }],
  ])(
    "%s: NameTaken with its name, and not a byte of it is changed, nor is it destroyed with the SampleDB",
    async (what, resource, name, content) => {
      await using stage = await DatabaseStage.open(`taken-${what}`, client, proxy);
      const { apiVersion, kind } = resource;
      await client.create(resource, { apiVersion, kind, metadata: { name, namespace: stage.namespace }, ...content } as KubeObject);
      await sleep(500); // the controllers of Kubernetes write on some kinds of their own accord
      const before = await client.get(resource, stage.key(name));
      await stage.run();
      await stage.create({ replicas: 2, deletionPolicy: "Delete" });
      const { message, status } = await stage.becomes("NameTaken");
      expect(message).toContain(`${kind} ${stage.namespace}/${name} `);
      expect(status).toBe("False");
      // No Pod takes a stranger's volume, password, account or settings for its own, and no Role gives rights on a stranger's object.
      if (what !== "budget") expect(await client.find(kinds.statefulSets, stage.key("orders"))).toBeUndefined();
      if (["config", "lock", "account", "slice"].includes(what)) {
        expect(await client.find(kinds.roles, stage.key("orders-instance"))).toBeUndefined();
        expect(await client.find(kinds.roleBindings, stage.key("orders-instance"))).toBeUndefined();
      }
      const unchanged = async () => {
        const { metadata, status: _, ...rest } = (await client.get(resource, stage.key(name))) as KubeObject & { status?: unknown };
        const { status: __, ...was } = before as KubeObject & { status?: unknown };
        const { uid, labels, annotations, ownerReferences } = before.metadata;
        expect({
          ...rest,
          uid: metadata.uid,
          labels: metadata.labels,
          annotations: metadata.annotations,
          owners: metadata.ownerReferences,
        }).toEqual({
          ...{ ...was, metadata: undefined, uid, labels, annotations, owners: ownerReferences },
        });
      };
      await unchanged();
      await client.delete(sampledbs, stage.key("orders"));
      await stage.gone(sampledbs, "orders");
      await unchanged();
    },
  );

  test("goes: the SampleDB goes on by itself", async () => {
    await using stage = await DatabaseStage.open("freed", client, proxy);
    const metadata = { name: "orders-superuser", namespace: stage.namespace };
    await client.create(kinds.secrets, { apiVersion: "v1", kind: "Secret", metadata });
    await stage.run();
    await stage.create();
    await stage.becomes("NameTaken");
    await client.delete(kinds.secrets, stage.key("orders-superuser"));
    await stage.becomes("Provisioning");
  });
});

test("a spec that the webhook would have refused: InvalidSpec, nothing is made, and a correction is enough", async () => {
  await using stage = await DatabaseStage.open("invalid", client, proxy);
  await stage.run();
  await stage.create({ postgresql: { parameters: { wrok_mem: "4MB" } } });
  const { message } = await stage.becomes("InvalidSpec");
  expect(message).toContain("spec.postgresql.parameters[wrok_mem]");
  expect(await stage.names(kinds.services)).toEqual([]);
  expect(await stage.names(kinds.statefulSets)).toEqual([]);
  await stage.change({ postgresql: { parameters: { wrok_mem: null, work_mem: "4MB" } } });
  await stage.podsAre("orders-0");
});

test("paused: nothing is made; what is there is not mended and stays initialized; then all of it is", async () => {
  await using stage = await DatabaseStage.open("paused", client, proxy);
  await stage.run();
  await stage.create({ paused: true });
  await eventually("it has been looked at", 30_000, () => stage.condition("Ready"));
  await sleep(1000);
  expect(await stage.names(kinds.statefulSets)).toEqual([]);
  expect(await stage.names(kinds.secrets)).toEqual([]);
  await stage.change({ paused: false });
  await stage.serve("orders-0");
  await stage.initialize("orders");
  await stage.becomes("AllInstancesReady");
  await stage.change({ paused: true });
  await eventually("it has been looked at", 30_000, async () => {
    const { metadata, status } = await client.get(sampledbs, stage.key("orders"));
    return status?.observedGeneration === metadata.generation;
  });
  expect(await stage.condition("Initialized")).toMatchObject({ status: "True" });
  expect(await stage.condition("Ready")).toMatchObject({ status: "True" });
  await client.delete(kinds.services, stage.key("orders-ro"));
  await sleep(2000);
  expect(await stage.names(kinds.services)).not.toContain("orders-ro");
  expect(await stage.names(kinds.jobs)).toEqual([]);
  await stage.change({ paused: false });
  await eventually("the Service is back", 30_000, () => client.find(kinds.services, stage.key("orders-ro")));
  await stage.becomes("AllInstancesReady");
  expect(await stage.names(kinds.jobs)).toEqual([]);
});

describe("a change that is refused", () => {
  /** One instance, whose change of image does not work. */
  async function refused(namespace: string, exitCode: number): Promise<DatabaseStage> {
    const stage = await DatabaseStage.open(namespace, client, proxy);
    await stage.run();
    await stage.create({});
    await stage.settle("orders-0");
    await stage.change({ image: "example.invalid/wrong:17" });
    for (let tries = exitCode === refusedExitCode ? 1 : 3; tries > 0; tries--)
      await stage.endJob("orders", "trial", exitCode, "it does not start");
    await stage.becomes("ChangeRefused");
    return stage;
  }

  const refusedExitCode = 3;
  const imageOf = (of: { readonly spec?: { readonly containers: readonly { readonly image?: string }[] } } | undefined) =>
    of?.spec?.containers[0]?.image;
  const templateImage = async (stage: DatabaseStage) => imageOf((await client.get(kinds.statefulSets, stage.key("orders"))).spec?.template);

  test("reaches no Pod, also where the only one is made anew, or the database sleeps and is woken", async () => {
    await using stage = await refused("refused", refusedExitCode);
    const { uid } = (await client.get(kinds.pods, stage.key("orders-0"))).metadata;
    await client.delete(kinds.pods, stage.key("orders-0"), { gracePeriodSeconds: 0 });
    const next = await eventually("another Pod is made", 30_000, async () => {
      const pod = await client.find(kinds.pods, stage.key("orders-0"));
      return pod && pod.metadata.uid !== uid && pod;
    });
    expect([imageOf(next), await templateImage(stage)]).toEqual(Array(2).fill("example.invalid/postgres:17"));
    await stage.serve("orders-0");
    await stage.becomes("ChangeRefused");

    await stage.change({ powerState: "Hibernated" });
    await stage.podsAre();
    await stage.becomes("Hibernated");
    expect(await stage.names(kinds.jobs)).toEqual([]);
    await stage.change({ powerState: "Running" });
    await stage.serve("orders-0");
    await stage.becomes("ChangeOnTrial");
    expect(await templateImage(stage)).toBe("example.invalid/postgres:17");
  });

  test("not by PostgreSQL's word, but by an accident: it is told, and tried again after a while", async () => {
    await using stage = await refused("accident", 1);
    const { uid } = (await client.get(kinds.jobs, stage.key("orders-trial"))).metadata;
    stage.advanceClock(301);
    await stage.change({ deletionProtection: true }); // it would look again by itself after 30 s
    await eventually("it is tried again", 60_000, async () => {
      const job = await client.find(kinds.jobs, stage.key("orders-trial"));
      return job && job.metadata.uid !== uid;
    });
    await stage.endJob("orders", "trial", 0, "it starts");
    await eventually("it is in", 30_000, async () => (await templateImage(stage)) === "example.invalid/wrong:17");
    await stage.change({ deletionProtection: false });
  });
});

test("a trial that can't be held lets nothing through: the settings stay as they were, and it is said why", async () => {
  await using stage = await DatabaseStage.open("unheld", client, proxy);
  const before = await stage.run();
  await stage.create({ postgresVersion: 15 });
  await stage.settle("orders-0");
  await before.stop();
  // An operator that has no image for the major can't try anything with it.
  const operator = await stage.run({ images: { 17: "example.invalid/postgres:17" } });
  const settings = async () => (await client.get(kinds.configMaps, stage.key("orders-config"))).metadata.annotations?.["config"];
  const was = await settings();
  await stage.change({ postgresql: { parameters: { work_mem: "9MB" } } });
  const said = await eventually("it is said", 30_000, async () => {
    const condition = await stage.condition("UpToDate");
    return condition?.reason === "ChangeOnTrial" && condition;
  });
  expect(said.message).toContain("no image for PostgreSQL 15: set spec.image");
  await eventuallySucceeds("it has looked again", 10_000, () => stage.again(operator, operator.objects()));
  expect(await settings()).toBe(was);
});

describe("a quota that leaves no room for a Pod", () => {
  const quotas = namespaced<KubeObject & { readonly spec: object }>("v1", "ResourceQuota", "resourcequotas");

  test("the blocker has the quota's own words, and goes when there is room", { timeout: 240_000 }, async () => {
    await using stage = await DatabaseStage.open("quota", client, proxy);
    const { namespace } = stage;
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "small", namespace }, spec: { hard: { pods: "1" } } };
    await client.create(quotas, quota);
    await stage.run();
    await stage.create({ replicas: 2 });
    expect(await stage.blocker(60_000)).toMatchObject({
      reason: "PodRefused",
      message: expect.stringMatching(/^StatefulSet orders can't make a Pod: .*exceeded quota: small/),
      remedy: expect.stringContaining("kubectl describe statefulset orders"),
    });
    await client.delete(quotas, stage.key("small"));
    // The StatefulSet's controller waits twice as long before each try.
    await eventually("there is room", 120_000, async () => (await stage.podNames()).length === 2);
    await eventually(
      "the blocker is gone",
      30_000,
      async () => !(await client.get(sampledbs, stage.key("orders"))).status?.blockers?.length,
    );
  });
});
