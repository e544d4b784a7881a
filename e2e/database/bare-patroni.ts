// The three-Pod PostgreSQL of bare-patroni.yaml: applying it, and looking at it from inside of the cluster.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../tools/eventually.ts";
import type { Kubectl } from "../cluster/kubectl.ts";
import { isReady } from "../cluster/status.ts";

export const instances = ["bare-0", "bare-1", "bare-2"];

export async function applyBarePatroni(kubectl: Kubectl, image: string): Promise<void> {
  const manifest = readFileSync(join(import.meta.dirname, "bare-patroni.yaml"), "utf8")
    .replaceAll("${POSTGRES_IMAGE}", image)
    .replaceAll(/\$\{[A-Z]+_PASSWORD\}/g, () => randomBytes(18).toString("base64url"));
  await kubectl.apply(manifest);
}

export async function allReady(kubectl: Kubectl): Promise<void> {
  await eventually("three instances are ready", 180_000, async () => {
    const pods = await kubectl.list("pods", "--selector=app=bare");
    return pods.filter(isReady).length === instances.length;
  });
}

/** The Pods that carry the label of the primary; one, unless something is wrong or under way. */
export async function primaries(kubectl: Kubectl): Promise<string[]> {
  const pods = await kubectl.list("pods", "--selector=app=bare,role=primary");
  return pods.map((pod) => pod["metadata"].name as string);
}

/** Runs a statement through a Service, from one of the Pods. */
export async function query(kubectl: Kubectl, from: string, service: string, statement: string): Promise<string> {
  const connection = `host=${service} user=postgres dbname=postgres connect_timeout=3`;
  const psql = `PGPASSWORD=$PATRONI_SUPERUSER_PASSWORD psql '${connection}' --no-align --tuples-only --quiet --set=ON_ERROR_STOP=1`;
  return (await kubectl.exec(from, `${psql} <<'SQL'\n${statement}\nSQL`)).trim();
}

/** When the server behind the read-write Service was started: another one, or the same one restarted, has another time. */
async function serverStart(kubectl: Kubectl, from: string): Promise<string> {
  return query(kubectl, from, "bare", "SELECT pg_postmaster_start_time()");
}

/**
 * Kills the primary's Pod without a warning and repeats the write until a server other than the killed one has taken it:
 * the old one may go on answering for a moment after its Pod is gone from the API.
 */
export async function killPrimary(kubectl: Kubectl, primary: string, from: string, write: string): Promise<void> {
  const before = await serverStart(kubectl, from);
  await kubectl.run("delete", "pod", primary, "--grace-period=0", "--force");
  await eventually("another server takes writes", 120_000, async () => {
    const answer = await query(kubectl, from, "bare", `${write}; SELECT pg_postmaster_start_time()`).catch(() => before);
    return answer !== before;
  });
}
