// Given what the cache has, this is the database.
import { describe, expect, test } from "vitest";
import { sampleDB } from "../desired/sampledb.fixture.ts";
import type { PersistentVolumeClaim } from "../kinds/kubernetes.ts";
import { LeaderLock } from "../patroni/state.ts";
import { type DatabaseView, lastPrimary } from "./view.ts";

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
