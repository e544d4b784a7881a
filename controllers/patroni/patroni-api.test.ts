// Calls over real TLS to servers that fail as networks and certificates do. The e2e suites test Patroni itself.
import { once } from "node:events";
import { type AddressInfo, createServer as createPlainServer, type Server } from "node:net";
import { Duplex } from "node:stream";
import { createServer, type TLSSocket } from "node:tls";
import { afterAll, describe, expect, test } from "vitest";
import { createAuthority, issueCertificate } from "../../runtime/certificates/issue.ts";
import { clientCertificate, nothingKept, rotateCertificates } from "../database/certificates.ts";
import { type Dial, dialDirectly } from "./dial.ts";
import { PatroniApi, type PatroniApiOptions } from "./patroni-api.ts";
import { PatroniError, PatroniRefused, PatroniTimeout, PatroniUnreachable } from "./patroni-errors.ts";

const now = new Date();
const database = { namespace: "team-a", name: "orders" };
const { kept } = await rotateCertificates(nothingKept, { database, trusted: [], now });
const { kept: stranger } = await rotateCertificates(nothingKept, { database, trusted: [], now });
const identity = await clientCertificate(kept, database, "operator", now);
const status = '{"state": "running", "role": "primary"}';
const servers = new Set<Server>();

afterAll(() => {
  for (const server of servers) server.close();
});

/** Answers a request with the result of `script`, like Patroni: HTTP 1.0, where the answer ends with the connection. */
async function serve(script: (request: string, socket: TLSSocket) => void, certificate = kept): Promise<number> {
  const server = createServer(
    { cert: certificate.certificate, key: certificate.key, ca: kept.bundle, requestCert: true, rejectUnauthorized: false },
    (socket) => {
      socket.on("error", () => undefined);
      socket.once("data", (data) => script(data.toString(), socket));
    },
  );
  servers.add(server);
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const answer = (code: number, body: string) => (_: string, socket: TLSSocket) => void socket.end(`HTTP/1.0 ${code} Told\r\n\r\n${body}`);
const silent = () => undefined;

function api(port: number, options: Partial<PatroniApiOptions> = {}): PatroniApi {
  const pod = { namespace: "team-a", name: "orders-0", ip: "127.0.0.1" };
  return new PatroniApi({ pod, port, dial: dialDirectly, authorities: kept.bundle, identity, ...options });
}

async function failureOf(call: Promise<unknown>): Promise<Error> {
  return await call.then(
    () => new Error("it did not fail"),
    (error: Error) => error,
  );
}

test("a status comes with the served certificate, and is asked for without a client certificate", async () => {
  let peer: object | undefined;
  const port = await serve((request, socket) => {
    peer = socket.getPeerCertificate();
    answer(200, request.startsWith("GET /patroni HTTP/1.1\r\n") ? status : "")(request, socket);
  });
  expect(await api(port).status()).toMatchObject({
    state: "running",
    role: "primary",
    certificateFingerprint: expect.stringMatching(/^[0-9A-F:]{95}$/),
    certificateExpires: expect.any(Date),
  });
  expect(peer).toEqual({});
});

test("a call works over a connection that is no socket, such as one through the API server", async () => {
  const port = await serve(answer(200, status));
  const dial: Dial = async (...where) => {
    const socket = await dialDirectly(...where);
    return Duplex.from({ readable: socket, writable: socket });
  };
  expect(await api(port, { dial }).status()).toMatchObject({ state: "running" });
  const silence = await serve(silent);
  expect(await api(silence, { dial }).restart({ deadline: 500 })).toBe("under way");
});

test.each([
  ["restart", (patroni: PatroniApi) => patroni.restart(), "{}"],
  ["restart", (patroni: PatroniApi) => patroni.restart({ ifPending: true }), '{"restart_pending":true}'],
  ["reinitialize", (patroni: PatroniApi) => patroni.reinitialize(), '{"force":true}'],
  ["reload", (patroni: PatroniApi) => patroni.reload(), ""],
])("%s is called with the operator's certificate", async (path, call, body) => {
  let seen: unknown;
  const port = await serve((request, socket) => {
    const { subject } = socket.getPeerCertificate();
    seen = [subject.CN, socket.authorized, request.split(" HTTP")[0], request.split("\r\n\r\n")[1]];
    answer(200, "done")(request, socket);
  });
  await call(api(port));
  expect(seen).toEqual(["team-a/orders/operator", true, `POST /${path}`, body]);
});

describe("a restart", () => {
  test.each([
    ["that ends in time is reported as restarted", {}, answer(200, "restarted successfully"), "restarted"],
    ["that takes longer than the deadline is under way", { deadline: 300 }, silent, "under way"],
    ["that was begun before is under way", {}, answer(503, "restart already in progress"), "under way"],
    ["after which PostgreSQL still starts is under way", {}, answer(503, "postgres is still starting"), "under way"],
    [
      "with ifPending is not pending where no setting waits for it",
      { ifPending: true },
      answer(503, "restart conditions are not satisfied"),
      "not pending",
    ],
  ])("%s", async (_, options, script, expected) => {
    expect(await api(await serve(script)).restart(options)).toBe(expected);
  });

  test.each([
    ["while a copy is made", answer(503, "reinitialize already in progress"), "reinitialize already in progress"],
    ["that fails", answer(503, "restart failed"), "restart failed"],
  ])("%s is refused", async (_, script, message) => {
    const failure = await failureOf(api(await serve(script)).restart());
    expect(failure).toBeInstanceOf(PatroniRefused);
    expect(failure.message).toBe(`POST /restart at team-a/orders-0: ${message}`);
  });

  test("whose request was never sent fails with a timeout", async () => {
    const failure = await failureOf(api(1, { dial: () => new Promise(() => undefined) }).restart({ deadline: 100 }));
    expect(failure).toMatchObject({ name: "PatroniTimeout", sent: false });
  });
});

test("reinitialize resolves at the deadline, because Patroni goes on by itself", async () => {
  await api(await serve(silent)).reinitialize({ deadline: 300 });
});

describe("a call", () => {
  test("to a port without a listener is unreachable", async () => {
    const failure = await failureOf(api(1).status());
    expect(failure).toBeInstanceOf(PatroniUnreachable);
    expect(failure.message).toBe("GET /patroni at team-a/orders-0: connect ECONNREFUSED 127.0.0.1:1");
  });

  test("over a connection that is never made, never secured or never answered ends at the deadline", async () => {
    const begin = performance.now();
    const never = api(1, {
      dial: (_, __, signal) => new Promise((___, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    });
    const plain = createPlainServer(() => undefined).listen(0, "127.0.0.1");
    servers.add(plain);
    await once(plain, "listening");
    const quiet = api(await serve(silent));
    for (const patroni of [never, api((plain.address() as AddressInfo).port), quiet]) {
      const failure = await failureOf(patroni.status({ deadline: 200 }));
      expect(failure).toBeInstanceOf(PatroniTimeout);
      expect(failure.message).toBe("GET /patroni at team-a/orders-0: no answer within 0.2 s");
    }
    expect(performance.now() - begin).toBeLessThan(2000);
  });

  test("whose answer drips ends at the deadline, and one whose answer has no end ends by its length", async () => {
    const drip = await serve((_, socket) => {
      socket.write("HTTP/1.0 200 OK\r\n\r\n");
      const timer = setInterval(() => socket.write(" "), 20);
      socket.once("close", () => clearInterval(timer));
    });
    expect(await failureOf(api(drip).status({ deadline: 200 }))).toBeInstanceOf(PatroniTimeout);
    const failure = await failureOf(api(await serve(answer(200, "x".repeat(2_000_000)))).status());
    expect(failure.message).toMatch(/the answer is longer than 1048576 bytes/);
  });

  test("to a server of another authority fails", async () => {
    const port = await serve(answer(200, status), stranger);
    expect(await failureOf(api(port).status())).toBeInstanceOf(PatroniUnreachable);
  });

  test("to a server that shows a client's certificate of the right authority fails", async () => {
    const port = await serve(answer(200, status), { ...kept, ...identity });
    const failure = await failureOf(api(port).status());
    expect(failure.message).toMatch(/unsuitable certificate purpose/);
  });

  test("succeeds during a rotation with a server of either authority", async () => {
    const port = await serve(answer(200, status), stranger);
    expect(await api(port, { authorities: kept.bundle + stranger.bundle }).status()).toMatchObject({ state: "running" });
  });

  test("to a server with an expired certificate fails", async () => {
    const before = new Date(now.getTime() - 48 * 3_600_000);
    const authority = await createAuthority({ commonName: "old", lifetimeMs: 72 * 3_600_000, now: before });
    const leaf = await issueCertificate(authority, { commonName: "s", usages: ["server"], lifetimeMs: 3_600_000, now: before });
    const port = await serve(answer(200, status), { ...kept, ...leaf });
    expect((await failureOf(api(port, { authorities: authority.certificate }).status())).message).toMatch(/certificate has expired/);
  });

  test("whose connection breaks in the middle of the answer is unreachable", async () => {
    const port = await serve((_, socket) => void socket.write("HTTP/1.0 200 OK\r\nContent-Length: 100\r\n\r\n{", () => socket.destroy()));
    expect(await failureOf(api(port).status())).toBeInstanceOf(PatroniUnreachable);
  });

  test.each([
    [403, "client certificate required", "client certificate required"],
    [503, "I am the leader,\n can not reinitialize", "I am the leader, can not reinitialize"],
    [501, "<!DOCTYPE HTML>\n<html>Error response</html>", "answered 501"],
    [500, "x".repeat(1000), "x".repeat(300)],
  ])("that Patroni refuses with %s has Patroni's own words as its message", async (code, body, told) => {
    const failure = await failureOf(api(await serve(answer(code, body))).reinitialize());
    expect(failure).toBeInstanceOf(PatroniRefused);
    expect(failure).toMatchObject({ status: code, message: `POST /reinitialize at team-a/orders-0: ${told}` });
  });

  test.each(["", "OK", "{}"])("that is answered with %j, which is no status, fails", async (body) => {
    const failure = await failureOf(api(await serve(answer(200, body))).status());
    expect(failure).toBeInstanceOf(PatroniError);
    expect(failure.message).toMatch(/the answer is no status/);
  });

  test("that its caller gives up rejects with the caller's reason", async () => {
    const port = await serve(silent);
    const reason = new Error("shutting down");
    expect(await failureOf(api(port).restart({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    const end = new AbortController();
    setTimeout(() => end.abort(reason), 100);
    expect(await failureOf(api(port).restart({ signal: end.signal }))).toBe(reason);
  });
});

test("no connection outlives its call", async () => {
  const open = new Set<TLSSocket>();
  const port = await serve((request, socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    if (open.size % 2 === 0) answer(200, status)(request, socket);
  });
  await Promise.allSettled(Array.from({ length: 20 }, () => api(port).status({ deadline: 500 })));
  await expect.poll(() => open.size).toBe(0);
});
