import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeClock } from "../fake-clock.fixture.ts";
import type { Serving } from "../serving/serving.ts";
import type { Reviewer } from "./access.ts";
import { createLog } from "./log.ts";
import { type MetricsServerOptions, startMetricsServer } from "./metrics-server.ts";
import { selfMadeCertificate } from "./self-made-certificate.ts";

const lines: string[] = [];
const log = createLog({ level: "debug", pretty: false, destination: { write: (line) => void lines.push(line) } });
const metrics = { text: async () => "up 1\n", contentType: "text/plain; version=0.0.4; charset=utf-8" };
const away = { raw: () => Promise.reject(new Error("the API server is away")) } as unknown as Reviewer;

let directory: string;
let serving: Serving | undefined;

async function start(options: Partial<MetricsServerOptions>): Promise<void> {
  lines.length = 0;
  serving = await startMetricsServer({ address: "127.0.0.1:0", metrics, security: { kind: "https", client: away }, log, ...options });
}

/** The status, and the server's name in its certificate. */
async function get(path: string, headers: Record<string, string> = {}): Promise<{ status: number; fingerprint: string }> {
  return await new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: serving?.port, path, headers, rejectUnauthorized: false, agent: false };
    const call = request(options, (answer) => {
      answer.resume();
      resolve({ status: answer.statusCode ?? 0, fingerprint: (answer.socket as TLSSocket).getPeerCertificate().fingerprint256 });
    });
    call.on("error", reject).end();
  });
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sampledb-certificate-"));
});

afterEach(async () => {
  await serving?.stop();
  serving = undefined;
  rmSync(directory, { recursive: true });
});

async function writeCertificate(): Promise<void> {
  const { certificate, key } = await selfMadeCertificate();
  writeFileSync(join(directory, "tls.crt"), certificate);
  writeFileSync(join(directory, "tls.key"), key);
}

test.each(["127.0.0.1:0", "localhost:0"])("metrics without authentication are served on %s", async (address) => {
  await start({ address, security: { kind: "http" } });
  const answer = await fetch(`http://localhost:${serving?.port}/metrics`);
  expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([200, metrics.contentType, "up 1\n"]);
  expect((await fetch(`http://localhost:${serving?.port}/`)).status).toBe(404);
  expect((await fetch(`http://localhost:${serving?.port}/metrics`, { method: "DELETE" })).status).toBe(405);
});

test.each([":8443", "0.0.0.0:8443", "[::]:8443", "10.0.0.1:8443", "example.com:8443"])(
  "metrics without authentication are refused on %s",
  async (address) => {
    await expect(start({ address, security: { kind: "http" } })).rejects.toThrow(
      `metrics without authentication are served on loopback only: --metrics-bind-address must look like 127.0.0.1:8080, and is ${address}`,
    );
  },
);

test("address 0 switches the metrics server off", async () => {
  await start({ address: "0" });
  expect(serving).toBeUndefined();
});

test("while the API server does not answer, access is refused, and only the log has the reason", async () => {
  await start({});
  expect((await get("/metrics")).status).toBe(401);
  expect((await get("/metrics", { authorization: "Bearer hunter2" })).status).toBe(500);
  expect(lines.join("")).toContain("the API server is away");
  expect(lines.join("")).not.toContain("hunter2");
});

test("a replaced certificate is used, and a broken one is not", async () => {
  const clock = new FakeClock();
  await writeCertificate();
  await start({ security: { kind: "https", client: away, certificateDirectory: directory }, clock });
  const { fingerprint: first } = await get("/metrics");

  writeFileSync(join(directory, "tls.crt"), (await selfMadeCertificate()).certificate); // its key is missing yet
  for (const _ of [1, 2]) await clock.advance(60_000);
  expect((await get("/metrics")).fingerprint).toBe(first);
  expect(lines.filter((line) => line.includes("stays as it is"))).toHaveLength(1);

  await writeCertificate();
  await clock.advance(60_000);
  expect((await get("/metrics")).fingerprint).not.toBe(first);

  await serving?.stop();
  expect(clock.armed).toBe(0);
});

test("a directory without a certificate is reported in one sentence", async () => {
  const security = { kind: "https", client: away, certificateDirectory: directory } as const;
  await expect(start({ security })).rejects.toThrow(`no certificate: ${directory} has neither tls.crt and tls.key`);
});
