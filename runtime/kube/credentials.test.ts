import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeConfig as KubeConfigType } from "@kubernetes/client-node";
import { KubeConfig } from "@kubernetes/client-node/dist/config.js";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Credentials } from "./credentials.ts";

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function config(cluster: object = {}, user: object = { token: "t-1" }): KubeConfigType {
  const made = new KubeConfig() as KubeConfigType;
  const usual = { name: "it", server: "https://kubernetes.example:6443/", caData: base64("ca-1"), skipTLSVerify: false };
  made.loadFromClusterAndUser({ ...usual, ...cluster }, { name: "me", ...user });
  return made;
}

const identityOf = (cluster?: object, user?: object) => new Credentials(() => config(cluster, user)).current();

describe("an identity", () => {
  test.each([
    ["a token", { token: "t" }, { authorization: "Bearer t" }],
    ["a password", { username: "me", password: "secret" }, { authorization: `Basic ${base64("me:secret")}` }],
    ["a user to impersonate", { token: "t", impersonateUser: "other" }, { authorization: "Bearer t", "impersonate-user": "other" }],
    ["nothing", {}, {}],
  ])("with %s", async (_, user, headers) => {
    expect(await identityOf({}, user)).toMatchObject({ server: "https://kubernetes.example:6443", headers });
  });

  test("has the keys and authorities of the connection, and no others", async () => {
    const user = { certData: base64("cert"), keyData: base64("key") };
    const { tls, proxy } = await identityOf({ tlsServerName: "kubernetes", proxyUrl: "http://proxy:3128" }, user);
    expect(tls.options).toEqual({ ca: Buffer.from("ca-1"), cert: Buffer.from("cert"), key: Buffer.from("key"), servername: "kubernetes" });
    expect(proxy).toBe("http://proxy:3128");
  });

  test("shares connections with identities that differ only in the token", async () => {
    const fingerprint = async (cluster?: object, user?: object) => (await identityOf(cluster, user)).tls.fingerprint;
    expect(await fingerprint({}, { token: "t-2" })).toBe(await fingerprint());
    const certificate = { certData: base64("c"), keyData: base64("k") };
    const others = await Promise.all([
      fingerprint(),
      fingerprint({ caData: base64("ca-2") }),
      fingerprint({ server: "https://other.example:6443" }),
      fingerprint({ proxyUrl: "http://proxy:3128" }),
      fingerprint({ tlsServerName: "kubernetes" }),
      fingerprint({ skipTLSVerify: true }),
      fingerprint({}, certificate),
      fingerprint({}, { ...certificate, keyData: base64("k-2") }),
    ]);
    expect(new Set(others).size).toBe(others.length);
  });
});

describe("credentials", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  /** Each read finds the next of these; an Error is thrown. */
  function reading(...found: (string | Error)[]) {
    const credentials = new Credentials(() => {
      const next = found.shift() ?? new Error("nothing more");
      if (next instanceof Error) throw next;
      return config({}, { token: next });
    });
    return { credentials, token: async () => (await credentials.current()).headers["authorization"]?.slice("Bearer ".length) };
  }

  test("are read again after a minute, and not before", async () => {
    const { token } = reading("first", "second");
    expect(await token()).toBe("first");
    vi.advanceTimersByTime(59_000);
    expect(await token()).toBe("first");
    vi.advanceTimersByTime(2000);
    expect(await token()).toBe("first"); // no call waits for a background read
    await vi.waitFor(async () => expect(await token()).toBe("second"));
  });

  test("are read again after a refusal, once for a crowd of refusals", async () => {
    const { credentials, token } = reading("first", "second", "third");
    expect(await token()).toBe("first");
    vi.advanceTimersByTime(1001);
    for (let refusal = 0; refusal < 20; refusal++) credentials.refresh();
    expect(await token()).toBe("second");
  });

  test("are kept when reading them again fails once", async () => {
    const { credentials, token } = reading("first", new Error("being replaced"), "second");
    expect(await token()).toBe("first");
    vi.advanceTimersByTime(1001);
    credentials.refresh();
    expect(await token()).toBe("first");
    vi.advanceTimersByTime(1001);
    credentials.refresh();
    expect(await token()).toBe("second");
  });

  test("that were never read are read by each call", async () => {
    const { token } = reading(new Error("no kubeconfig"), "first");
    await expect(token()).rejects.toThrow("no kubeconfig");
    expect(await token()).toBe("first");
  });

  test("read a token file each time, without the library's cache", async () => {
    const directory = mkdtempSync(join(tmpdir(), "token-"));
    try {
      const tokenFile = join(directory, "token");
      const user = { authProvider: { name: "tokenFile", config: { tokenFile } } };
      const same = config({}, user); // one library object that is used again and again
      const credentials = new Credentials(() => same);
      for (const token of ["first", "second"]) {
        writeFileSync(tokenFile, `${token}\n`);
        credentials.refresh();
        expect((await credentials.current()).headers["authorization"]).toBe(`Bearer ${token}`);
        vi.advanceTimersByTime(1001);
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
