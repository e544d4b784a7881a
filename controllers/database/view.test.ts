// Given these objects in the cache, this view of the database.
import { describe, expect, test } from "vitest";
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
  const set = { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "orders", namespace: "shop", uid: "uid-of-set" } };
  const by = (controller?: { kind: string; name: string; uid: string }) =>
    controller ? [{ apiVersion: "apps/v1", controller: true, ...controller }] : [];
  const labelled = (name: string, controller?: { kind: string; name: string; uid: string }) =>
    pod(name, { metadata: { labels: instanceLabels(sampleDB()), ownerReferences: by(controller) } });
  const ours = { kind: "StatefulSet", name: "orders", uid: "uid-of-set" };

  test.each<[string, Pod, boolean, boolean]>([
    ["is an instance when the StatefulSet controls it", labelled("orders-0", ours), true, true],
    ["is no instance when nothing controls it", labelled("orders-0"), true, false],
    ["is no instance when another workload controls it", labelled("orders-0", { ...ours, kind: "ReplicaSet", uid: "other" }), true, false],
    ["is no instance when an earlier StatefulSet of the name controlled it", labelled("orders-0", { ...ours, uid: "former" }), true, false],
    ["is no instance when its name is not one of an instance", labelled("stranger", ours), true, false],
    ["is no instance when it has the name of another database's instance", labelled("orders-2-0", ours), true, false],
    ["is an instance when its StatefulSet was deleted and left it", labelled("orders-0"), false, true],
    ["is an instance while its owner reference names the deleted StatefulSet", labelled("orders-0", ours), false, true],
    [
      "is no instance when another workload controls it and there is no StatefulSet",
      labelled("orders-0", { ...ours, kind: "Job" }),
      false,
      false,
    ],
  ])("%s", (_, candidate, hasStatefulSet, isInstance) => {
    const cache = cacheOf(candidate, ...(hasStatefulSet ? [set] : []));
    expect(instancePods(sampleDB(), cache)).toEqual(isInstance ? [candidate] : []);
    expect(observeDatabase(sampleDB(), cache).instances.map(({ podName }) => podName)).toEqual(isInstance ? [candidate.metadata.name] : []);
  });
});
