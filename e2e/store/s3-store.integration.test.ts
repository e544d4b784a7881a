// The store stores, lets in whom it should, and each of its faults is what its name says to a plain client.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { S3Client } from "./s3-client.ts";
import { S3Store } from "./s3-store.ts";

const bucket = "backups";
const megabyte = randomBytes(1_000_000);
let store: S3Store;
let client: S3Client;

beforeAll(async () => {
  store = await S3Store.start({ names: ["s3.backups.svc"] });
  client = store.client();
  await store.makeBucket(bucket);
});

afterAll(() => store[Symbol.asyncDispose]());

test("objects are put, read, listed and deleted", async () => {
  const key = "a folder/with = signs & (more)+é";
  await client.put(bucket, key, megabyte);
  await client.put(bucket, "b", "small");
  expect((await client.get(bucket, key)).equals(megabyte)).toBe(true);
  expect(await store.objects(bucket, "a folder/")).toEqual([{ key, size: 1_000_000 }]);
  expect(await client.list(bucket)).toEqual([
    { key, size: 1_000_000 },
    { key: "b", size: 5 },
  ]);
  await client.delete(bucket, key);
  await client.delete(bucket, "b");
  expect(await store.objects(bucket)).toEqual([]);
});

test("a fault waits for the segment that is to meet it", async () => {
  const segments = [1, 2, 3].map((number) => `prefix/archive/uid-17-1/17-1/00000001/${String(number).padStart(24, "0")}-c0ffee`);
  for (const key of segments) await client.put(bucket, key, "segment");
  const [first = "", second = "", third = ""] = segments;
  const set = store.faultAtSegment(2, "refusing");
  await client.get(bucket, first);
  await client.get(bucket, first); // asked for again, it is the same one
  await expect(client.get(bucket, second)).rejects.toThrow();
  await set;
  await expect(client.get(bucket, third)).rejects.toThrow();
  await store.fault(undefined);
  for (const key of segments) await client.delete(bucket, key);
});

test("the certificate is valid for the address and the names, and only with the store's own authority", async () => {
  const trusted = async (options: object) => {
    const socket = connectTls({ host: store.address, port: store.port, ...options });
    try {
      await once(socket, "secureConnect");
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    } finally {
      socket.destroy();
    }
  };
  const ca = store.caCertificate;
  expect(await trusted({ ca })).toBe(true);
  expect(await trusted({ ca, servername: "s3.backups.svc" })).toBe(true);
  expect(await trusted({ ca, servername: "s3.other.svc" })).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  expect(await trusted({})).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
});

test("a key may do what it was made for in its bucket, until it is removed", async () => {
  await store.makeBucket("others");
  const [key, reader] = [await store.addKey(bucket), await store.addKey(bucket, ["s3:GetObject"])];
  const [own, reading] = [store.client(key), store.client(reader)];
  await own.put(bucket, "mine", "text");
  expect(await own.list(bucket)).toHaveLength(1);
  expect((await reading.get(bucket, "mine")).toString()).toBe("text");
  await expect(reading.put(bucket, "mine", "other")).rejects.toMatchObject({ status: 403, code: "AccessDenied" });
  await expect(own.put("others", "mine", "text")).rejects.toMatchObject({ status: 403, code: "AccessDenied" });
  await own.delete(bucket, "mine");
  await store.removeKey(key);
  await expect(own.list(bucket)).rejects.toMatchObject({ status: 403, code: "InvalidAccessKeyId" });
});

describe("a fault", () => {
  beforeAll(() => client.put(bucket, "before", megabyte));

  afterEach(async () => {
    await store.fault(undefined);
    await client.put(bucket, "after", "text");
    expect((await client.get(bucket, "before")).equals(megabyte)).toBe(true);
    await client.delete(bucket, "after");
    expect(await store.objects(bucket)).toEqual([{ key: "before", size: 1_000_000 }]);
  });

  /** A connection that has come to nothing, neither bytes nor an end, after the time that others need many times. */
  async function unanswered(): Promise<"no connection" | "no byte" | "answered"> {
    const socket = connectTls({ host: store.address, port: store.port, ca: store.caCertificate }).on("error", () => {});
    try {
      const answered = await Promise.race([once(socket, "secureConnect").then(() => true), sleep(700, false)]);
      if (answered || socket.destroyed) return "answered";
      return socket.connecting ? "no connection" : "no byte";
    } finally {
      socket.destroy();
    }
  }

  test("dead: no connection is made, and none is refused", async () => {
    await store.fault("dead");
    expect(await Promise.all([unanswered(), unanswered(), unanswered()])).toEqual(Array(3).fill("no connection"));
    expect(await store.objects(bucket)).toHaveLength(1);
  });

  test("refusing", async () => {
    await store.fault("refusing");
    await expect(client.get(bucket, "before")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("silent: connections are made, and no byte comes", async () => {
    await store.fault("silent");
    expect(await Promise.all([unanswered(), unanswered(), unanswered()])).toEqual(Array(3).fill("no byte"));
  });

  test("denied", async () => {
    await store.fault("denied");
    await expect(client.put(bucket, "new", megabyte)).rejects.toMatchObject({ status: 403, code: "AccessDenied" });
    await expect(client.list(bucket)).rejects.toMatchObject({ status: 403, code: "AccessDenied" });
  });

  test("failing", async () => {
    await store.fault("failing");
    await expect(client.put(bucket, "new", megabyte)).rejects.toMatchObject({ status: 500, code: "InternalError" });
    await expect(client.list(bucket)).rejects.toMatchObject({ status: 500, code: "InternalError" });
  });

  test("full: nothing is stored, and what is there can be read and deleted", async () => {
    await client.put(bucket, "old", "text");
    await store.fault("full");
    await expect(client.put(bucket, "new", megabyte)).rejects.toMatchObject({ status: 507, code: "XMinioStorageFull" });
    expect(await client.get(bucket, "before")).toHaveLength(1_000_000);
    await client.delete(bucket, "old");
  });

  test("slow: 2 MB/s for all connections together, up and down", async () => {
    await store.fault("slow");
    const begin = performance.now();
    await Promise.all([client.get(bucket, "before"), client.put(bucket, "new", megabyte), client.get(bucket, "before")]);
    const elapsed = performance.now() - begin;
    expect(elapsed).toBeGreaterThan(1450);
    await store.fault(undefined);
    await client.delete(bucket, "new");
  });

  test("cut: in the middle of an upload, of a download, and before an answer without a body", async () => {
    await client.put(bucket, "deleted", "text");
    await store.fault("cut");
    await expect(client.put(bucket, "new", megabyte)).rejects.toThrow(/ECONNRESET|EPIPE|socket hang up/);
    await expect(client.get(bucket, "before")).rejects.toThrow(/aborted|ECONNRESET|premature/i);
    await expect(client.send("HEAD", `/${bucket}/before`)).rejects.toThrow(/ECONNRESET|socket hang up/);
    await expect(client.delete(bucket, "deleted")).rejects.toThrow(/ECONNRESET|socket hang up/);
  });

  test.each([
    ["silent", "silent"],
    ["dead", "silent"],
    ["refusing", "reset"],
    ["cut", "reset"],
  ] as const)("%s: a connection that was there is %s", async (fault, outcome) => {
    const socket = connect(store.port, store.address);
    await once(socket, "connect");
    await sleep(50); // it is accepted
    const ended = once(socket, "close").catch(() => {});
    socket.on("error", () => {});
    await store.fault(fault);
    expect(await Promise.race([ended.then(() => "reset"), sleep(300, "silent")])).toBe(outcome);
    socket.destroy();
  });
});
