// The memory of desired states that the API server stores in another form.
import { expect, test } from "vitest";
import { BoundedMap } from "../bounded-map.ts";
import type { KubeObject, ObjectMeta } from "../kube/object.ts";
import { digest, Settled } from "./settled.ts";

function object(metadata: Partial<ObjectMeta> & { managedFields?: unknown } = {}, fields: object = {}) {
  return {
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name: "x", uid: "1", resourceVersion: "1", ...metadata },
    spec: { a: 1 },
    ...fields,
  };
}

test.each([
  ["the same", object(), "wanted", true],
  ["the same, in another order", Object.fromEntries(Object.entries(object()).reverse()) as unknown as KubeObject, "wanted", true],
  ["a version with another status", object({ resourceVersion: "2" }, { status: { ready: true } }), "wanted", true],
  ["another generation", object({ generation: 7 }), "wanted", true],
  ["with its managed fields", object({ managedFields: [{}] }), "wanted", true],
  ["something else is wanted", object(), "other", false],
  ["another writer changed it", object({}, { spec: { a: 2 } }), "wanted", false],
  ["another writer labelled it", object({ labels: { a: "b" } }), "wanted", false],
  ["another object of the same name", object({ uid: "2" }), "wanted", false],
])("whether an object is settled: %s", (_, live, desired, expected) => {
  const settled = new Settled();
  settled.remember("object", object(), "wanted");
  expect(settled.is("object", live, desired)).toBe(expected);
});

test("a status is remembered apart from its object", () => {
  const settled = new Settled();
  settled.remember("object", object(), "a");
  settled.remember("status", object({}, { status: { ready: true } }), "b");
  expect(settled.is("object", object(), "a")).toBe(true);
  expect(settled.is("status", object({}, { status: { ready: true }, spec: { a: 2 } }), "b")).toBe(true);
  expect(settled.is("status", object({}, { status: { ready: false } }), "b")).toBe(false);
  expect(settled.is("status", object(), "b")).toBe(false);
});

test("a digest depends on the content, not on the order of fields or on undefined fields", () => {
  expect(digest({ b: { d: 1, c: [2, 3] }, a: undefined })).toBe(digest({ b: { c: [2, 3], d: 1 } }));
  expect(digest({ a: [2, 3] })).not.toBe(digest({ a: [3, 2] }));
  expect(digest({ a: null })).not.toBe(digest({}));
  expect(digest(undefined)).toHaveLength(22);
});

test("a bounded map drops the entry that was set longest ago", () => {
  const map = new BoundedMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  map.set("c", 4);
  expect([map.get("a"), map.get("b"), map.get("c"), map.size]).toEqual([3, undefined, 4, 2]);
  map.delete("a");
  map.delete("a");
  expect([map.get("a"), map.size]).toEqual([undefined, 1]);
});
