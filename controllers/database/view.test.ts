// Given these objects in the cache, this view of the database.
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../runtime/kube/object.ts";
import { cacheOf } from "../cache.fixture.ts";
import { instanceLabels } from "../desired/identity.ts";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import type { PersistentVolumeClaim, Pod } from "../kinds/kubernetes.ts";
import { LeaderLock } from "../patroni/state.ts";
import { pod } from "./instance.fixture.ts";
import { type DatabaseView, instancePods, lastPrimary, observeDatabase } from "./view.ts";

describe("the last primary", () => {
  const claims = (...ordinals: number[]) => new Map(ordinals.map((ordinal) => [`data-orders-${ordinal}`, {} as PersistentVolumeClaim]));
  const lock = (annotations: Record<string, string>) =>
    new LeaderLock({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "orders-leader", annotations } });
  const noted = { "sampledb.io/last-primary": "orders-1" };

  test.each<[string, Record<string, string>, string | undefined, number[], number | undefined]>([
    ["is the one in the operator's note", noted, undefined, [0, 1, 2], 1],
    ["is the holder of the lock", { leader: "orders-2" }, undefined, [0, 1, 2], 2],
    [
      "is the holder of the lock, not the one in the note: the database woke, and failed over since",
      { ...noted, leader: "orders-2" },
      undefined,
      [0, 1, 2],
      2,
    ],
    ["is the one in the note when the lock was released", { ...noted, leader: "" }, undefined, [0, 1, 2], 1],
    ["is the one in the status, not the one in the note: the database woke, and failed over since", noted, "orders-2", [0, 1, 2], 2],
    ["is the one in the status when there is no note", {}, "orders-2", [0, 1, 2], 2],
    ["is the first instance with a claim when the noted one has none", noted, undefined, [2, 3], 2],
    ["is the first instance with a claim when nothing is known", {}, undefined, [3, 2], 2],
    ["is the first instance with a claim when the note is garbage", { "sampledb.io/last-primary": "nobody" }, undefined, [2], 2],
    ["is undefined when there is no claim", noted, undefined, [], undefined],
    ["may have an ordinal beyond replicas", { "sampledb.io/last-primary": "orders-8" }, undefined, [0, 8], 8],
  ])("%s", (_, annotations, primaryPodName, ordinals, expected) => {
    const db = { ...sampleDB(), status: primaryPodName === undefined ? {} : { primaryPodName } };
    const observed = { patroni: { lock: lock(annotations) }, claims: claims(...ordinals) } as unknown as DatabaseView;
    expect(lastPrimary(db, observed)).toBe(expected);
  });
});

describe("a Pod with the labels of an instance", () => {
  const made = (second: number) => `2026-01-01T00:00:0${second}Z`;
  const set = (more: object = {}) => {
    const metadata = { name: "orders", namespace: "shop", uid: "uid-of-set", creationTimestamp: made(5), ...more };
    return { apiVersion: "apps/v1", kind: "StatefulSet", metadata };
  };
  const ours = { apiVersion: "apps/v1", kind: "StatefulSet", name: "orders", uid: "uid-of-set", controller: true };
  const labelled = (name: string, controller?: typeof ours, second = 7) =>
    pod(name, {
      metadata: { labels: instanceLabels(sampleDB()), ownerReferences: controller ? [controller] : [], creationTimestamp: made(second) },
    });

  test.each<[string, Pod, KubeObject | undefined, boolean]>([
    ["is an instance when the StatefulSet controls it", labelled("orders-0", ours), set(), true],
    ["is no instance when nothing controls it", labelled("orders-0"), set(), false],
    ["is no instance when another workload controls it", labelled("orders-0", { ...ours, kind: "ReplicaSet" }), set(), false],
    ["is no instance when another StatefulSet controls it", labelled("orders-0", { ...ours, name: "others" }), set(), false],
    ["is no instance when its name is not one of an instance", labelled("stranger", ours), set(), false],
    ["is no instance when it has the name of another database's instance", labelled("orders-2-0", ours), set(), false],
    [
      "is an instance while it stops with an earlier StatefulSet of the name",
      labelled("orders-0", { ...ours, uid: "former" }),
      set(),
      true,
    ],
    ["is an instance when its StatefulSet was deleted and left it", labelled("orders-0"), undefined, true],
    [
      "is an instance while its StatefulSet is being deleted and has left it",
      labelled("orders-0"),
      set({ deletionTimestamp: made(9) }),
      true,
    ],
    ["is an instance until the StatefulSet that was made anew has adopted it", labelled("orders-0", undefined, 3), set(), true],
    ["is an instance while its owner reference names the deleted StatefulSet", labelled("orders-0", ours), undefined, true],
    ["is no instance when a Job controls it and there is no StatefulSet", labelled("orders-0", { ...ours, kind: "Job" }), undefined, false],
  ])("%s", (_, candidate, live, isInstance) => {
    const cache = cacheOf(candidate, ...(live ? [live] : []));
    expect(instancePods(sampleDB(), cache)).toEqual(isInstance ? [candidate] : []);
    expect(observeDatabase(sampleDB(), cache).instances.map(({ podName }) => podName)).toEqual(isInstance ? [candidate.metadata.name] : []);
  });
});
