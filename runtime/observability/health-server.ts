// Serves /healthz and /readyz, in the format of controller-runtime and the API server.
import { createServer } from "node:http";
import { type Clock, systemClock } from "../clock.ts";
import { parseAddress } from "../serving/address.ts";
import { type Answer, answering, listen, type Serving, serverLimits } from "../serving/serving.ts";
import type { Log } from "./log.ts";

/** Returns the problem, or undefined. Anyone can read it: it must contain no names of users' objects and no secrets. */
export type Check = () => string | undefined | Promise<string | undefined>;

/** Checks by name; one that is added later counts from then on. */
export type Checks = ReadonlyMap<string, Check>;

export interface HealthServerOptions {
  /** For example `:8081`; `0` for no server. */
  readonly address: string;
  readonly flag?: string;
  /** When one fails, the kubelet restarts the process: only for problems that a restart solves. */
  readonly healthz: Checks;
  /** When one fails, the process should get no requests. */
  readonly readyz: Checks;
  /** A check that takes longer counts as failed. */
  readonly checkMilliseconds?: number;
  readonly log: Log;
  readonly clock?: Clock;
}

/** The kubelet's default timeout is a second: a check has to end before. */
const defaultCheckMilliseconds = 800;

interface Result {
  readonly name: string;
  readonly excluded: boolean;
  readonly problem: string | undefined;
}

/** Undefined when the address is `0`. */
export async function startHealthServer(options: HealthServerOptions): Promise<Serving | undefined> {
  const { flag = "--health-probe-bind-address", healthz, readyz, log, clock = systemClock } = options;
  const limit = options.checkMilliseconds ?? defaultCheckMilliseconds;
  const address = parseAddress(flag, options.address);
  if (address === undefined) return undefined;
  const endpoints: Readonly<Record<string, Checks>> = { healthz, readyz };
  const told = new Map<string, string>();
  const handler = answering(log, async (_, { pathname, searchParams }) => {
    const [endpoint = "", name, ...rest] = pathSegments(pathname);
    const checks = Object.hasOwn(endpoints, endpoint) && rest.length === 0 ? endpoints[endpoint] : undefined;
    if (checks === undefined) return notFound;
    if (name !== undefined) return await answerOne(name, checks, limit, clock);
    const excluded = new Set(searchParams.getAll("exclude"));
    const results = await runAll(checks, excluded, limit, clock);
    if (excluded.size === 0) tellChange(endpoint, results, told, log);
    const unknown = [...excluded].filter((check) => !results.some((result) => result.name === check));
    return report(endpoint, results, unknown, searchParams.has("verbose"));
  });
  return await listen(createServer(serverLimits, handler), { address, flag, log, clock });
}

/** Without empty ones at the end. Not by a pattern: one for slashes at the end begins anew at each slash before. */
function pathSegments(pathname: string): string[] {
  const segments = pathname.split("/").slice(1);
  return segments.slice(0, segments.findLastIndex((segment) => segment !== "") + 1);
}

const notFound: Answer = { status: 404, text: "404 page not found\n" };
const ping: Checks = new Map([["ping", () => undefined]]);

async function answerOne(name: string, checks: Checks, limit: number, clock: Clock): Promise<Answer> {
  const check = (checks.size === 0 ? ping : checks).get(name);
  if (check === undefined) return notFound;
  const problem = await runCheck(check, limit, clock);
  return problem === undefined ? { status: 200, text: "ok" } : { status: 500, text: `internal server error: ${problem}\n` };
}

async function runAll(checks: Checks, excluded: ReadonlySet<string>, limit: number, clock: Clock): Promise<Result[]> {
  const all = [...(checks.size === 0 ? ping : checks)].sort(([a], [b]) => (a < b ? -1 : 1));
  return await Promise.all(
    all.map(async ([name, check]) =>
      excluded.has(name)
        ? { name, excluded: true, problem: undefined }
        : { name, excluded: false, problem: await runCheck(check, limit, clock) },
    ),
  );
}

async function runCheck(check: Check, limit: number, clock: Clock): Promise<string | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const cancel = clock.schedule(limit, () => resolve(`no answer within ${limit / 1000} s`));
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    return `it threw ${error instanceof Error ? error.name : typeof error}`; // anyone can read this, so without the message
  } finally {
    cancel();
  }
}

function report(endpoint: string, results: readonly Result[], unknown: readonly string[], verbose: boolean): Answer {
  const failed = results.some(({ problem }) => problem !== undefined);
  if (!failed && !verbose) return { status: 200, text: "ok" };
  const lines = results.map(({ name, excluded, problem }) => {
    if (excluded) return `[+]${name} excluded: ok`;
    return problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`;
  });
  if (unknown.length > 0) {
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name)).join(",")}`);
  }
  lines.push(`${endpoint} check ${failed ? "failed" : "passed"}`);
  return { status: failed ? 500 : 200, text: `${lines.join("\n")}\n` };
}

/** Logs when a check begins to fail, fails for another reason or recovers, and not at every probe. */
function tellChange(endpoint: string, results: readonly Result[], told: Map<string, string>, log: Log): void {
  for (const { name, problem } of results) {
    const check = `${endpoint}/${name}`;
    const before = told.get(check);
    if (problem === before) continue;
    if (problem === undefined) {
      told.delete(check);
      log.info({ check }, "a health check is well again");
    } else {
      told.set(check, problem);
      log.warn({ check, problem }, "a health check fails");
    }
  }
}
