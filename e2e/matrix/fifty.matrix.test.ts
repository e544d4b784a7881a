// Fifty databases at once, on replayed Pods, with the operator killed in the middle: each object is made once.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jobs } from "../../controllers/kinds.ts";
import { type SampleDB, sampledbs } from "../../controllers/resources.ts";
import { eventually } from "../../tools/eventually.ts";
import { projectDirectory } from "../cluster/plan.ts";
import { sampleDB, whyNotReady } from "../database/database.ts";
import { OperatorProcess } from "../replay/operator-process.ts";
import { ReplayedPlane } from "../replay/replayed-plane.ts";

const count = 50;
const replicas = 2;
const log = join(projectDirectory, "build/logs/matrix-operator.log");
let replayed: ReplayedPlane;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  replayed = await ReplayedPlane.start();
  const { plane } = replayed;
  await plane.kubectl("apply", "--server-side", "--kustomize", join(projectDirectory, "config/crd"));
  await plane.kubectl("create", "namespace", "sampledb-system");
  operator = await OperatorProcess.start(plane.kubeconfig, log);
});

afterAll(async () => {
  await operator?.kill("SIGTERM");
  await replayed.stop();
});

async function ready(): Promise<number> {
  const { items } = await replayed.client.list(sampledbs);
  return items.filter((db) => whyNotReady(db) === undefined).length;
}

/** How many objects of each kind were created in all, by the API server's own count. */
async function created(): Promise<Record<string, number>> {
  const metrics = await replayed.plane.kubectl("get", "--raw", "/metrics");
  const counts: Record<string, number> = {};
  for (const [, labels = "", value = ""] of metrics.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
    if (label("code") !== "201" || label("subresource") !== "") continue;
    counts[label("resource")] = (counts[label("resource")] ?? 0) + Number(value);
  }
  return counts;
}

test("all converge, and nothing is made twice", { timeout: 900_000 }, async () => {
  const { client, plane } = replayed;
  const before = await created();
  const make = async (index: number) => {
    const manifest = sampleDB({ name: `db-${index}`, replicas });
    await client.create(sampledbs, { ...manifest, metadata: { ...manifest.metadata, namespace: "default" } } as SampleDB);
  };
  await Promise.all(Array.from({ length: count }, (_, index) => make(index)));
  await eventually("some are Ready, and others are not", 300_000, async () => (await ready()) >= count / 5);
  await operator?.kill("SIGKILL");
  operator = await OperatorProcess.start(plane.kubeconfig, log);
  await eventually("all are Ready", 600_000, async () => (await ready()) === count);
  await eventually("no Job is left behind", 60_000, async () => (await client.list(jobs)).items.length === 0);

  const after = await created();
  const made = (resource: string) => (after[resource] ?? 0) - (before[resource] ?? 0);
  const kinds = {
    statefulsets: 1,
    services: 3,
    poddisruptionbudgets: 1,
    roles: 1,
    rolebindings: 1,
    jobs: 1,
    persistentvolumeclaims: replicas,
  };
  const each = Object.fromEntries(Object.keys(kinds).map((resource) => [resource, made(resource) / count]));
  expect(each).toEqual(kinds);
  expect(made("pods")).toBe(count * (replicas + 1)); // and one of the init Job
  expect(made("secrets")).toBe(count * 5); // four beside the database, and its authority
  expect(made("configmaps")).toBe(count * 5);
});
