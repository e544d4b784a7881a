import { expect, test } from "vitest";
import { controlledBy, controllerOf, type KubeObject, keyOf, keyText, parseKey } from "./object.ts";

const owner: KubeObject = { apiVersion: "example.com/v1", kind: "Owner", metadata: { namespace: "default", name: "it", uid: "u-1" } };

test.each([
  [{ namespace: "default", name: "a" }, "default/a"],
  [{ namespace: "", name: "node-1" }, "node-1"],
])("the key %j is written as %s and parsed again", (key, text) => {
  expect(keyText(key)).toBe(text);
  expect(parseKey(text)).toEqual(key);
});

test("keyOf an object without a namespace is cluster-scoped", () => {
  expect(keyOf(owner)).toEqual({ namespace: "default", name: "it" });
  expect(keyOf({ metadata: { name: "node-1" } })).toEqual({ namespace: "", name: "node-1" });
});

test("controllerOf finds the owner of controlledBy among other owners", () => {
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

test("controlledBy refuses an owner without a uid", () => {
  expect(() => controlledBy({ ...owner, metadata: { namespace: "default", name: "it" } })).toThrow(/Owner default\/it has no uid/);
});
