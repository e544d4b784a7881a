import { createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { Serving } from "../serving/serving.ts";
import { type Check, type HealthServerOptions, startHealthServer } from "./health-server.ts";
import { createLog } from "./log.ts";

const lines: string[] = [];
const log = createLog({ level: "debug", pretty: false, destination: { write: (line) => void lines.push(line) } });
let serving: Serving | undefined;

async function start(options: Partial<HealthServerOptions> = {}): Promise<string> {
  lines.length = 0;
  serving = await startHealthServer({ address: "127.0.0.1:0", healthz: new Map(), readyz: new Map(), log, ...options });
  return `http://127.0.0.1:${serving?.port}`;
}

afterEach(async () => await serving?.stop());

const checks = new Map<string, Check>([
  ["well", () => undefined],
  ["cache", async () => "pods are not listed yet"],
  ["broken", () => Promise.reject(new TypeError("hunter2"))],
  ["hangs", () => new Promise(() => {})],
]);

test.each<[string, number, string]>([
  ["/healthz", 200, "ok"],
  ["/healthz/", 200, "ok"],
  ["/healthz/ping", 200, "ok"],
  ["/healthz?verbose", 200, "[+]ping ok\nhealthz check passed\n"],
  [
    "/readyz",
    500,
    "[-]broken failed: it threw TypeError\n[-]cache failed: pods are not listed yet\n[-]hangs failed: no answer within 0.05 s\n[+]well ok\nreadyz check failed\n",
  ],
  ["/readyz?exclude=broken&exclude=cache&exclude=hangs", 200, "ok"],
  [
    "/readyz?verbose=1&exclude=broken&exclude=cache&exclude=hangs&exclude=nothing",
    200,
    '[+]broken excluded: ok\n[+]cache excluded: ok\n[+]hangs excluded: ok\n[+]well ok\nwarn: some health checks cannot be excluded: no matches for "nothing"\nreadyz check passed\n',
  ],
  ["/readyz/well", 200, "ok"],
  ["/readyz/cache", 500, "internal server error: pods are not listed yet\n"],
  ["/readyz/ping", 404, "404 page not found\n"],
  ["/readyz/well/more", 404, "404 page not found\n"],
  ["/", 404, "404 page not found\n"],
  ["/constructor", 404, "404 page not found\n"],
])("GET %s answers %i", async (path, status, text) => {
  const answer = await fetch((await start({ readyz: checks, checkMilliseconds: 50 })) + path);
  expect([answer.status, await answer.text()]).toEqual([status, text]);
});

test("the health server accepts GET and HEAD only", async () => {
  const url = `${await start()}/healthz`;
  const head = await fetch(url, { method: "HEAD" });
  expect([head.status, await head.text(), head.headers.get("content-length")]).toEqual([200, "", "2"]);
  const post = await fetch(url, { method: "POST", body: "x" });
  expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test("a check can be added later, and a change of its result is logged once", async () => {
  const readyz = new Map<string, Check>();
  let problem: string | undefined = "not yet";
  const url = `${await start({ readyz })}/readyz`;
  expect((await fetch(url)).status).toBe(200);
  readyz.set("leader", () => problem);
  for (const _ of [1, 2]) expect((await fetch(url)).status).toBe(500);
  problem = undefined;
  expect((await fetch(url)).status).toBe(200);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "warn", check: "readyz/leader", problem: "not yet" },
    { level: "info", check: "readyz/leader" },
  ]);
});

test("address 0 switches the health server off", async () => {
  expect(await startHealthServer({ address: "0", healthz: checks, readyz: checks, log })).toBeUndefined();
});

test("an empty host listens on every address", async () => {
  await start({ address: ":0" });
  expect((await fetch(`http://127.0.0.1:${serving?.port}/healthz`)).status).toBe(200);
});

test("an address in use is reported in one sentence", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${(other.address() as { port: number }).port}`;
  await expect(start({ address })).rejects.toThrow(
    `--health-probe-bind-address: can't listen on ${address}: another process listens there`,
  );
  other.close();
});

test("stop lets an answer under way end, and accepts no new request", async () => {
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<undefined>();
  const slow: Check = () => {
    begun.resolve();
    return finish.promise;
  };
  const url = `${await start({ healthz: new Map([["slow", slow]]), checkMilliseconds: 10_000 })}/healthz`;
  const answer = fetch(url);
  await begun.promise;
  const stopped = serving?.stop();
  await expect(fetch(url)).rejects.toThrow();
  finish.resolve(undefined);
  expect(await (await answer).text()).toBe("ok");
  await stopped;
});

test("a URL of slashes takes little more of the process's time than one of letters", async () => {
  const url = await start({});
  const spent = async (path: string) => {
    const begin = process.threadCpuUsage();
    expect((await fetch(`${url}/${path}`)).status).toBe(404);
    const { user, system } = process.threadCpuUsage(begin);
    return (user + system) / 1000;
  };
  // The fastest of some: the first is compiled, and one may collect garbage.
  const fastest = async (path: string) => Math.min(await spent(path), await spent(path), await spent(path));
  const usual = await fastest("a".repeat(15_000));
  expect(await fastest(`a${"/".repeat(15_000)}x`)).toBeLessThan(Math.max(usual, 5) * 8);
});
