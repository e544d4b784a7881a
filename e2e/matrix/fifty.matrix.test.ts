// Fifty databases at once, on kwok's nodes with Patroni replayed, with the operator killed in the middle: each object is made once.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { managedBy, selectorOf } from "../../controllers/desired/identity.ts";
import {
  configMaps,
  jobs,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  roleBindings,
  roles,
  secrets,
  services,
  statefulSets,
} from "../../controllers/kinds/kubernetes.ts";
import { type SampleDB, sampledbs } from "../../controllers/kinds/sampledb-io.ts";
import type { Resource } from "../../runtime/kube/resource.ts";
import { eventually, eventuallySucceeds } from "../../tools/eventually.ts";
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

/** What each database has in the end: of Secrets four beside it, and its authority. */
const kept: readonly (readonly [Resource, number])[] = [
  [statefulSets, 1],
  [services, 3],
  [podDisruptionBudgets, 1],
  [roles, 1],
  [roleBindings, 1],
  [persistentVolumeClaims, replicas],
  [pods, replicas],
  [configMaps, 5],
  [secrets, 5],
];

/** Of the operator's, in all namespaces. */
async function present(resource: Resource): Promise<number> {
  return (await replayed.client.list(resource, { labelSelector: selectorOf(managedBy) })).items.length;
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
  await eventually("no Job is left behind", 60_000, async () => (await present(jobs)) === 0);

  await eventuallySucceeds("each has what it is to have, and the Pod of its Job is gone", 60_000, async () => {
    const there = await Promise.all(kept.map(async ([resource]) => [resource.plural, await present(resource)]));
    expect(there).toEqual(kept.map(([resource, each]) => [resource.plural, count * each]));
  });
  const after = await created();
  const made = (plural: string) => (after[plural] ?? 0) - (before[plural] ?? 0);
  // Each has an init Job as well, with its Pod. A request that the kill cut off may have made something and is not counted as such.
  const most = { ...Object.fromEntries(kept.map(([{ plural }, each]) => [plural, each])), jobs: 1, pods: replicas + 1 };
  const twice = Object.entries(most).filter(([plural, each]) => made(plural) === 0 || made(plural) > count * each);
  expect(twice).toEqual([]);
});
