// Writes of the client, their reports to the observer, and writes that must not happen, on a real API server.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { startSuite } from "../../e2e/faults/suite.fixture.ts";
import { eventually } from "../../tools/eventually.ts";
import type { WriteObserver } from "./client.ts";
import { Conflict, Invalid, NotFound, Unreachable, WriteRefused } from "./errors.ts";
import { type KubeObject, keyText } from "./object.ts";
import { clusterScoped, namespaced, type Resource } from "./resource.ts";
import { configMap, configMaps, inDefault, TestConnection } from "./test-connection.fixture.ts";

const namespaces = clusterScoped("v1", "Namespace", "namespaces");

const { proxy, connection } = await startSuite();

beforeEach(async () => {
  await proxy.heal();
  proxy.resetCounts();
});

describe("server-side apply", () => {
  interface Managed extends KubeObject {
    readonly metadata: KubeObject["metadata"] & {
      readonly managedFields?: readonly { manager: string; operation: string; fieldsV1: object }[];
    };
    readonly data?: Record<string, string>;
  }
  const managed = configMaps as Resource<Managed>;
  const owners = ({ metadata }: Managed, field: string) =>
    metadata.managedFields
      ?.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes(`"f:${field}"`))
      .map((entry) => `${entry.manager} ${entry.operation}`);

  test("creates, changes, removes fields that are left out, leaves the fields of others, and is recorded", async () => {
    const { client } = connection;
    const other = client.with({ fieldManager: "other" });
    const made = await client.apply(managed, configMap("applied", { a: "1", b: "1" }));
    expect(made.data).toEqual({ a: "1", b: "1" });
    expect(owners(made, "a")).toEqual(["test Apply"]);
    await other.apply(managed, configMap("applied", { c: "1" }));
    const changed = await client.apply(managed, configMap("applied", { a: "2" }));
    expect(changed.data).toEqual({ a: "2", c: "1" });
    expect(owners(changed, "c")).toEqual(["other Apply"]);
  });

  test("takes over a field of another manager, which without force would be a conflict", async () => {
    const { client, transport } = connection;
    await client.with({ fieldManager: "other" }).apply(managed, configMap("taken", { a: "theirs" }));
    const path = "/api/v1/namespaces/default/configmaps/taken?fieldManager=test";
    const body = JSON.stringify(configMap("taken", { a: "ours" }));
    const unforced = { method: "PATCH", path, body, contentType: "application/apply-patch+yaml", deadline: 5000, pool: "calls" } as const;
    expect((await transport.send(unforced)).status).toBe(409);
    const taken = await client.apply(managed, configMap("taken", { a: "ours" }));
    expect([taken.data, owners(taken, "a")]).toEqual([{ a: "ours" }, ["test Apply"]]);
  });
});

describe("other writes", () => {
  test("apply merge and JSON patches, each with its precondition", async () => {
    const { client } = connection;
    const { metadata } = await client.create(configMaps, configMap("patched", { a: "1", b: "1" }));
    const merged = await client.mergePatch(configMaps, inDefault("patched"), {
      metadata: { resourceVersion: metadata.resourceVersion },
      data: { a: null, c: "2" },
    });
    expect(merged.data).toEqual({ b: "1", c: "2" });
    const stale = { metadata: { resourceVersion: metadata.resourceVersion }, data: { a: "late" } };
    await expect(client.mergePatch(configMaps, inDefault("patched"), stale)).rejects.toThrow(Conflict);
    const patched = await client.jsonPatch(configMaps, inDefault("patched"), [
      { op: "test", path: "/data/b", value: "1" },
      { op: "remove", path: "/data/b" },
      { op: "add", path: "/data/d", value: "3" },
    ]);
    expect(patched.data).toEqual({ c: "2", d: "3" });
    const unmet = client.jsonPatch(configMaps, inDefault("patched"), [{ op: "test", path: "/data/c", value: "other" }]);
    await expect(unmet).rejects.toThrow(Invalid);
  });

  test("replace the object without the fields that are left out, unless it has changed since", async () => {
    const { client } = connection;
    const made = await client.create(configMaps, configMap("replaced", { a: "1" }));
    const replaced = await client.replace(configMaps, { ...made, data: { b: "2" } });
    expect(replaced.data).toEqual({ b: "2" });
    await expect(client.replace(configMaps, made)).rejects.toThrow(Conflict);
  });
});

describe("deletion", () => {
  test("hits only the object with the given uid, and only in the version that was read", async () => {
    const { client } = connection;
    const { metadata } = await client.create(configMaps, configMap("guarded"));
    const key = inDefault("guarded");
    await expect(client.delete(configMaps, key, { uid: "another" })).rejects.toThrow(Conflict);
    await expect(client.delete(configMaps, key, { resourceVersion: "1" })).rejects.toThrow(Conflict);
    expect((await client.get(configMaps, key)).metadata).toEqual(metadata);
    expect(await client.delete(configMaps, key, { uid: metadata.uid, resourceVersion: metadata.resourceVersion })).toBeUndefined();
    await expect(client.delete(configMaps, key)).rejects.toThrow(NotFound);
    expect(await client.find(configMaps, key)).toBeUndefined();
  });

  test("returns an object that a finalizer keeps, and undefined for a kind whose deleted object is returned", async () => {
    const { client } = connection;
    await client.create(configMaps, { ...configMap("kept"), metadata: { ...inDefault("kept"), finalizers: ["example.com/keep"] } });
    const kept = await client.delete(configMaps, inDefault("kept"));
    expect(kept?.metadata).toMatchObject({ deletionTimestamp: expect.any(String), finalizers: ["example.com/keep"] });
    const services = namespaced<KubeObject & { spec: unknown }>("v1", "Service", "services");
    const service = { apiVersion: "v1", kind: "Service", metadata: inDefault("returned"), spec: { ports: [{ port: 80 }] } };
    await client.create(services, service);
    expect(await client.delete(services, inDefault("returned"))).toBeUndefined();
    const pods = namespaced<KubeObject & { spec: unknown }>("v1", "Pod", "pods");
    const spec = { containers: [{ name: "c", image: "example.invalid/c" }] };
    await client.create(pods, { apiVersion: "v1", kind: "Pod", metadata: inDefault("returned"), spec });
    expect(await client.delete(pods, inDefault("returned"))).toBeUndefined();
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "going" } });
    expect((await client.delete(namespaces, { namespace: "", name: "going" }))?.metadata.deletionTimestamp).toBeDefined();
  });
});

describe("a write that is not allowed", () => {
  const notWritten = async (name: string) => {
    expect(await connection.client.find(configMaps, inDefault(name))).toBeUndefined();
    expect(proxy.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  };

  test("is not sent, whatever it is; reads go on", async () => {
    const client = connection.client.with({ mayWrite: () => false });
    const key = inDefault("refused");
    const writes = [
      () => client.create(configMaps, configMap("refused")),
      () => client.replace(configMaps, configMap("refused")),
      () => client.apply(configMaps, configMap("refused")),
      () => client.mergePatch(configMaps, key, {}),
      () => client.jsonPatch(configMaps, key, []),
      () => client.delete(configMaps, key),
    ];
    for (const write of writes) await expect(write()).rejects.toThrow(WriteRefused);
    expect((await client.list(configMaps)).items.length).toBeGreaterThan(0);
    await notWritten("refused");
  });

  test("is not sent if the permission ends while it waits for a connection, and its connection stays usable", async () => {
    await using crowded = new TestConnection(proxy.kubeconfig);
    let mayWrite = true;
    const client = crowded.client.with({ mayWrite: () => mayWrite });
    const hold = proxy.hold({ verb: "get", name: "slow" });
    const reads = Array.from({ length: 32 }, () => client.find(configMaps, inDefault("slow")));
    await eventually("every connection is taken", 10_000, () => hold.hits === 32);
    const before = proxy.openConnections;
    const writes = Array.from({ length: 40 }, () => client.create(configMaps, configMap("queued")).catch((error: unknown) => error));
    await sleep(50); // the writes are in the queue
    mayWrite = false;
    hold.release();
    await Promise.all(reads);
    for (const error of await Promise.all(writes)) expect(error).toBeInstanceOf(WriteRefused);
    expect(proxy.openConnections).toBe(before);
    await notWritten("queued");
  });
});

describe("a write observer", () => {
  /** Its calls, as lines. */
  function observed(): { told: string[]; writes: WriteObserver } {
    const told: string[] = [];
    return {
      told,
      writes: {
        begin: ({ kind }, key) => {
          told.push(`begin ${kind} ${keyText(key)} after ${proxy.count()} requests`);
          return {
            settled: (object) =>
              told.push(object ? `settled ${object.kind} ${JSON.stringify((object as { data?: object }).data)}` : "settled: gone"),
            abandoned: () => told.push("abandoned"),
          };
        },
      },
    };
  }

  const key = inDefault("observed");
  const begin = (requests: number) => `begin ConfigMap default/observed after ${requests} requests`;

  test("is called before a write is sent and with its outcome, until the object is gone", async () => {
    const { told, writes } = observed();
    const client = connection.client.with({ writes });
    const made = { ...configMap("observed", { a: "1" }), metadata: { ...key, finalizers: ["example.com/keep"] } };
    await client.create(configMaps, made);
    await client.mergePatch(configMaps, key, { data: { a: "2" } });
    await client.delete(configMaps, key);
    await client.mergePatch(configMaps, key, { metadata: { finalizers: null } });
    const settled = ['settled ConfigMap {"a":"1"}', 'settled ConfigMap {"a":"2"}', 'settled ConfigMap {"a":"2"}', "settled: gone"];
    expect(told).toEqual(settled.flatMap((line, index) => [begin(index), line]));
  });

  test("is called with abandoned after a refusal, a lost answer, and an answer about another object", async () => {
    const { told, writes } = observed();
    const client = connection.client.with({ writes });
    await client.create(configMaps, configMap("observed"));
    await expect(client.create(configMaps, configMap("observed"))).rejects.toThrow(/already exists/);
    proxy.loseAnswer({ verb: "delete" }, 1);
    await expect(client.delete(configMaps, key)).rejects.toThrow(Unreachable);
    await expect(client.with({ mayWrite: () => false }).delete(configMaps, key)).rejects.toThrow(WriteRefused);
    expect(told.filter((line) => !line.startsWith("begin"))).toEqual([
      "settled ConfigMap undefined",
      "abandoned",
      "abandoned",
      "abandoned",
    ]);

    const deployments = namespaced<KubeObject & { spec: object }>("apps/v1", "Deployment", "deployments");
    const [labels, containers] = [{ app: "scaled" }, [{ name: "c", image: "example.invalid/c" }]];
    const spec = { replicas: 0, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
    await client.create(deployments, { apiVersion: "apps/v1", kind: "Deployment", metadata: inDefault("scaled"), spec });
    await client.mergePatch(deployments, inDefault("scaled"), { spec: { replicas: 1 } }, { subresource: "scale" });
    expect(told.at(-1)).toBe("abandoned");
  });
});
