import { expect, test } from "vitest";
import { apiVersion } from "../../api/version.ts";
import type { PersistentVolumeClaim } from "../kinds/kubernetes.ts";
import type { Restore } from "../kinds/sampledb-io.ts";
import { taken } from "./destination.ts";

const failure = {
  type: "Succeeded",
  status: "False",
  reason: "RestoreLost",
  message: "",
  lastTransitionTime: "2026-05-04T13:00:00Z",
} as const;
const restore = (name: string, second: number, ended = false): Restore => ({
  apiVersion,
  kind: "Restore",
  metadata: { namespace: "shop", name, uid: name, creationTimestamp: `2026-05-04T12:00:0${second}Z` },
  spec: { source: { sampleDBName: "orders" }, target: { type: "Latest" }, destination: { type: "New", sampleDBName: "copy" } },
  ...(ended ? { status: { conditions: [failure] } } : {}),
});
const claim = (name: string, deletionTimestamp?: string): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { namespace: "shop", name, ...(deletionTimestamp ? { deletionTimestamp } : {}) },
});
const free = { restore: restore("back", 5), destination: undefined, claims: [], rivals: [] };
const going = claim("data-copy-0", "2026-05-04T12:00:00Z");

test("a name of which nothing is there is free", () => {
  expect(taken(free)).toBeUndefined();
  expect(taken({ ...free, rivals: [restore("earlier", 1, true), restore("later", 6)] })).toBeUndefined();
});

test("of two Restores that were made in the same second, the first by name has the destination", () => {
  expect(taken({ ...free, rivals: [restore("a", 5)] })).toMatchObject({ kind: "failed", message: "Restore a makes SampleDB copy already" });
  expect(taken({ ...free, rivals: [restore("c", 5)] })).toBeUndefined();
});

test("a claim that an earlier SampleDB has left is in the way", () => {
  expect(taken({ ...free, claims: [going, claim("data-copy-1")] })).toMatchObject({
    kind: "failed",
    reason: "DestinationTaken",
    message: expect.stringMatching(/^claim data-copy-1 /),
  });
});

test("a claim that is being deleted, as of a Restore that has just failed, is waited for", () => {
  expect(taken({ ...free, claims: [going] })).toEqual({
    kind: "waiting",
    reason: "DestinationTaken",
    message: "claim data-copy-0 of an earlier SampleDB copy is being deleted: it begins when that is gone",
  });
});
