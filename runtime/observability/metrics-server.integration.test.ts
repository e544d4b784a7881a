// Metrics with the authentication and authorization of a real API server.
import { request } from "node:https";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StandaloneControlPlane } from "../../e2e/cluster/standalone.ts";
import { KubeClient } from "../kube/client.ts";
import { Credentials } from "../kube/credentials.ts";
import { kubeConfigFromFile } from "../kube/kube-config.ts";
import { Transport } from "../kube/transport.ts";
import type { Serving } from "../serving/serving.ts";
import { createLog } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { startMetricsServer } from "./metrics-server.ts";

let plane: StandaloneControlPlane;
let transport: Transport;
let serving: Serving;
const lines: string[] = [];

beforeAll(async () => {
  plane = await StandaloneControlPlane.start();
  const metrics = createMetrics();
  transport = new Transport(new Credentials(() => kubeConfigFromFile(plane.kubeconfig)), { listener: metrics.requests });
  const client = new KubeClient(transport, { fieldManager: "test" });
  const log = createLog({ level: "debug", pretty: false, destination: { write: (line) => void lines.push(line) } });
  serving = (await startMetricsServer({ address: "127.0.0.1:0", metrics, security: { kind: "https", client }, log })) as Serving;

  await plane.kubectl("create", "serviceaccount", "reader");
  await plane.kubectl("create", "serviceaccount", "stranger");
  await plane.kubectl("create", "clusterrole", "metrics-reader", "--verb=get", "--non-resource-url=/metrics");
  await plane.kubectl("create", "clusterrolebinding", "reader", "--clusterrole=metrics-reader", "--serviceaccount=default:reader");
});

afterAll(async () => {
  await serving?.stop();
  await transport?.close();
  await plane?.stop();
});

const token = async (account: string, ...options: string[]) => (await plane.kubectl("create", "token", account, ...options)).trim();

async function scrape(authorization?: string, path = "/metrics", method = "GET"): Promise<{ status: number; text: string }> {
  return await new Promise((resolve, reject) => {
    const headers = authorization === undefined ? {} : { authorization };
    const options = { host: "127.0.0.1", port: serving.port, path, method, headers, rejectUnauthorized: false, agent: false };
    const call = request(options, async (answer) => {
      resolve({ status: answer.statusCode ?? 0, text: (await answer.setEncoding("utf8").toArray()).join("") });
    });
    call.on("error", reject).end();
  });
}

test("an authorized user reads the metrics, including those of the reviews", async () => {
  const authorization = `Bearer ${await token("reader")}`;
  expect((await scrape(authorization)).status).toBe(200);
  const { status, text } = await scrape(authorization);
  expect(status).toBe(200);
  const { host } = new URL(plane.url);
  expect(text).toContain(`rest_client_requests_total{code="201",method="POST",host="${host}"}`);
  expect(text).toContain("nodejs_eventloop_lag_p99_seconds");
  expect(await scrape(authorization, "/metrics", "HEAD")).toEqual({ status: 200, text: "" });
});

test("reviews are cached: ten scrapes make two reviews", async () => {
  const authorization = `Bearer ${await token("reader")}`;
  const reviews = async () => Number(/rest_client_requests_total\{code="201",.*\} (\d+)/.exec((await scrape(authorization)).text)?.[1]);
  const after = await reviews(); // this call made reviews of its own
  for (let scrapes = 0; scrapes < 10; scrapes++) await scrape(authorization);
  expect(await reviews()).toBe(after);
});

test.each<[string, () => Promise<string | undefined>, number]>([
  ["no token", async () => undefined, 401],
  ["garbage", async () => "Bearer garbage", 401],
  ["a token with another's signature", async () => `Bearer ${(await token("reader")).slice(0, -10)}AAAAAAAAAA`, 401],
  ["a token for another audience", async () => `Bearer ${await token("reader", "--audience=elsewhere")}`, 401],
  ["a password", async () => "Basic cmVhZGVyOnJlYWRlcg==", 401],
  ["a user without the permission", async () => `Bearer ${await token("stranger")}`, 403],
])("metrics for %s are refused", async (_, authorization, status) => {
  const answer = await scrape(await authorization());
  expect(answer.status).toBe(status);
  expect(answer.text).not.toContain("rest_client");
});

test("a token of a deleted account is refused", async () => {
  await plane.kubectl("create", "serviceaccount", "gone");
  const authorization = `Bearer ${await token("gone")}`;
  await plane.kubectl("delete", "serviceaccount", "gone");
  expect((await scrape(authorization)).status).toBe(401);
});

test("other paths and methods are not served, not even to an authorized user", async () => {
  const authorization = `Bearer ${await token("reader")}`;
  expect((await scrape(authorization, "/")).status).toBe(404);
  expect((await scrape(authorization, "/metrics/x")).status).toBe(404);
  expect((await scrape(authorization, "/metrics", "POST")).status).toBe(405);
});

test("no token is written to the log", () => {
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.join("")).not.toMatch(/eyJ|garbage|Bearer/);
});
