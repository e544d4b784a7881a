// Certificates that are made, read again, and accepted by a real TLS handshake.
import { X509Certificate } from "node:crypto";
import { connect, createServer, type TLSSocket } from "node:tls";
import { describe, expect, test } from "vitest";
import { describeCertificate, fits, isIssuedBy, readCertificate, servesAs, splitBundle } from "./inspect.ts";
import { type CertifiedKey, createAuthority, issueCertificate, type LeafOptions } from "./issue.ts";

const hour = 3_600_000;
const now = new Date("2030-05-01T12:00:00Z");
const authority = await createAuthority({ commonName: "one", lifetimeMs: 100 * hour, now });
const other = await createAuthority({ commonName: "one", lifetimeMs: 100 * hour, now });
const serverOptions: LeafOptions = {
  commonName: "server",
  organization: "us",
  dnsNames: ["db.ns.svc", "*.db.ns.svc"],
  ipAddresses: ["127.0.0.1", "::1"],
  usages: ["server", "client"],
  lifetimeMs: 10 * hour,
  now,
};

test("an authority and a leaf contain what they were made with", async () => {
  expect(describeCertificate(authority.certificate)).toMatchObject({
    subject: "CN=one",
    issuer: "CN=one",
    notBefore: new Date("2030-05-01T11:00:00Z"),
    notAfter: new Date("2030-05-05T16:00:00Z"),
    dnsNames: [],
    isAuthority: true,
  });
  const leaf = await issueCertificate(authority, serverOptions);
  expect(describeCertificate(leaf.certificate)).toMatchObject({
    subject: "O=us\nCN=server",
    commonName: "server",
    issuer: "CN=one",
    notBefore: new Date("2030-05-01T11:00:00Z"),
    notAfter: new Date("2030-05-01T22:00:00Z"),
    dnsNames: ["db.ns.svc", "*.db.ns.svc"],
    ipAddresses: ["127.0.0.1", "0:0:0:0:0:0:0:1"],
    isAuthority: false,
  });
});

test("a leaf never outlives its authority, and an expired or keyless authority signs nothing", async () => {
  const leaf = await issueCertificate(authority, { ...serverOptions, lifetimeMs: 1000 * hour });
  expect(describeCertificate(leaf.certificate).notAfter).toEqual(describeCertificate(authority.certificate).notAfter);
  await expect(issueCertificate(authority, { ...serverOptions, now: new Date("2030-06-01") })).rejects.toThrow(/has expired at 2030-05-05/);
  await expect(issueCertificate({ ...authority, key: other.key }, serverOptions)).rejects.toThrow(/does not fit/);
  await expect(issueCertificate(authority, { ...serverOptions, commonName: "x".repeat(65) })).rejects.toThrow(/too long/);
});

test("certificates are matched by keys and signatures, not by names", async () => {
  const leaf = await issueCertificate(authority, serverOptions);
  expect([
    fits(leaf.certificate, leaf.key),
    fits(leaf.certificate, other.key),
    fits("garbage", leaf.key),
    fits(leaf.certificate, ""),
  ]).toEqual([true, false, false, false]);
  const certificate = new X509Certificate(leaf.certificate);
  expect(isIssuedBy(certificate, new X509Certificate(authority.certificate))).toBe(true);
  expect(isIssuedBy(certificate, new X509Certificate(other.certificate))).toBe(false);
  const names = ["db.ns.svc", "a.db.ns.svc", "127.0.0.1", "::1", "server", "b.svc", "127.0.0.2"];
  expect(names.filter((name) => servesAs(certificate, name))).toEqual(["db.ns.svc", "a.db.ns.svc", "127.0.0.1", "::1"]);
});

test("a bundle is split, whatever text is between its certificates", () => {
  const bundle = `# first\n${authority.certificate}\r\nnoise\n${other.certificate}`;
  expect(splitBundle(bundle)).toEqual([authority.certificate, other.certificate]);
  expect(splitBundle("")).toEqual([]);
  expect(readCertificate("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")).toBeUndefined();
});

describe("in a TLS handshake", async () => {
  const today = new Date();
  const live = await createAuthority({ commonName: "live", lifetimeMs: hour, now: today });
  const leaf = (usages: LeafOptions["usages"]) =>
    issueCertificate(live, { commonName: "c", dnsNames: ["localhost"], usages, lifetimeMs: hour, now: today });

  test.each([
    ["server and client each have their usage", ["server"], ["client"], "authorized"],
    ["a client's certificate does not work for a server", ["client"], ["client"], "unsuitable certificate purpose"],
    ["a server's certificate does not work for a client", ["server"], ["server"], "refused by the server"],
  ] as const)("%s", async (_, server, client, outcome) => {
    expect(await handshake(live, await leaf(server), await leaf(client))).toBe(outcome);
  });
});

async function handshake(authority: CertifiedKey, server: CertifiedKey, client: CertifiedKey): Promise<string> {
  const ca = authority.certificate;
  const listener = createServer({ cert: server.certificate, key: server.key, ca, requestCert: true, rejectUnauthorized: true }, (socket) =>
    socket.end("hello"),
  );
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as { port: number };
  let socket: TLSSocket | undefined;
  try {
    return await new Promise((resolve) => {
      socket = connect({ host: "127.0.0.1", servername: "localhost", port, ca, cert: client.certificate, key: client.key });
      socket.on("data", () => resolve("authorized"));
      socket.on("error", (error) => resolve(error.message));
      socket.on("close", () => resolve("refused by the server"));
    });
  } finally {
    socket?.destroy();
    listener.close();
  }
}
