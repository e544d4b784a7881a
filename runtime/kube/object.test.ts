import { expect, test } from "vitest";
import { controlledBy, controllerOf, type KubeObject, keyOf, keyText, parseKey } from "./object.ts";

const owner: KubeObject = { apiVersion: "example.com/v1", kind: "Owner", metadata: { namespace: "default", name: "it", uid: "u-1" } };

test.each([
  [{ namespace: "default", name: "a" }, "default/a"],
  [{ namespace: "", name: "node-1" }, "node-1"],
])("%j is written as %s and read again", (key, text) => {
  expect(keyText(key)).toBe(text);
  expect(parseKey(text)).toEqual(key);
});

test("the key of an object; without a namespace it belongs to the cluster", () => {
  expect(keyOf(owner)).toEqual({ namespace: "default", name: "it" });
  expect(keyOf({ metadata: { name: "node-1" } })).toEqual({ namespace: "", name: "node-1" });
});

test("what an owner controls names it, and can be traced back to it among other owners", () => {
  const other = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "u-2" };
  const reference = controlledBy(owner);
  expect(reference).toEqual({
    apiVersion: "example.com/v1",
    kind: "Owner",
    name: "it",
    uid: "u-1",
    controller: true,
    blockOwnerDeletion: true,
  });
  expect(controllerOf({ ...owner, metadata: { name: "child", ownerReferences: [other, reference] } })).toBe(reference);
  expect(controllerOf({ ...owner, metadata: { name: "child", ownerReferences: [other] } })).toBeUndefined();
  expect(controllerOf({ ...owner, metadata: { name: "orphan" } })).toBeUndefined();
});

test("nothing can belong to an object that the API server has not made", () => {
  expect(() => controlledBy({ ...owner, metadata: { namespace: "default", name: "it" } })).toThrow(/Owner default\/it has no uid/);
});
