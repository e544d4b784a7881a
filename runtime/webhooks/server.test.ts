// The HTTPS server by itself: its refusals, its answers when a handler fails, and its end.

import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect as connectPlain } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:tls";
import { Agent, request } from "undici";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CertifiedKey, createAuthority, issueCertificate } from "../certificates/issue.ts";
import { createLog } from "../observability/log.ts";
import { allowed, denied, patched } from "./admission.ts";
import { WebhookServer } from "./server.ts";

const hour = 3_600_000;
const now = new Date();
const authority = await createAuthority({ commonName: "ca", lifetimeMs: hour, now });
const leaf = () => issueCertificate(authority, { commonName: "w", ipAddresses: ["127.0.0.1"], usages: ["server"], lifetimeMs: hour, now });
const [certificate, other] = await Promise.all([leaf(), leaf()]);

let server: WebhookServer;
let port: number;
let agent: Agent;
let counted: string[];

beforeEach(async () => {
  counted = [];
  agent = new Agent({ connect: { ca: authority.certificate } });
  server = new WebhookServer({
    certificate,
    address: { host: "127.0.0.1", port: 0 },
    log: createLog({ level: "error", destination: { write: () => {} } }),
    listener: (path, code) => counted.push(`${path} ${code}`),
    handlerTimeoutMs: 200,
    graceMilliseconds: 100,
  });
  server.validate("/yes", () => allowed(["careful"]));
  server.validate("/no", () => denied({ message: "not so" }));
  server.validate("/invalid", () =>
    denied({ message: "wrong", causes: [{ reason: "FieldValueInvalid", field: "spec.size", message: "too big" }] }),
  );
  server.mutate("/change", () => patched([{ op: "add", path: "/spec/size", value: 1 }]));
  server.mutate("/same", () => patched([]));
  server.validate("/throws", () => {
    throw new Error("no such table");
  });
  server.validate("/hangs", () => new Promise(() => {}));
  server.validate("/slow", async () => {
    await sleep(100);
    return allowed();
  });
  port = await server.listen();
});

afterEach(async () => {
  await agent.destroy();
  await server.stop();
});

const question = {
  uid: "u1",
  kind: { group: "g", version: "v1", kind: "Widget" },
  resource: { group: "g", version: "v1", resource: "widgets" },
  name: "w",
  operation: "CREATE",
  userInfo: { username: "me" },
  object: { metadata: { name: "w" } },
  oldObject: null,
};

async function post(path: string, body: string, method = "POST", type = "application/json"): Promise<{ code: number; text: string }> {
  const answer = await request(`https://127.0.0.1:${port}${path}`, { method, headers: { "content-type": type }, body, dispatcher: agent });
  return { code: answer.statusCode, text: await answer.body.text() };
}

async function review(path: string, change: object = {}): Promise<unknown> {
  const body = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: { ...question, ...change } };
  const { code, text } = await post(path, JSON.stringify(body));
  expect(code, text).toBe(200);
  return (JSON.parse(text) as { response: unknown }).response;
}

const ours = "the operator failed while it checked this request; the fault is the operator's, not the object's";

test.each([
  ["/yes?timeout=5s", { uid: "u1", allowed: true, warnings: ["careful"] }, "/yes 200"],
  ["/no", { uid: "u1", allowed: false, status: { status: "Failure", message: "not so", reason: "Forbidden", code: 403 } }, "/no 200"],
  [
    "/invalid",
    { status: { reason: "Invalid", code: 422, details: { kind: "Widget", name: "w", causes: [{ field: "spec.size" }] } } },
    "/invalid 200",
  ],
  ["/change", { allowed: true, patchType: "JSONPatch", patch: btoa('[{"op":"add","path":"/spec/size","value":1}]') }, "/change 200"],
  ["/same", { uid: "u1", allowed: true, warnings: [] }, "/same 200"],
  ["/throws", { allowed: false, status: { code: 500, reason: "InternalError", message: `${ours}: no such table` } }, "/throws 500"],
  [
    "/hangs",
    { allowed: false, status: { code: 504, reason: "Timeout", message: `${ours}: it did not decide within 0.2 s` } },
    "/hangs 504",
  ],
])("the answer at %s", async (path, response, count) => {
  expect(await review(path)).toMatchObject(response);
  expect(counted).toEqual([count]);
});

describe("the webhook server refuses", () => {
  const reviewOf = (change: object) => JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", ...change });
  test.each([
    ["an unknown path", "/else", "{}", "POST", undefined, 404, /no webhook at/],
    ["another method", "/yes", "{}", "PUT", undefined, 405, /by POST/],
    ["another content type", "/yes", "{}", "POST", "application/yaml", 415, /only application\/json/],
    ["a body that is too large", "/yes", `"${"x".repeat(9 * 1024 * 1024)}"`, "POST", undefined, 413, /larger than 4194304/],
    ["a body that is not JSON", "/yes", "{", "POST", undefined, 400, /not JSON/],
    ["null", "/yes", "null", "POST", undefined, 400, /not an AdmissionReview/],
    ["an old review", "/yes", reviewOf({ apiVersion: "admission.k8s.io/v1beta1" }), "POST", undefined, 400, /not an AdmissionReview of/],
    ["a review without a request", "/yes", reviewOf({}), "POST", undefined, 400, /no whole request/],
    ["an update of nothing", "/yes", reviewOf({ request: { ...question, operation: "UPDATE" } }), "POST", undefined, 400, /UPDATE/],
    ["another operation", "/yes", reviewOf({ request: { ...question, operation: "CONNECT" } }), "POST", undefined, 400, /CONNECT/],
  ] as const)("%s", async (_, path, body, method, type, code, message) => {
    const answer = await post(path, body, method, type);
    expect(answer.code).toBe(code);
    expect(answer.text).toMatch(message);
    expect(counted).toEqual(code === 404 ? [] : [`${path} ${code}`]); // unknown paths would make the metrics grow without end
  });
});

test("null and missing fields reach the handler as its types say", async () => {
  server.validate("/see", (seen) =>
    denied({ message: JSON.stringify([seen.oldObject === undefined, seen.namespace, seen.dryRun, seen.name]) }),
  );
  expect(await review("/see", { name: undefined })).toMatchObject({ status: { message: '[true,"",false,""]' } });
});

test("the webhook server speaks TLS 1.2 and newer", async () => {
  const handshake = (version: "TLSv1.1" | "TLSv1.2") =>
    new Promise<string>((resolve) => {
      const ciphers = "DEFAULT@SECLEVEL=0"; // or this client would refuse TLS 1.1 itself
      const socket = connect({ host: "127.0.0.1", port, ca: authority.certificate, minVersion: "TLSv1.1", maxVersion: version, ciphers });
      socket.on("secureConnect", () => resolve(socket.getProtocol() ?? "")).on("error", (error) => resolve(error.message));
      socket.on("close", () => resolve("closed")).on("secureConnect", () => socket.destroy());
    });
  expect(await handshake("TLSv1.2")).toBe("TLSv1.2");
  expect(await handshake("TLSv1.1")).toMatch(/alert protocol version/);
});

test("new connections get a new certificate while an open one continues; a mismatched pair changes nothing", async () => {
  const served = () =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port, ca: authority.certificate }, () => {
        resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? "");
        socket.destroy();
      }).on("error", reject);
    });
  const print = (pair: CertifiedKey) => new X509Certificate(pair.certificate).fingerprint256;
  expect(await served()).toBe(print(certificate));
  const open = review("/slow");
  await sleep(30);
  server.useCertificate(other);
  expect(await served()).toBe(print(other));
  expect(await open).toMatchObject({ allowed: true });
  expect(() => server.useCertificate({ certificate: certificate.certificate, key: other.key })).toThrow(/mismatch/);
  expect(await served()).toBe(print(other));
});

test("a retiring server answers, and closes the connection with the answer", async () => {
  const ask = async () => {
    const answer = await request(`https://127.0.0.1:${port}/yes`, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      dispatcher: agent,
    });
    await answer.body.dump();
    return answer.headers["connection"];
  };
  expect(await ask()).toBe("keep-alive");
  server.retire();
  expect(await ask()).toBe("close");
  expect(await review("/yes")).toMatchObject({ allowed: true });
});

test("a stop answers pending requests, accepts no new ones, and does not wait for ever", async () => {
  const asked = review("/slow");
  await sleep(50);
  const begin = performance.now();
  const stopped = server.stop();
  expect(await asked).toMatchObject({ allowed: true });
  await stopped;
  expect(performance.now() - begin).toBeLessThan(2000); // the kept-alive connection does not delay it
  await expect(review("/yes")).rejects.toThrow(/ECONNREFUSED/);
});

test("a silent connection does not delay a stop", async () => {
  const silent = connectPlain(port, "127.0.0.1");
  await once(silent, "connect");
  const begin = performance.now();
  await server.stop();
  expect(performance.now() - begin).toBeLessThan(2000);
  silent.destroy();
});

test("a stop cuts off answers that take longer than its grace", async () => {
  const asked = expect(review("/hangs")).rejects.toThrow(/closed|ECONNRESET/);
  await sleep(50);
  await server.stop();
  await asked;
});
