// Given what the cache has, this is the database.
import { describe, expect, test } from "vitest";
import { cacheOf } from "../cache.fixture.ts";
import { instanceLabels } from "../desired/identity.ts";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import type { PersistentVolumeClaim, Pod } from "../kinds/kubernetes.ts";
import { LeaderLock } from "../patroni/state.ts";
import { pod } from "./instance.fixture.ts";
import { type DatabaseView, instancePods, lastPrimary, observeDatabase } from "./view.ts";

describe("the last primary is known", () => {
  const claims = (...ordinals: number[]) => new Map(ordinals.map((ordinal) => [`data-orders-${ordinal}`, {} as PersistentVolumeClaim]));
  const lock = (annotations: Record<string, string>) =>
    new LeaderLock({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "orders-leader", annotations } });
  const noted = { "sampledb.io/last-primary": "orders-1" };

  test.each<[string, Record<string, string>, string | undefined, number[], number | undefined]>([
    ["as noted when it was stopped", noted, undefined, [0, 1, 2], 1],
    ["as the lock says", { leader: "orders-2" }, undefined, [0, 1, 2], 2],
    ["the lock is newer than a note: it was woken, and failed over since", { ...noted, leader: "orders-2" }, undefined, [0, 1, 2], 2],
    ["the lock was given back", { ...noted, leader: "" }, undefined, [0, 1, 2], 1],
    ["what was told last is newer than a note: it was woken, and failed over since", noted, "orders-2", [0, 1, 2], 2],
    ["as told last", {}, "orders-2", [0, 1, 2], 2],
    ["its claim is gone: the first that is there", noted, undefined, [2, 3], 2],
    ["nobody knows", {}, undefined, [3, 2], 2],
    ["the note is garbage", { "sampledb.io/last-primary": "nobody" }, undefined, [2], 2],
    ["nothing is there", noted, undefined, [], undefined],
    ["beyond what is wanted", { "sampledb.io/last-primary": "orders-8" }, undefined, [0, 8], 8],
  ])("%s", (_, annotations, primaryPodName, ordinals, expected) => {
    const db = { ...sampleDB(), status: primaryPodName === undefined ? {} : { primaryPodName } };
    const observed = { patroni: { lock: lock(annotations) }, claims: claims(...ordinals) } as unknown as DatabaseView;
    expect(lastPrimary(db, observed)).toBe(expected);
  });
});

describe("a Pod that wears the labels of an instance", () => {
  const set = { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "orders", namespace: "shop", uid: "uid-of-set" } };
  const by = (controller?: { kind: string; name: string; uid: string }) =>
    controller ? [{ apiVersion: "apps/v1", controller: true, ...controller }] : [];
  const labelled = (name: string, controller?: { kind: string; name: string; uid: string }) =>
    pod(name, { metadata: { labels: instanceLabels(sampleDB()), ownerReferences: by(controller) } });
  const ours = { kind: "StatefulSet", name: "orders", uid: "uid-of-set" };

  test.each<[string, Pod, boolean, boolean]>([
    ["is one when the StatefulSet controls it", labelled("orders-0", ours), true, true],
    ["is none when nobody controls it", labelled("orders-0"), true, false],
    ["is none when another workload controls it", labelled("orders-0", { ...ours, kind: "ReplicaSet", uid: "other" }), true, false],
    ["is none when a StatefulSet of the name that is gone controlled it", labelled("orders-0", { ...ours, uid: "former" }), true, false],
    ["is none when its name is not an instance's", labelled("stranger", ours), true, false],
    ["is none when it has the name of another database's instance", labelled("orders-2-0", ours), true, false],
    ["is one when its StatefulSet was deleted and left it", labelled("orders-0"), false, true],
    ["is one while its deleted StatefulSet still stands in it", labelled("orders-0", ours), false, true],
    ["is none when another workload controls it and there is no StatefulSet", labelled("orders-0", { ...ours, kind: "Job" }), false, false],
  ])("%s", (_, candidate, hasStatefulSet, isInstance) => {
    const cache = cacheOf(candidate, ...(hasStatefulSet ? [set] : []));
    expect(instancePods(sampleDB(), cache)).toEqual(isInstance ? [candidate] : []);
    expect(observeDatabase(sampleDB(), cache).instances.map(({ podName }) => podName)).toEqual(isInstance ? [candidate.metadata.name] : []);
  });
});
