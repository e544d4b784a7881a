// The Secrets of a database on a real API server: which are made, what is remembered, and how a new authority reaches them.
import { beforeAll, beforeEach, expect, test } from "vitest";
import { startSuite } from "../../e2e/faults/suite.fixture.ts";
import { describeCertificate } from "../../runtime/certificates/inspect.ts";
import { Occupied } from "../../runtime/controller/objects.ts";
import { identityOf } from "../desired/identity.ts";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import { namespaces, secrets } from "../kinds/kubernetes.ts";
import { Authority } from "./authority.ts";
import { Passwords } from "./passwords.ts";

const {
  proxy,
  connection: { client },
} = await startSuite();

const operatorNamespace = "operators";
const hour = 3_600_000;
let aheadMs = 0;
let made = 0;
const now = () => new Date(Date.now() + aheadMs);
const keepers = () => ({
  authority: new Authority({ operatorNamespace, now }),
  passwords: new Passwords({ now, password: () => `password-${++made}` }),
});
const requests = () => proxy.requests.map(({ verb, name }) => `${verb} ${name}`).sort();
const textIn = async (namespace: string, name: string, key: string) =>
  atob((await client.get(secrets, { namespace, name })).data?.[key] ?? "");

async function databaseIn(namespace: string) {
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const { metadata, ...rest } = sampleDB({});
  const db = { ...rest, metadata: { ...metadata, namespace, name: "orders", uid: `uid-of-${namespace}` } };
  return { db, database: identityOf(db) };
}

// Other files on the same control plane have the namespace, too.
beforeAll(() => client.apply(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: operatorNamespace } }));
beforeEach(() => {
  aheadMs = 0;
});

test("a database without a SampleDB gets certificates: made once, remembered for hours, and known to another process", async () => {
  const { database } = await databaseIn("certified");
  const { authority } = keepers();
  expect(await authority.certificateFor(database, "operator")).toBeUndefined();
  const serving = await authority.ensure(database, client, []);
  expect(serving.authorities).toBe(await textIn(operatorNamespace, "authority.certified.orders", "ca.crt"));
  expect(serving.authorities).toBe(await textIn("certified", "orders-tls", "ca.crt"));

  proxy.resetCounts();
  expect(await authority.ensure(database, client, [])).toEqual(serving);
  expect(requests()).toEqual([]);
  aheadMs = 6 * hour + 60_000;
  expect(await authority.ensure(database, client, [])).toEqual(serving);
  expect(await keepers().authority.ensure(database, client, [])).toEqual(serving);
  const look = ["get authority.certified.orders", "get orders-tls"];
  expect(requests()).toEqual([...look, ...look].sort());
});

test("the operator's certificate lives for a day, is the same until it is due, and costs no request", async () => {
  const { database } = await databaseIn("called");
  const { authority } = keepers();
  await authority.ensure(database, client, []);
  proxy.resetCounts();
  const first = await authority.certificateFor(database, "operator");
  expect(describeCertificate(first?.certificate ?? "")).toMatchObject({ commonName: "called/orders/operator", isAuthority: false });
  aheadMs = 12 * hour;
  expect(await authority.certificateFor(database, "operator")).toBe(first);
  aheadMs = 20 * hour;
  const second = await authority.certificateFor(database, "operator");
  expect(second?.certificate).not.toBe(first?.certificate);
  expect(second?.authorities).toBe(first?.authorities);
  expect(requests()).toEqual([]);
  authority.forget(database);
  expect(await authority.certificateFor(database, "operator")).toBeUndefined();
});

test("new authorities reach the application's Secret at once, and its password stays", async () => {
  const { db, database } = await databaseIn("renewed-authority");
  const { authority, passwords } = keepers();
  const { authorities } = await authority.ensure(database, client, []);
  await passwords.ensure(db, client, { authorities, hasData: false });
  const password = await textIn("renewed-authority", "orders-app", "password");
  proxy.resetCounts();
  await passwords.ensure(db, client, { authorities, hasData: true });
  expect(requests()).toEqual([]);

  await client.delete(secrets, authority.keySecret(database));
  authority.forget(database);
  const serving = await authority.ensure(database, client, []);
  expect(serving.authorities).not.toBe(authorities);
  await passwords.ensure(db, client, { authorities: serving.authorities, hasData: true });
  expect(await textIn("renewed-authority", "orders-app", "ca.crt")).toBe(serving.authorities);
  expect(await textIn("renewed-authority", "orders-app", "password")).toBe(password);
});

test("ensure sees a rotation of the password at once, and the authority goes on signing", async () => {
  const { db, database } = await databaseIn("handed-over");
  const { authority, passwords } = keepers();
  const { authorities } = await authority.ensure(database, client, []);
  const circumstances = { authorities, hasData: true };
  expect(await passwords.ensure(db, client, { ...circumstances, hasData: false })).toMatchObject({ passwordWaits: false });
  const next = await passwords.writeNextPassword(db, client);
  expect(await passwords.ensure(db, client, circumstances)).toMatchObject({ passwordWaits: true });
  expect(await authority.certificateFor(database, "operator")).toBeDefined();
  await passwords.handOver(db, client, next);
  await passwords.dropNextPassword(db, client, next);
  expect(await passwords.ensure(db, client, circumstances)).toMatchObject({ passwordWaits: false });
  expect(await textIn("handed-over", "orders-app", "password")).toBe(atob(next.data?.["password"] ?? ""));
});

test("a lost password is unproven until a person takes the annotation off, which ensure sees within a minute", async () => {
  const { db } = await databaseIn("lost");
  const { passwords } = keepers();
  const circumstances = { authorities: "authorities", hasData: true };
  await passwords.ensure(db, client, { ...circumstances, hasData: false });
  await client.delete(secrets, { namespace: "lost", name: "orders-superuser" });
  passwords.forget(db);
  expect(await passwords.ensure(db, client, circumstances)).toMatchObject({ unproven: ["orders-superuser"] });
  await client.mergePatch(
    secrets,
    { namespace: "lost", name: "orders-superuser" },
    { metadata: { annotations: { "sampledb.io/unproven": null } } },
  );
  expect(await passwords.ensure(db, client, circumstances)).toMatchObject({ unproven: ["orders-superuser"] });
  aheadMs = 61_000;
  expect(await passwords.ensure(db, client, circumstances)).toMatchObject({ unproven: [] });
});

test.each(["orders-tls", "orders-superuser", "orders-app"])("a foreign Secret %s is neither used nor changed", async (name) => {
  const { db, database } = await databaseIn(`foreign-${name}`);
  const { authority, passwords } = keepers();
  const key = { namespace: database.namespace, name };
  const foreign = await client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata: key, data: { password: btoa("foreign") } });
  const ensured = async () => {
    const { authorities } = await authority.ensure(database, client, []);
    await passwords.ensure(db, client, { authorities, hasData: false });
  };
  await expect(ensured()).rejects.toThrow(Occupied);
  expect(await client.get(secrets, key)).toEqual(foreign);
});
