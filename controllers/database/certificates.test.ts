// A database's certificates from its first day over twenty-five years, and the names in them.
import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { describeCertificate, isIssuedBy, isValidAt, servesAs, splitBundle } from "../../runtime/certificates/inspect.ts";
import {
  certificateName,
  clientCertificate,
  nothingKept,
  renewalDue,
  repositoryCertificate,
  rotateCertificates,
  serverNames,
} from "./certificates.ts";

const day = 24 * 3_600_000;
const begin = new Date("2030-01-01T00:00:00Z");
const dayAt = (days: number) => new Date(begin.getTime() + days * day);
const database = { namespace: "team-a", name: "orders" };
const first = (await rotateCertificates(nothingKept, { database, trusted: [], now: begin })).kept;

test("the first day makes an authority and a certificate, and the second day nothing", async () => {
  expect(describeCertificate(first.bundle)).toMatchObject({ commonName: "team-a/orders/authority", isAuthority: true });
  expect(describeCertificate(first.certificate)).toMatchObject({
    commonName: "team-a/orders/server",
    notAfter: new Date("2031-01-01T00:00:00Z"),
    isAuthority: false,
  });
  expect(await rotateCertificates(first, { database, trusted: [""], now: dayAt(1) })).toEqual({ kept: first, plans: [] });
});

test.each([
  "orders-rw",
  "orders-rw.team-a",
  "orders-ro.team-a.svc",
  "orders-ro.team-a.svc.cluster.local",
  "orders-0.orders-pods.team-a.svc",
  "orders-8.orders-pods.team-a.svc.cluster.local",
  "localhost",
  "127.0.0.1",
  "::1",
])("the server's certificate is good for the name %s", (name) => {
  expect(servesAs(new X509Certificate(first.certificate), name)).toBe(true);
});

test.each(["orders", "orders-rw.team-b", "orders-pods.team-a.svc", "10.0.0.1", "a.b.orders-pods.team-a.svc"])(
  "the server's certificate is not good for the name %s",
  (name) => {
    expect(servesAs(new X509Certificate(first.certificate), name)).toBe(false);
  },
);

test("the operator's certificate lives for a day, and is for clients only", async () => {
  const made = await clientCertificate(first, database, "operator", dayAt(3));
  const { certificate } = made;
  expect(describeCertificate(certificate)).toMatchObject({ commonName: "team-a/orders/operator", notAfter: dayAt(4), dnsNames: [] });
  expect([3, 3.6, 3.7, 5].map((days) => renewalDue(made, dayAt(days)))).toEqual([false, false, true, true]);
  expect(renewalDue({ certificate: "", key: "" }, begin)).toBe(true);
  expect(new X509Certificate(certificate).keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
});

describe("the repository's certificate", () => {
  const made = async (before?: Parameters<typeof repositoryCertificate>[2], kept = first, now = begin) =>
    await repositoryCertificate(kept, database, before, now);

  test("is a server's, for the names of its Service, and no client's", async () => {
    const { certificate = "" } = (await made()) ?? {};
    const read = new X509Certificate(certificate);
    expect(describeCertificate(certificate)).toMatchObject({ commonName: "team-a/orders/repository" });
    expect(read.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    for (const name of ["orders-repository", "orders-repository.team-a.svc"]) expect(servesAs(read, name)).toBe(true);
    expect(servesAs(read, "orders-rw")).toBe(false);
  });

  test("stays while it is good, and is renewed before it ends, or when its authority is not trusted any more", async () => {
    const one = await made();
    expect(await made(one, first, dayAt(200))).toBe(one);
    expect(await made(one, first, dayAt(300))).not.toBe(one);
    const other = (await rotateCertificates(nothingKept, { database, trusted: [], now: begin })).kept;
    expect(await made(one, other)).not.toBe(one);
  });

  test("can't be made where the authority's key is lost, and a good one stays", async () => {
    const one = await made();
    const lost = { ...first, authorityKey: "", formerKey: "" };
    expect(await made(undefined, lost)).toBeUndefined();
    expect(await made(one, lost)).toBe(one);
  });
});

describe("the names in certificates", () => {
  const long = { namespace: "n".repeat(63), name: "d".repeat(40) };

  test("have namespace, name and role in them", () => {
    expect(certificateName({ namespace: "a", name: "b" }, "server")).toBe("a/b/server");
    expect(certificateName({ namespace: "n".repeat(50), name: "sixsix" }, "server")).toBe(`${"n".repeat(50)}/sixsix/server`);
  });

  test("have a hash where they would be too long, another one for each database and role", () => {
    const names = [
      certificateName(long, "server"),
      certificateName(long, "operator"),
      certificateName({ ...long, name: "e".repeat(40) }, "server"),
      certificateName({ namespace: `${"n".repeat(62)}m`, name: long.name }, "server"),
    ];
    expect(new Set(names).size).toBe(4);
    expect(names.every((name) => name.length <= 64)).toBe(true);
  });

  test("can be certified for the longest namespace and name", async () => {
    const { kept } = await rotateCertificates(nothingKept, { database: long, trusted: [], now: begin });
    expect(serverNames(long).every((name) => servesAs(new X509Certificate(kept.certificate), name.replace("*", "x")))).toBe(true);
  });
});

describe("over the years", () => {
  test("every instance, and an application that takes ca.crt once a year, trusts the served certificate", { timeout: 60_000 }, async () => {
    const actions: string[] = [];
    let kept = first;
    let instances = [kept.bundle, kept.bundle];
    let application = kept.bundle;
    for (let days = 0; days < 25 * 365; days += 60) {
      const now = dayAt(days);
      const { kept: next, plans } = await rotateCertificates(kept, { database, trusted: instances, now });
      actions.push(...plans.map(({ action }) => action));
      const operator = await clientCertificate(next, database, "operator", now);
      for (const bundle of [...instances, application]) expect(isTrusted(next.certificate, bundle, now), `after ${days} days`).toBe(true);
      for (const bundle of instances) expect(isTrusted(operator.certificate, bundle, now), `after ${days} days`).toBe(true);
      // The second instance is always one step behind.
      instances = [next.bundle, instances[0] ?? ""];
      if (days % 360 === 0) application = next.bundle;
      kept = next;
    }
    const count = (action: string) => actions.filter((done) => done === action).length;
    expect({ added: count("add authority"), taken: count("take over"), anew: count("make anew") }).toEqual({ added: 3, taken: 3, anew: 0 });
    expect(splitBundle(kept.bundle).length).toBeLessThanOrEqual(2);
  });

  test("after the loss of the authority's key, the operator shows instances their own certificate until they trust the next", async () => {
    const lost = { ...first, authorityKey: "" };
    const now = dayAt(30);
    const { kept, plans } = await rotateCertificates(lost, { database, trusted: [first.bundle], now });
    expect(plans.map(({ action }) => action)).toEqual(["add authority"]);
    expect(await clientCertificate(kept, database, "operator", now)).toEqual({ certificate: first.certificate, key: first.key });
    const noted = await rotateCertificates(kept, { database, trusted: [kept.bundle], now });
    const taken = await rotateCertificates(noted.kept, { database, trusted: [kept.bundle], now: dayAt(30.1) });
    expect(taken.plans.map(({ action }) => action)).toEqual(["take over"]);
    expect(isTrusted(taken.kept.certificate, kept.bundle, dayAt(31))).toBe(true);
  });
});

function isTrusted(pem: string, bundle: string, now: Date): boolean {
  const certificate = new X509Certificate(pem);
  const authorities = splitBundle(bundle).map((authority) => new X509Certificate(authority));
  return isValidAt(certificate, now) && authorities.some((authority) => isValidAt(authority, now) && isIssuedBy(certificate, authority));
}
